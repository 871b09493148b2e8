/**
 * Answers the reader protocol (PROTOCOL.md) on standard input and output, under deno, with the reader of replay.js.
 * It ends with status 0 when its input ends, and with status 2 and one line on standard error at a malformed frame.
 */

import { checkRanges, checkReads, decode, parseBlob, remapDescriptor, remapReads, splitDescriptor } from "./replay.js";
import { trace } from "./trace.js";

const PROTOCOL_VERSION = 1;
const MAX_FRAME = 2 ** 28;
const HELLO = 1;
const STREAMS = 2;
const DESCRIPTORS = 3;
const CALLS = 4;
const HELLO_JSON = JSON.stringify({ name: "replay-js", answers: ["streams", "descriptors", "calls"] });
const TWO_32 = 2 ** 32;

/** The numbers of PROTOCOL.md. @type {Record<string, number>} */
const REASONS = {
  "bad-length": 1,
  "bad-magic": 2,
  "bad-version": 3,
  "unknown-op": 4,
  "wrong-context": 5,
  "truncated": 6,
  "too-many": 7,
  "zero-id": 8,
  "bad-enum": 9,
  "bad-flag": 10,
  "non-finite": 11,
  "unsafe-integer": 12,
  "data-range": 13,
  "write-size": 15,
  "read-alignment": 16,
  "read-size": 17,
  "read-window": 18,
  "unknown-id": 19,
  "open-pass": 20,
  "not-a-buffer": 21,
  "out-of-range": 22,
  "too-many-workgroups": 23,
  "no-map-read": 24,
  "past-window": 25,
  "bad-descriptor": 26,
  "wrong-kind": 27,
  "threw": 28,
};

/** A request that is not what PROTOCOL.md says. */
class Malformed extends Error {}

/** Takes a request's payload apart; never past its end. */
class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
  }

  u32() {
    const at = this.at;
    if (at + 4 > this.bytes.length) throw new Malformed("the frame ends inside a number");
    this.at = at + 4;
    return this.view.getUint32(at, true);
  }

  block() {
    const length = this.u32();
    const end = this.at + length;
    if (end > this.bytes.length) throw new Malformed("the frame ends inside a byte string");
    const block = this.bytes.subarray(this.at, end);
    this.at = end;
    return block;
  }

  end() {
    if (this.at !== this.bytes.length) throw new Malformed("bytes are left over at the end of the frame");
  }
}

const UTF8 = new TextEncoder();

/** A growing answer frame, used again for each. */
class Writer {
  constructor() {
    this.bytes = new Uint8Array(1 << 20);
    this.view = new DataView(this.bytes.buffer);
    this.at = 0;
  }

  /** @param {number} more */
  reserve(more) {
    if (this.at + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.bytes.length, this.at + more));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  /** @param {number} value */
  u32(value) {
    this.reserve(4);
    this.view.setUint32(this.at, value, true);
    this.at += 4;
  }

  /** @param {number} a @param {number} b @param {string} reason */
  refusal(a, b, reason) {
    this.u32(1);
    this.u32(a);
    this.u32(b);
    this.u32(REASONS[reason]);
  }

  /** A count and the words. @param {Uint32Array} words */
  words(words) {
    this.u32(words.length);
    this.raw(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
  }

  /** A count and the values. @param {number[]} values */
  list(values) {
    const count = values.length;
    this.reserve(4 + 4 * count);
    const { view } = this;
    let at = this.at;
    view.setUint32(at, count, true);
    for (let i = 0; i < count; i++) view.setUint32(at += 4, values[i], true);
    this.at = at + 4;
  }

  /** @param {Uint8Array} bytes */
  raw(bytes) {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** @param {Uint8Array} bytes */
  block(bytes) {
    this.u32(bytes.length);
    this.raw(bytes);
  }

  /** UTF-8. Most pieces are short and ASCII. @param {string} piece */
  text(piece) {
    const length = piece.length;
    this.reserve(3 * length);
    const { bytes, at } = this;
    for (let i = 0; i < length; i++) {
      const unit = piece.charCodeAt(i);
      if (unit > 0x7f) {
        this.at = at + UTF8.encodeInto(piece, bytes.subarray(at)).written;
        return;
      }
      bytes[at + i] = unit;
    }
    this.at = at + length;
  }

  /** Leaves room for a length; `close` fills it in. */
  open() {
    this.u32(0);
    return this.at;
  }

  /** @param {number} start what `open` gave */
  close(start) {
    this.view.setUint32(start - 4, this.at - start, true);
  }
}

/**
 * A hash table from u32 to a row of u32s, used again for each item: a Map made for every stream would cost more than
 * the decoding. A slot is taken when its stamp is that of the current item, so that nothing is cleared in between.
 */
class IdTable {
  /** @param {number} width words of a row */
  constructor(width) {
    this.width = width;
    this.stamp = 0;
    this.bits = 6; // there are 2^bits slots
    this.stamps = new Uint32Array(0);
    this.keys = this.stamps;
    this.rows = this.stamps;
    this.resize(0);
  }

  /** Empties the table and gives it at least twice as many slots as rows. @param {number} rows */
  resize(rows) {
    while (2 * rows > 2 ** this.bits) this.bits++;
    const slots = 2 ** this.bits;
    this.stamps = new Uint32Array(slots);
    this.keys = new Uint32Array(slots);
    this.rows = new Uint32Array(slots * this.width);
    this.stamp = 0;
  }

  /** Reads a count and that many (key, row) pairs. @param {Reader} from */
  load(from) {
    const count = from.u32();
    if (count * 4 * (1 + this.width) > from.bytes.length - from.at) throw new Malformed("the frame ends inside a list");
    if (2 * count > this.keys.length || this.stamp === TWO_32 - 1) this.resize(count);
    this.stamp++;
    for (let i = 0; i < count; i++) this.add(from);
  }

  /** @param {Reader} from */
  add(from) {
    const id = from.u32();
    const slot = this.slot(id);
    if (this.stamps[slot] === this.stamp) throw new Malformed(`id ${id} is listed twice`);
    this.stamps[slot] = this.stamp;
    this.keys[slot] = id;
    for (let i = 0; i < this.width; i++) this.rows[slot * this.width + i] = from.u32();
  }

  /** The slot that holds the id, or the free one where it would go. @param {number} id */
  slot(id) {
    let slot = Math.imul(id, 0x9e3779b1) >>> (32 - this.bits);
    const mask = this.keys.length - 1;
    while (this.stamps[slot] === this.stamp && this.keys[slot] !== id) slot = (slot + 1) & mask;
    return slot;
  }

  /** Where the id's row starts in `rows`, or -1. @param {number} id */
  find(id) {
    const slot = this.slot(id);
    return this.stamps[slot] === this.stamp ? slot * this.width : -1;
  }
}

const hosts = new IdTable(1); // host
const buffers = new IdTable(3); // usage, size low, size high

/** @param {number} id */
function hostOf(id) {
  const row = hosts.find(id);
  return row < 0 ? undefined : hosts.rows[row];
}

/** @param {number} id */
function sizeOf(id) {
  const row = buffers.find(id);
  return row < 0 ? undefined : sizeAt(row);
}

/** A u64, a bigint only where a Number would not hold it. @param {number} row */
function sizeAt(row) {
  const low = buffers.rows[row + 1];
  const high = buffers.rows[row + 2];
  return high < 0x200000 ? high * TWO_32 + low : BigInt(high) * 0x100000000n + BigInt(low);
}

/** @param {number} id */
function bufferOf(id) {
  const row = buffers.find(id);
  return row < 0 ? undefined : { usage: buffers.rows[row], size: sizeAt(row) };
}

/** @param {Reader} from @param {Writer} to */
function answerStream(from, to) {
  const blob = parseBlob(from.block());
  hosts.load(from);
  buffers.load(from);
  const bound = from.u32();
  const window = from.u32();
  const start = to.open();
  writeStream(to, blob, bound, window);
  to.close(start);
}

/** @param {Writer} to @param {ReturnType<typeof parseBlob>} blob @param {number} bound @param {number} window */
function writeStream(to, blob, bound, window) {
  if (blob.reason !== null) {
    to.u32(1);
    return to.u32(REASONS[blob.reason]);
  }
  to.u32(0);
  const { words, data } = blob;
  writeDecoded(to, decode(words, data.length));
  // Decode has left the words as they are and its answer is written, so that they are a fresh copy.
  const { starts, refusal, reads } = remapReads(words, data.length, hostOf);
  if (refusal !== null) return to.refusal(refusal.word, refusal.op, refusal.reason);
  to.u32(0);
  to.words(words);
  writeReads(to, reads);
  writeRanges(to, checkRanges(words, starts, sizeOf, bound));
  writeReadCheck(to, checkReads(reads, bufferOf, window));
}

/** @param {Writer} to @param {import("./replay.js").Decoded} decoded */
function writeDecoded(to, { starts, refusal }) {
  if (refusal !== null) return to.refusal(refusal.word, refusal.op, refusal.reason);
  to.u32(0);
  to.list(starts);
}

/** @param {Writer} to @param {import("./replay.js").Read[]} reads */
function writeReads(to, reads) {
  to.u32(reads.length);
  for (const { id, offset, size, windowOffset } of reads) {
    to.u32(id);
    to.u32(offset % TWO_32);
    to.u32(Math.floor(offset / TWO_32));
    to.u32(size);
    to.u32(windowOffset);
  }
}

/** @param {Writer} to @param {ReturnType<typeof checkRanges>} refusal */
function writeRanges(to, refusal) {
  if (refusal === null) return to.u32(0);
  to.refusal(refusal.command, refusal.op, refusal.reason);
}

/** @param {Writer} to @param {ReturnType<typeof checkReads>} refusal */
function writeReadCheck(to, refusal) {
  if (refusal === null) return to.u32(0);
  to.u32(1);
  to.u32(refusal.read);
  to.u32(REASONS[refusal.reason]);
}

/** @param {Reader} from @param {Writer} to */
function answerDescriptor(from, to) {
  const bytes = from.block();
  hosts.load(from);
  const start = to.open();
  writeDescriptor(to, bytes);
  to.close(start);
}

/** @param {Writer} to @param {Uint8Array} bytes */
function writeDescriptor(to, bytes) {
  const parts = splitDescriptor(bytes);
  if (parts.reason !== null) {
    to.u32(1);
    return to.u32(REASONS[parts.reason]);
  }
  to.u32(0);
  to.list(parts.refs);
  to.block(parts.body);
  const rewritten = bytes.slice();
  const refusal = remapDescriptor(rewritten, hostOf);
  if (refusal === null) {
    to.u32(0);
    return to.block(rewritten);
  }
  to.u32(1);
  to.u32(REASONS[refusal.reason]);
  to.u32(refusal.index);
}

/** @param {Reader} from @param {Writer} to */
function answerCalls(from, to) {
  const rows = [];
  for (let left = from.u32(); left > 0; left--) {
    rows.push({ id: from.u32(), kind: from.u32(), descriptor: from.block() });
  }
  const start = to.open();
  trace(to, rows, from.block());
  to.close(start);
}

/** @param {Reader} from @param {Writer} to @param {(from: Reader, to: Writer) => void} answer */
function answerItems(from, to, answer) {
  const count = from.u32();
  to.u32(count);
  for (let i = 0; i < count; i++) answer(from, to);
}

/** Reads standard input, frame by frame. */
class Input {
  constructor() {
    this.buffer = new Uint8Array(1 << 20);
    this.start = 0;
    this.end = 0;
  }

  /** Waits until `count` bytes are there; false when the input ends before. @param {number} count */
  fill(count) {
    this.makeRoom(count);
    while (this.end - this.start < count) {
      const got = Deno.stdin.readSync(this.buffer.subarray(this.end));
      if (got === null) return false;
      this.end += got;
    }
    return true;
  }

  /** @param {number} count */
  makeRoom(count) {
    if (this.start + count <= this.buffer.length) return;
    const { buffer, start, end } = this;
    if (count > buffer.length) this.buffer = new Uint8Array(Math.max(count, 2 * buffer.length));
    this.buffer.set(buffer.subarray(start, end));
    this.start = 0;
    this.end = end - start;
  }

  /** The next frame without its length, or null at the end of the input. */
  frame() {
    if (this.start === this.end) this.start = this.end = 0;
    if (!this.fill(4)) {
      if (this.end === this.start) return null;
      throw new Malformed("the input ends inside a frame");
    }
    const length = new DataView(this.buffer.buffer, this.start, 4).getUint32(0, true);
    if (length < 4 || length > MAX_FRAME) throw new Malformed(`a frame of length ${length}`);
    if (!this.fill(4 + length)) throw new Malformed("the input ends inside a frame");
    const frame = this.buffer.subarray(this.start + 4, this.start + 4 + length);
    this.start += 4 + length;
    return frame;
  }
}

/** @param {Uint8Array} bytes */
function writeAll(bytes) {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

/**
 * Answers one frame; false when the conversation ends with it.
 * @param {Reader} from
 * @param {Writer} to
 * @param {boolean} greeted
 */
function answerFrame(from, to, greeted) {
  const type = from.u32();
  if (greeted === (type === HELLO)) throw new Malformed(greeted ? "a second hello" : "the first frame is not hello");
  to.at = 0;
  const start = to.open();
  to.u32(type);
  const more = answerPayload(type, from, to);
  from.end();
  if (to.at - start > MAX_FRAME) throw new Malformed("the answer would pass 2^28 bytes");
  to.close(start);
  return more;
}

/** False when the conversation ends here. @param {number} type @param {Reader} from @param {Writer} to */
function answerPayload(type, from, to) {
  switch (type) {
    case HELLO: {
      const version = from.u32();
      to.u32(PROTOCOL_VERSION);
      to.raw(UTF8.encode(HELLO_JSON));
      return version === PROTOCOL_VERSION;
    }
    case STREAMS:
      answerItems(from, to, answerStream);
      return true;
    case DESCRIPTORS:
      answerItems(from, to, answerDescriptor);
      return true;
    case CALLS:
      answerItems(from, to, answerCalls);
      return true;
    default:
      throw new Malformed(`a frame of unknown type ${type}`);
  }
}

function serve() {
  const input = new Input();
  const to = new Writer();
  let greeted = false;
  for (let frame = input.frame(); frame !== null; frame = input.frame()) {
    const more = answerFrame(new Reader(frame), to, greeted);
    writeAll(to.bytes.subarray(0, to.at));
    if (!more) return;
    greeted = true;
  }
}

if (import.meta.main) {
  try {
    serve();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    console.error(`serve.js: malformed request: ${error.message}`);
    Deno.exit(2);
  }
}
