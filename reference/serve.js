/**
 * Answers the reader protocol (PROTOCOL.md) on standard input and output, under deno, with the reader of replay.js.
 * It ends with status 0 when its input ends, and with status 2 and one line on standard error at a malformed frame.
 */

import { checkRanges, checkReads, decode, parseBlob, remapDescriptor, remapReads, splitDescriptor } from "./replay.js";
import { answerItems, Malformed, serve } from "./frames.js";
import { trace } from "./trace.js";

/** @typedef {import("./frames.js").Reader} Reader @typedef {import("./frames.js").Writer} Writer */

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

/** @param {Writer} to @param {number} a @param {number} b @param {string} reason */
function writeRefusal(to, a, b, reason) {
  to.u32(1);
  to.u32(a);
  to.u32(b);
  to.u32(REASONS[reason]);
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
  if (refusal !== null) return writeRefusal(to, refusal.word, refusal.op, refusal.reason);
  to.u32(0);
  to.words(words);
  writeReads(to, reads);
  writeRanges(to, checkRanges(words, starts, sizeOf, bound));
  writeReadCheck(to, checkReads(reads, bufferOf, window));
}

/** @param {Writer} to @param {import("./replay.js").Decoded} decoded */
function writeDecoded(to, { starts, refusal }) {
  if (refusal !== null) return writeRefusal(to, refusal.word, refusal.op, refusal.reason);
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
  writeRefusal(to, refusal.command, refusal.op, refusal.reason);
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

if (import.meta.main) {
  await serve("serve.js", {
    hello: { name: "replay-js", answers: ["streams", "descriptors", "calls"] },
    answers: {
      2: (from, to) => answerItems(from, to, answerStream),
      3: (from, to) => answerItems(from, to, answerDescriptor),
      4: (from, to) => answerItems(from, to, answerCalls),
    },
  });
}
