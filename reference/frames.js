/**
 * The frames of PROTOCOL.md on standard input and output, under deno: what serve.js and gpu.js have in common.
 */

const PROTOCOL_VERSION = 1;
const HELLO = 1;
const MAX_FRAME = 2 ** 28;

/** A request that is not what PROTOCOL.md says. */
export class Malformed extends Error {}

/** Takes a request's payload apart; never past its end. */
export class Reader {
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
export class Writer {
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

/** @param {Reader} from @param {Writer} to @param {(from: Reader, to: Writer) => void} answer */
export function answerItems(from, to, answer) {
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
 * What answers the frames of one type. @typedef {(from: Reader, to: Writer) => void | Promise<void>} Answer
 *
 * Who answers: what its hello says beside the types, and the types themselves by their numbers.
 * @typedef {{ hello: { name: string, answers: string[], [more: string]: unknown }, answers: Record<number, Answer> }} Server
 */

/**
 * Answers one frame; false when the conversation ends with it.
 * @param {Server} server
 * @param {Reader} from
 * @param {Writer} to
 * @param {boolean} greeted
 */
async function answerFrame(server, from, to, greeted) {
  const type = from.u32();
  if (greeted === (type === HELLO)) throw new Malformed(greeted ? "a second hello" : "the first frame is not hello");
  to.at = 0;
  const start = to.open();
  to.u32(type);
  const more = await answerPayload(server, type, from, to);
  from.end();
  if (to.at - start > MAX_FRAME) throw new Malformed("the answer would pass 2^28 bytes");
  to.close(start);
  return more;
}

/** False when the conversation ends here. @param {Server} server @param {number} type @param {Reader} from @param {Writer} to */
async function answerPayload({ hello, answers }, type, from, to) {
  if (type === HELLO) {
    const version = from.u32();
    to.u32(PROTOCOL_VERSION);
    to.raw(UTF8.encode(JSON.stringify(hello)));
    return version === PROTOCOL_VERSION;
  }
  const answer = answers[type];
  if (answer === undefined) throw new Malformed(`a frame of unknown type ${type}`);
  await answer(from, to);
  return true;
}

/** @param {Server} server */
async function converse(server) {
  const input = new Input();
  const to = new Writer();
  let greeted = false;
  for (let frame = input.frame(); frame !== null; frame = input.frame()) {
    const more = await answerFrame(server, new Reader(frame), to, greeted);
    writeAll(to.bytes.subarray(0, to.at));
    if (!more) return;
    greeted = true;
  }
}

/**
 * Answers standard input to its end. At a malformed frame it says so as `program` and ends with status 2.
 * @param {string} program
 * @param {Server} server
 */
export async function serve(program, server) {
  try {
    await converse(server);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    console.error(`${program}: malformed request: ${error.message}`);
    Deno.exit(2);
  }
}
