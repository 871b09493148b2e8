/**
 * The JavaScript reader of the wire format, version 4: it decodes, remaps, checks and replays streams and object
 * tables. Section numbers in the comments are those of wire.md. It runs in deno and in a browser, on a real
 * `GPUDevice` or on anything with the same methods.
 *
 * Refusals are returned as values; nothing here throws but what a given function throws.
 */

/** The format's version (section 1). */
export const VERSION = 4;
/** Limits of sections 3, 5 and 7. */
export const MAX_COLOR_ATTACHMENTS = 8;
export const MAX_DYNAMIC_OFFSETS = 65536;
export const MAX_BUNDLES = 65536;
export const MAX_READ_WINDOW = 64 * 1024 * 1024;
export const MAX_REFS = 4096;
export const DEFAULT_MAX_WORKGROUPS = 65535;

/** The kinds of objects (section 7). */
export const KIND = Object.freeze({
  buffer: 1,
  texture: 2,
  view: 3,
  sampler: 4,
  module: 5,
  bindGroupLayout: 6,
  pipelineLayout: 7,
  bindGroup: 8,
  computePipeline: 9,
  renderPipeline: 10,
  bundle: 11,
});

/**
 * A refusal of Decode or Remap (section 3). `op` is 0 where the page says none.
 * @typedef {{ word: number, op: number, reason: string }} Refusal
 *
 * What Decode and Remap give: the word index of every accepted command's opcode, and the refusal, null when the
 * stream is accepted. With a refusal, `starts` holds the commands before it.
 * @typedef {{ starts: number[], refusal: Refusal | null }} Decoded
 *
 * A ReadBuffer command (section 6).
 * @typedef {{ id: number, offset: number, size: number, windowOffset: number }} Read
 *
 * Gives an id's replacement; undefined or 0 for one that it does not grant.
 * @typedef {((id: number) => number | undefined) | ReadonlyMap<number, number>} Grant
 *
 * A size in bytes is a u64: a number up to 2^53 - 1, a bigint above.
 * @typedef {number | bigint} Size
 *
 * The object table that the replayer holds.
 * @typedef {Map<number, { kind: number, object: any }>} Table
 */

// ---------------------------------------------------------------------------------------------------------------
// Section 1: the blob
// ---------------------------------------------------------------------------------------------------------------

const HEADER_BYTES = 16;
const MAGIC = 0x45524957; // "WIRE", read as a little-endian u32

/**
 * Takes a blob apart. The words are an aligned copy (a blob may start at any address), the data a view of `bytes`.
 * A typed array reads them in the machine's byte order, which is little-endian wherever JavaScript engines run.
 * @param {Uint8Array} bytes
 * @returns {{ words: Uint32Array<ArrayBuffer>, data: Uint8Array, reason: null } | { reason: string }}
 */
export function parseBlob(bytes) {
  const size = bytes.length;
  if (size < HEADER_BYTES) return { reason: "bad-length" };
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  if (view.getUint32(0, true) !== MAGIC) return { reason: "bad-magic" };
  if (view.getUint32(4, true) !== VERSION) return { reason: "bad-version" };
  const wordCount = view.getUint32(8, true);
  const dataStart = HEADER_BYTES + 4 * wordCount;
  // At most 16 + 4 * 2^32 + 2^32, which a Number holds exactly.
  if (size !== dataStart + view.getUint32(12, true)) return { reason: "bad-length" };
  const words = new Uint32Array(wordCount);
  new Uint8Array(words.buffer).set(bytes.subarray(HEADER_BYTES, dataStart));
  return { words, data: bytes.subarray(dataStart), reason: null };
}

// ---------------------------------------------------------------------------------------------------------------
// Section 2: the commands, as data
// ---------------------------------------------------------------------------------------------------------------

// Where a command may stand, as bits.
const T = 1; // outside a pass
const R = 2; // inside a render pass
const C = 4; // inside a compute pass
const B = 8; // in a render bundle's words

// Every argument word has a code. Below 0x20 it is an id: the kind that it names, perhaps with OPTIONAL.
const PIPELINE = 12; // a render or a compute pipeline: the context says which
const OPTIONAL = 0x10;
const U32 = 0x20; // any word: u32, i32, or a count that has its own check
const F32 = 0x21;
const BOOL = 0x22;
const U64 = 0x23; // the low word; U64_HIGH follows
const U64_HIGH = 0x24;
const INDEX_FORMAT = 0x25;
const COLOR_OP = 0x26;
const DEPTH_OP = 0x27;
const ASPECT = 0x28;

/** The codes of each argument type, by the name used in the tables below. @type {Record<string, number[]>} */
const TYPES = {
  pipeline: [PIPELINE],
  bindGroup: [KIND.bindGroup],
  buffer: [KIND.buffer],
  texture: [KIND.texture],
  view: [KIND.view],
  bundle: [KIND.bundle],
  u32: [U32],
  i32: [U32],
  count: [U32],
  f32: [F32],
  bool: [BOOL],
  u64: [U64, U64_HIGH],
  indexFormat: [INDEX_FORMAT],
  colorOp: [COLOR_OP],
  depthOp: [DEPTH_OP],
  aspect: [ASPECT],
};

/**
 * One code for each word of a list of arguments; `?` marks an id that may be 0.
 * @param {string} types
 */
function layout(types) {
  const names = types === "" ? [] : types.split(" ");
  const codes = names.map((name) => {
    return name.endsWith("?") ? TYPES[name.slice(0, -1)].map((code) => code | OPTIONAL) : TYPES[name];
  });
  return Uint8Array.from(codes.flat());
}

const COLOR = layout("view? view? colorOp colorOp f32 f32 f32 f32");
const DEPTH = layout("view depthOp depthOp f32 bool depthOp depthOp u32 bool");
const TEXTURE_COPY = "texture u32 u32 u32 u32 aspect"; // texture mip x y z aspect

const SET_PIPELINE = 1;
const SET_BIND_GROUP = 2;
const SET_VERTEX_BUFFER = 5;
const SET_INDEX_BUFFER = 6;
const EXECUTE_BUNDLES = 11;
const DRAW_INDIRECT = 12;
const DRAW_INDEXED_INDIRECT = 13;
const BEGIN_RENDER_PASS = 20;
const END_PASS = 21;
const BEGIN_COMPUTE_PASS = 22;
const DISPATCH = 23;
const DISPATCH_INDIRECT = 24;
const WRITE_BUFFER = 30;
const COPY_BUFFER_TO_BUFFER = 31;
const COPY_TEXTURE_TO_TEXTURE = 32;
const WRITE_TEXTURE = 33;
const READ_BUFFER = 34;
const SUBMIT = 40;

/**
 * `head` are the words after the opcode up to and with the first count; `limit` and `each` belong to that count.
 * @typedef {{ name: string, where: number, head: Uint8Array, limit: number, each: Uint8Array | null }} Command
 */

/** @type {(Command | undefined)[]} */
const COMMANDS = new Array(SUBMIT + 1).fill(undefined);

/**
 * @param {number} op
 * @param {string} name
 * @param {number} where
 * @param {string} head
 * @param {number} limit
 * @param {Uint8Array | null} each
 */
function define(op, name, where, head, limit = 0, each = null) {
  COMMANDS[op] = { name, where, head: layout(head), limit, each };
}

define(SET_PIPELINE, "SetPipeline", R | C | B, "pipeline");
define(SET_BIND_GROUP, "SetBindGroup", R | C | B, "u32 bindGroup? count", MAX_DYNAMIC_OFFSETS, layout("u32"));
define(3, "Draw", R | B, "u32 u32 u32 u32");
define(4, "DrawIndexed", R | B, "u32 u32 u32 i32 u32");
define(SET_VERTEX_BUFFER, "SetVertexBuffer", R | B, "u32 buffer? u64 u64");
define(SET_INDEX_BUFFER, "SetIndexBuffer", R | B, "buffer indexFormat u64 u64");
define(7, "SetViewport", R, "f32 f32 f32 f32 f32 f32");
define(8, "SetScissorRect", R, "u32 u32 u32 u32");
define(9, "SetBlendConstant", R, "f32 f32 f32 f32");
define(10, "SetStencilReference", R, "u32");
define(EXECUTE_BUNDLES, "ExecuteBundles", R, "count", MAX_BUNDLES, layout("bundle"));
define(DRAW_INDIRECT, "DrawIndirect", R | B, "buffer u64");
define(DRAW_INDEXED_INDIRECT, "DrawIndexedIndirect", R | B, "buffer u64");
define(BEGIN_RENDER_PASS, "BeginRenderPass", T, "count", MAX_COLOR_ATTACHMENTS, COLOR);
define(END_PASS, "EndPass", R | C, "");
define(BEGIN_COMPUTE_PASS, "BeginComputePass", T, "");
define(DISPATCH, "Dispatch", C, "u32 u32 u32");
define(DISPATCH_INDIRECT, "DispatchIndirect", C, "buffer u64");
define(WRITE_BUFFER, "WriteBuffer", T | R | C, "buffer u64 u32 u32");
define(COPY_BUFFER_TO_BUFFER, "CopyBufferToBuffer", T, "buffer u64 buffer u64 u64");
define(COPY_TEXTURE_TO_TEXTURE, "CopyTextureToTexture", T, `${TEXTURE_COPY} ${TEXTURE_COPY} u32 u32 u32`);
define(WRITE_TEXTURE, "WriteTexture", T | R | C, `${TEXTURE_COPY} u32 u32 u64 u32 u32 u32 u32 u32`);
define(READ_BUFFER, "ReadBuffer", T | R | C, "buffer u64 u32 u32");
define(SUBMIT, "Submit", T, "");

/**
 * The name of an opcode, undefined for an unknown one.
 * @param {number} op
 */
export function commandName(op) {
  return COMMANDS[op]?.name;
}

// ---------------------------------------------------------------------------------------------------------------
// Section 3: Decode and Remap
// ---------------------------------------------------------------------------------------------------------------

const U64_HIGH_LIMIT = 0x1fffff; // the high word of 2^53 - 1
const F32_EXPONENT = 0x7f800000; // all ones in an infinity and in a NaN

/**
 * What is wrong with an argument that is no id, or null (check 7).
 * @param {number} code
 * @param {number} word
 * @param {number} next the word after it, the high one of a u64
 */
function badArgument(code, word, next) {
  switch (code) {
    case F32:
      return (word & F32_EXPONENT) === F32_EXPONENT ? "non-finite" : null;
    case BOOL:
      return word > 1 ? "bad-flag" : null;
    case U64:
      return next > U64_HIGH_LIMIT ? "unsafe-integer" : null;
    case INDEX_FORMAT:
    case COLOR_OP:
      return word < 1 || word > 2 ? "bad-enum" : null;
    case DEPTH_OP:
      return word > 2 ? "bad-enum" : null;
    case ASPECT:
      return word > 3 ? "bad-enum" : null;
    default:
      return null;
  }
}

/** One pass over the words. Its methods return 0 once they have set the refusal, and no such result is ever 0. */
class Scan {
  /**
   * @param {Uint32Array} words rewritten where there is a grant
   * @param {number} dataLength
   * @param {((id: number) => number | undefined) | null} grant
   * @param {number} context
   */
  constructor(words, dataLength, grant, context) {
    this.words = words;
    this.dataLength = dataLength;
    this.grant = grant;
    this.context = context;
    this.begin = -1; // the word of the Begin command of the open pass
    /** @type {number[]} */
    this.starts = [];
    /** @type {Refusal | null} */
    this.refusal = null;
  }

  /** @param {number} word @param {number} op @param {string} reason */
  refuse(word, op, reason) {
    this.refusal = { word, op, reason };
    return 0;
  }

  /** @returns {Decoded} */
  run() {
    const length = this.words.length;
    for (let at = 0; at < length;) {
      const end = this.command(at);
      if (end === 0) return this;
      this.starts.push(at);
      at = end;
    }
    if (this.begin >= 0) this.refuse(this.begin, this.words[this.begin], "open-pass");
    return this;
  }

  /** Checks 1 to 10 of one command; gives the word after it. @param {number} at */
  command(at) {
    const op = this.words[at];
    const command = op < COMMANDS.length ? COMMANDS[op] : undefined;
    if (command === undefined) return this.refuse(at, 0, "unknown-op");
    if ((command.where & this.context) === 0) return this.refuse(at, op, "wrong-context");
    const end = command.each === null ? this.plainEnd(at, op, command) : this.countedEnd(at, op, command);
    if (end === 0 || this.args(at, op, command) === 0 || this.ranges(at, op) === 0) return 0;
    this.enterOrLeave(at, op);
    return end;
  }

  /** Check 3 of a command without a count. @param {number} at @param {number} op @param {Command} command */
  plainEnd(at, op, command) {
    const end = at + 1 + command.head.length;
    return end > this.words.length ? this.refuse(at, op, "truncated") : end;
  }

  /** Checks 3 to 6 of a command with a count. @param {number} at @param {number} op @param {Command} command */
  countedEnd(at, op, command) {
    const { words } = this;
    const first = at + 1 + command.head.length;
    if (first > words.length) return this.refuse(at, op, "truncated");
    const count = words[first - 1];
    if (count > command.limit) return this.refuse(first - 1, op, "too-many");
    const rest = first + count * (command.each?.length ?? 0);
    if (op === BEGIN_RENDER_PASS) return this.depthEnd(at, op, rest);
    return rest > words.length ? this.refuse(at, op, "truncated") : rest;
  }

  /** Checks 5 and 6 of BeginRenderPass. @param {number} at @param {number} op @param {number} flag its hasDepth word */
  depthEnd(at, op, flag) {
    const { words } = this;
    if (flag + 1 > words.length) return this.refuse(at, op, "truncated");
    if (words[flag] > 1) return this.refuse(flag, op, "bad-flag");
    const end = flag + 1 + words[flag] * DEPTH.length;
    return end > words.length ? this.refuse(at, op, "truncated") : end;
  }

  /** Check 7 of all arguments. @param {number} at @param {number} op @param {Command} command */
  args(at, op, command) {
    let next = this.row(at + 1, op, command.head);
    if (next === 0 || command.each === null) return next;
    for (let left = this.words[next - 1]; left > 0; left--) {
      next = this.row(next, op, command.each);
      if (next === 0) return 0;
    }
    // The hasDepth word has had its check.
    return op === BEGIN_RENDER_PASS && this.words[next] === 1 ? this.row(next + 1, op, DEPTH) : next;
  }

  /**
   * Check 7 of the words from `at` that `codes` describes.
   * @param {number} at
   * @param {number} op
   * @param {Uint8Array} codes
   */
  row(at, op, codes) {
    const { words } = this;
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i];
      if (code === U32) continue;
      if (code < U32) {
        if (this.id(at + i, op, code) === 0) return 0;
      } else {
        const reason = badArgument(code, words[at + i], words[at + i + 1]);
        if (reason !== null) return this.refuse(at + i, op, reason);
      }
    }
    return at + codes.length;
  }

  /** An id: the zero check, then the grant (check 7). @param {number} at @param {number} op @param {number} code */
  id(at, op, code) {
    const id = this.words[at];
    if (id === 0) return (code & OPTIONAL) === 0 ? this.refuse(at, op, "zero-id") : 1;
    if (this.grant === null) return 1;
    const host = (this.grant(id) ?? 0) >>> 0;
    if (host === 0) return this.refuse(at, op, "unknown-id");
    this.words[at] = host;
    return 1;
  }

  /** Checks 8 to 10. @param {number} at @param {number} op */
  ranges(at, op) {
    switch (op) {
      case WRITE_BUFFER:
        if (this.pastData(at + 4)) return this.refuse(at + 4, op, "data-range");
        return this.words[at + 5] % 4 !== 0 ? this.refuse(at + 5, op, "write-size") : 1;
      case WRITE_TEXTURE:
        return this.pastData(at + 7) ? this.refuse(at + 7, op, "data-range") : 1;
      case READ_BUFFER:
        return this.read(at, op);
      default:
        return 1;
    }
  }

  /** Check 8: an offset and a length, each below 2^32, so that the sum is exact. @param {number} at */
  pastData(at) {
    return this.words[at] + this.words[at + 1] > this.dataLength;
  }

  /** Check 10. @param {number} at @param {number} op */
  read(at, op) {
    const { words } = this;
    const size = words[at + 4];
    if (words[at + 2] % 8 !== 0) return this.refuse(at + 2, op, "read-alignment");
    if (size % 4 !== 0 || size === 0) return this.refuse(at + 4, op, "read-size");
    return words[at + 5] + size > MAX_READ_WINDOW ? this.refuse(at + 5, op, "read-window") : 1;
  }

  /** @param {number} at @param {number} op */
  enterOrLeave(at, op) {
    if (op === END_PASS) {
      this.context = T;
      this.begin = -1;
    } else if (op === BEGIN_RENDER_PASS || op === BEGIN_COMPUTE_PASS) {
      this.context = op === BEGIN_RENDER_PASS ? R : C;
      this.begin = at;
    }
  }
}

/**
 * @param {Grant} grant
 * @returns {(id: number) => number | undefined}
 */
function asFunction(grant) {
  return typeof grant === "function" ? grant : (id) => grant.get(id);
}

/**
 * Decode.
 * @param {Uint32Array} words
 * @param {number} dataLength
 * @returns {Decoded}
 */
export function decode(words, dataLength) {
  return new Scan(words, dataLength, null, T).run();
}

/**
 * Remap: rewrites every id of `words` in place. After a refusal the words are partly rewritten, to be discarded.
 * @param {Uint32Array} words
 * @param {number} dataLength
 * @param {Grant} grant
 * @returns {Decoded}
 */
export function remap(words, dataLength, grant) {
  return new Scan(words, dataLength, asFunction(grant), T).run();
}

/**
 * RemapReads: Remap that also gives the reads, with the ids translated (section 6); none after a refusal.
 * @param {Uint32Array} words
 * @param {number} dataLength
 * @param {Grant} grant
 * @returns {Decoded & { reads: Read[] }}
 */
export function remapReads(words, dataLength, grant) {
  const { starts, refusal } = remap(words, dataLength, grant);
  return { starts, refusal, reads: refusal === null ? listReads(words, starts) : [] };
}

/**
 * Decode of a render bundle's words (section 7): context B, no data. With a grant it is Remap, in place.
 * @param {Uint32Array} words
 * @param {Grant | null} grant
 * @returns {Decoded}
 */
export function decodeBundle(words, grant = null) {
  return new Scan(words, 0, grant === null ? null : asFunction(grant), B).run();
}

/**
 * The ReadBuffer commands of accepted words, in order.
 * @param {Uint32Array} words
 * @param {number[]} starts
 */
export function listReads(words, starts) {
  /** @type {Read[]} */
  const reads = [];
  for (const at of starts) {
    if (words[at] !== READ_BUFFER) continue;
    reads.push({ id: words[at + 1], offset: u64(words, at + 2), size: words[at + 4], windowOffset: words[at + 5] });
  }
  return reads;
}

const TWO_32 = 2 ** 32;

/** A u64 that check 7 has let pass, so that a Number holds it. @param {Uint32Array} words @param {number} at */
function u64(words, at) {
  return words[at + 1] * TWO_32 + words[at];
}

// ---------------------------------------------------------------------------------------------------------------
// Sections 5 and 6: ranges and reads
// ---------------------------------------------------------------------------------------------------------------

/**
 * Whether offset + length <= size. The halves are added apart, because the sum passes 2^53.
 * @param {number} offsetLow
 * @param {number} offsetHigh
 * @param {number} lengthLow
 * @param {number} lengthHigh
 * @param {Size} size
 */
function fits(offsetLow, offsetHigh, lengthLow, lengthHigh, size) {
  const sum = offsetLow + lengthLow;
  const low = sum >>> 0;
  const high = offsetHigh + lengthHigh + (sum >= TWO_32 ? 1 : 0);
  if (typeof size === "bigint") return BigInt(high) * 0x100000000n + BigInt(low) <= size;
  const sizeHigh = Math.floor(size / TWO_32);
  return high < sizeHigh || (high === sizeHigh && low <= size % TWO_32);
}

/**
 * What is wrong with the range of the buffer whose id is at `idWord` and whose offset is at `offsetWord`, or null.
 * @param {Uint32Array} words
 * @param {number} idWord
 * @param {number} offsetWord
 * @param {number} lengthLow
 * @param {number} lengthHigh
 * @param {(id: number) => Size | undefined} sizeOf
 */
function badRange(words, idWord, offsetWord, lengthLow, lengthHigh, sizeOf) {
  const size = sizeOf(words[idWord]);
  if (size === undefined) return "not-a-buffer";
  return fits(words[offsetWord], words[offsetWord + 1], lengthLow, lengthHigh, size) ? null : "out-of-range";
}

/**
 * The row of section 5's table for the command at `at`: its reason, or null.
 * @param {Uint32Array} words
 * @param {number} at
 * @param {(id: number) => Size | undefined} sizeOf
 * @param {number} bound
 */
function badCommandRange(words, at, sizeOf, bound) {
  switch (words[at]) {
    case WRITE_BUFFER:
      return badRange(words, at + 1, at + 2, words[at + 5], 0, sizeOf);
    case COPY_BUFFER_TO_BUFFER:
      return badRange(words, at + 1, at + 2, words[at + 7], words[at + 8], sizeOf) ??
        badRange(words, at + 4, at + 5, words[at + 7], words[at + 8], sizeOf);
    case DISPATCH_INDIRECT:
      return badRange(words, at + 1, at + 2, 12, 0, sizeOf);
    case DRAW_INDIRECT:
      return badRange(words, at + 1, at + 2, 16, 0, sizeOf);
    case DRAW_INDEXED_INDIRECT:
      return badRange(words, at + 1, at + 2, 20, 0, sizeOf);
    case DISPATCH:
      return Math.max(words[at + 1], words[at + 2], words[at + 3]) > bound ? "too-many-workgroups" : null;
    default:
      return null;
  }
}

/**
 * CheckRanges (section 5) of accepted words; null when nothing is refused.
 * @param {Uint32Array} words
 * @param {number[]} starts
 * @param {(id: number) => Size | undefined} sizeOf undefined for an id that is no buffer
 * @param {number} maxWorkgroups 0 means 65535
 * @returns {{ command: number, op: number, reason: string } | null}
 */
export function checkRanges(words, starts, sizeOf, maxWorkgroups = 0) {
  const bound = maxWorkgroups === 0 ? DEFAULT_MAX_WORKGROUPS : maxWorkgroups;
  for (let command = 0; command < starts.length; command++) {
    const at = starts[command];
    const reason = badCommandRange(words, at, sizeOf, bound);
    if (reason !== null) return { command, op: words[at], reason };
  }
  return null;
}

const MAP_READ = 1; // GPUBufferUsage.MAP_READ, which is not there before an adapter is in some engines

/**
 * The check of section 6; null when nothing is refused.
 * @param {Read[]} reads
 * @param {(id: number) => { size: Size, usage: number } | undefined} bufferOf undefined for an id that is no buffer
 * @param {number} window bytes of the read window that was granted
 * @returns {{ read: number, reason: string } | null}
 */
export function checkReads(reads, bufferOf, window) {
  for (let read = 0; read < reads.length; read++) {
    const reason = badRead(reads[read], bufferOf(reads[read].id), window);
    if (reason !== null) return { read, reason };
  }
  return null;
}

/**
 * @param {Read} read
 * @param {{ size: Size, usage: number } | undefined} buffer
 * @param {number} window
 */
function badRead({ offset, size, windowOffset }, buffer, window) {
  if (buffer === undefined) return "not-a-buffer";
  if ((buffer.usage & MAP_READ) === 0) return "no-map-read";
  if (!fits(offset % TWO_32, Math.floor(offset / TWO_32), size, 0, buffer.size)) return "out-of-range";
  return windowOffset + size > window ? "past-window" : null;
}

// ---------------------------------------------------------------------------------------------------------------
// Section 7: creation descriptors
// ---------------------------------------------------------------------------------------------------------------

/**
 * Append: `dst`, then the descriptor.
 * @param {Uint8Array} dst
 * @param {ArrayLike<number>} refs
 * @param {Uint8Array} body
 * @returns {{ bytes: Uint8Array<ArrayBuffer>, reason: null } | { reason: string }}
 */
export function appendDescriptor(dst, refs, body) {
  if (refs.length > MAX_REFS) return { reason: "too-many" };
  const bodyStart = dst.length + 4 + 4 * refs.length;
  const bytes = new Uint8Array(bodyStart + body.length);
  const view = new DataView(bytes.buffer);
  bytes.set(dst);
  view.setUint32(dst.length, refs.length, true);
  for (let i = 0; i < refs.length; i++) view.setUint32(dst.length + 4 + 4 * i, refs[i], true);
  bytes.set(body, bodyStart);
  return { bytes, reason: null };
}

/**
 * Split. The body is a view of `bytes`.
 * @param {Uint8Array} bytes
 * @returns {{ refs: number[], body: Uint8Array, reason: null } | { reason: string }}
 */
export function splitDescriptor(bytes) {
  if (bytes.length < 4) return { reason: "truncated" };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(0, true);
  if (count > MAX_REFS) return { reason: "too-many" };
  const bodyStart = 4 + 4 * count;
  if (bytes.length < bodyStart) return { reason: "truncated" };
  /** @type {number[]} */
  const refs = [];
  for (let i = 0; i < count; i++) refs.push(view.getUint32(4 + 4 * i, true));
  return { refs, body: bytes.subarray(bodyStart), reason: null };
}

/**
 * RemapDescriptor: rewrites the references of `bytes` in place; null when nothing is refused. After a refusal the
 * bytes are partly rewritten, to be discarded. `index` is 0 for another reason than unknown-id.
 * @param {Uint8Array} bytes
 * @param {Grant} grant
 * @returns {{ reason: string, index: number } | null}
 */
export function remapDescriptor(bytes, grant) {
  const parts = splitDescriptor(bytes);
  if (parts.reason !== null) return { reason: parts.reason, index: 0 };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const hostOf = asFunction(grant);
  for (let index = 0; index < parts.refs.length; index++) {
    if (parts.refs[index] === 0) continue;
    const host = (hostOf(parts.refs[index]) ?? 0) >>> 0;
    if (host === 0) return { reason: "unknown-id", index };
    view.setUint32(4 + 4 * index, host, true);
  }
  return null;
}

// ---------------------------------------------------------------------------------------------------------------
// Section 4: execution
// ---------------------------------------------------------------------------------------------------------------

const INDEX_FORMATS = ["", "uint16", "uint32"];
const LOAD_OPS = [undefined, "load", "clear"];
const STORE_OPS = [undefined, "store", "discard"];
const ASPECTS = [undefined, "all", "stencil-only", "depth-only"];
const CLEAR = 2;
const NO_STRIDE = 0xffffffff;

/**
 * Where and why a replay stopped (section 4, rules 6 and 7): for wrong-kind the word is the argument's, for threw the
 * opcode's, and `error` is what was thrown.
 * @typedef {{ reason: string, command: number, word: number, error?: unknown }} Stop
 */

/** @param {Uint8Array} bytes @param {number} offset @param {number} length */
function part(bytes, offset, length) {
  return bytes.subarray(offset, offset + length);
}

/**
 * The same object without the properties that are undefined: those are the ones that section 4 leaves out.
 * @param {Record<string, unknown>} object
 */
function present(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

const floatBits = new Uint32Array(1);
const floatValue = new Float32Array(floatBits.buffer);

/** @param {Uint32Array} words @param {number} at */
function f32(words, at) {
  floatBits[0] = words[at];
  return floatValue[0];
}

/** @param {Uint32Array} words @param {number} at */
function color(words, at) {
  return { r: f32(words, at), g: f32(words, at + 1), b: f32(words, at + 2), a: f32(words, at + 3) };
}

/** @param {Uint32Array} words @param {number} at */
function extent(words, at) {
  return { width: words[at], height: words[at + 1], depthOrArrayLayers: words[at + 2] };
}

/**
 * The id arguments of a command in word order, each with its code.
 * @param {Uint32Array} words
 * @param {number} at
 */
function* ids(words, at) {
  const op = words[at];
  const { head, each } = /** @type {Command} */ (COMMANDS[op]);
  yield* rowIds(words, at + 1, head);
  if (each === null) return;
  let next = at + 1 + head.length;
  for (let left = words[next - 1]; left > 0; left--) {
    yield* rowIds(words, next, each);
    next += each.length;
  }
  if (op === BEGIN_RENDER_PASS && words[next] === 1) yield* rowIds(words, next + 1, DEPTH);
}

/** @param {Uint32Array} words @param {number} at @param {Uint8Array} codes */
function* rowIds(words, at, codes) {
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] < U32 && words[at + i] !== 0) yield { word: at + i, kind: codes[i] & ~OPTIONAL };
  }
}

/** Makes the calls of accepted words, on a device or, in context B, on a bundle encoder alone. */
class Player {
  /**
   * @param {any} device
   * @param {Table} table
   * @param {Uint32Array} words
   * @param {Uint8Array} data
   */
  constructor(device, table, words, data) {
    this.device = device;
    this.table = table;
    this.words = words;
    this.data = data;
    /** @type {any} the open command encoder (rule 2) */
    this.encoder = null;
    /** @type {any} the open pass, or the bundle encoder */
    this.pass = null;
    /** @type {number} what SetPipeline takes */
    this.pipelineKind = KIND.renderPipeline;
  }

  /**
   * @param {number[]} starts
   * @returns {Stop | null}
   */
  run(starts) {
    for (let command = 0; command < starts.length; command++) {
      const at = starts[command];
      const word = this.wrongKind(at);
      if (word !== null) return { reason: "wrong-kind", command, word };
      try {
        CALLS[this.words[at]](this, this.words, at);
      } catch (error) {
        return { reason: "threw", command, word: at, error };
      }
    }
    return null;
  }

  /** The first id argument that does not name an object of its kind, or null (rule 6). @param {number} at */
  wrongKind(at) {
    for (const { word, kind } of ids(this.words, at)) {
      const wanted = kind === PIPELINE ? this.pipelineKind : kind;
      if (this.table.get(this.words[word])?.kind !== wanted) return word;
    }
    return null;
  }

  /** The object whose id is at `word`, null for 0. @param {number} word */
  object(word) {
    return this.words[word] === 0 ? null : this.table.get(this.words[word])?.object;
  }

  /** Rule 2. */
  openEncoder() {
    this.encoder ??= this.device.createCommandEncoder();
    return this.encoder;
  }

  /** Rule 2. */
  submit() {
    if (this.encoder === null) return;
    this.device.queue.submit([this.encoder.finish()]);
    this.encoder = null;
  }

  /** The texture side of a copy: texture mip x y z aspect. @param {number} at */
  textureCopy(at) {
    const { words } = this;
    return present({
      texture: this.object(at),
      mipLevel: words[at + 1],
      origin: { x: words[at + 2], y: words[at + 3], z: words[at + 4] },
      aspect: ASPECTS[words[at + 5]],
    });
  }

  /** @param {number} at */
  colorAttachment(at) {
    const { words } = this;
    if (words[at] === 0) return null;
    return present({
      view: this.object(at),
      resolveTarget: this.object(at + 1) ?? undefined,
      clearValue: words[at + 2] === CLEAR ? color(words, at + 4) : undefined,
      loadOp: LOAD_OPS[words[at + 2]],
      storeOp: STORE_OPS[words[at + 3]],
    });
  }

  /** @param {number} at */
  depthAttachment(at) {
    const { words } = this;
    return present({
      view: this.object(at),
      depthLoadOp: LOAD_OPS[words[at + 1]],
      depthStoreOp: STORE_OPS[words[at + 2]],
      depthClearValue: words[at + 1] === CLEAR ? f32(words, at + 3) : undefined,
      depthReadOnly: words[at + 4] === 1,
      stencilLoadOp: LOAD_OPS[words[at + 5]],
      stencilStoreOp: STORE_OPS[words[at + 6]],
      stencilClearValue: words[at + 5] === CLEAR ? words[at + 7] : undefined,
      stencilReadOnly: words[at + 8] === 1,
    });
  }

  /** @param {number} at */
  beginRenderPass(at) {
    const colorAttachments = [];
    let next = at + 2;
    for (let left = this.words[at + 1]; left > 0; left--) {
      colorAttachments.push(this.colorAttachment(next));
      next += COLOR.length;
    }
    const depthStencilAttachment = this.words[next] === 1 ? this.depthAttachment(next + 1) : undefined;
    this.pass = this.openEncoder().beginRenderPass(present({ colorAttachments, depthStencilAttachment }));
    this.pipelineKind = KIND.renderPipeline;
  }

  beginComputePass() {
    this.pass = this.openEncoder().beginComputePass();
    this.pipelineKind = KIND.computePipeline;
  }

  /** @param {number} at */
  setVertexBuffer(at) {
    const { pass, words } = this;
    const buffer = this.object(at + 2);
    if (buffer === null) return pass.setVertexBuffer(words[at + 1], null);
    const size = u64(words, at + 5);
    if (size === 0) return pass.setVertexBuffer(words[at + 1], buffer, u64(words, at + 3));
    pass.setVertexBuffer(words[at + 1], buffer, u64(words, at + 3), size);
  }

  /** @param {number} at */
  setIndexBuffer(at) {
    const { pass, words } = this;
    const format = INDEX_FORMATS[words[at + 2]];
    const size = u64(words, at + 5);
    if (size === 0) return pass.setIndexBuffer(this.object(at + 1), format, u64(words, at + 3));
    pass.setIndexBuffer(this.object(at + 1), format, u64(words, at + 3), size);
  }

  /** @param {number} at */
  executeBundles(at) {
    const bundles = [];
    for (let i = 0; i < this.words[at + 1]; i++) bundles.push(this.object(at + 2 + i));
    this.pass.executeBundles(bundles);
  }

  /** @param {number} at */
  writeTexture(at) {
    const { words } = this;
    const stride = (/** @type {number} */ word) => words[word] === NO_STRIDE ? undefined : words[word];
    this.device.queue.writeTexture(
      this.textureCopy(at + 1),
      part(this.data, words[at + 7], words[at + 8]),
      present({ offset: u64(words, at + 9), bytesPerRow: stride(at + 11), rowsPerImage: stride(at + 12) }),
      extent(words, at + 13),
    );
  }
}

/**
 * The calls of section 4, by opcode: the player, its words, the word of the opcode.
 * @type {Record<number, (p: Player, w: Uint32Array, at: number) => void>}
 */
const CALLS = {
  1: (p, _w, at) => p.pass.setPipeline(p.object(at + 1)),
  2: (p, w, at) => p.pass.setBindGroup(w[at + 1], p.object(at + 2), Array.from(w.subarray(at + 4, at + 4 + w[at + 3]))),
  3: (p, w, at) => p.pass.draw(w[at + 1], w[at + 2], w[at + 3], w[at + 4]),
  4: (p, w, at) => p.pass.drawIndexed(w[at + 1], w[at + 2], w[at + 3], w[at + 4] | 0, w[at + 5]),
  5: (p, _w, at) => p.setVertexBuffer(at),
  6: (p, _w, at) => p.setIndexBuffer(at),
  7: (p, w, at) => {
    const [x, y, width, height, min, max] = [1, 2, 3, 4, 5, 6].map((i) => f32(w, at + i));
    p.pass.setViewport(x, y, width, height, min, max);
  },
  8: (p, w, at) => p.pass.setScissorRect(w[at + 1], w[at + 2], w[at + 3], w[at + 4]),
  9: (p, w, at) => p.pass.setBlendConstant(color(w, at + 1)),
  10: (p, w, at) => p.pass.setStencilReference(w[at + 1]),
  11: (p, _w, at) => p.executeBundles(at),
  12: (p, w, at) => p.pass.drawIndirect(p.object(at + 1), u64(w, at + 2)),
  13: (p, w, at) => p.pass.drawIndexedIndirect(p.object(at + 1), u64(w, at + 2)),
  20: (p, _w, at) => p.beginRenderPass(at),
  21: (p) => p.pass.end(),
  22: (p) => p.beginComputePass(),
  23: (p, w, at) => p.pass.dispatchWorkgroups(w[at + 1], w[at + 2], w[at + 3]),
  24: (p, w, at) => p.pass.dispatchWorkgroupsIndirect(p.object(at + 1), u64(w, at + 2)),
  30: (p, w, at) => p.device.queue.writeBuffer(p.object(at + 1), u64(w, at + 2), part(p.data, w[at + 4], w[at + 5])),
  31: (p, w, at) =>
    p.openEncoder().copyBufferToBuffer(
      p.object(at + 1),
      u64(w, at + 2),
      p.object(at + 4),
      u64(w, at + 5),
      u64(w, at + 7),
    ),
  32: (p, w, at) =>
    p.openEncoder().copyTextureToTexture(p.textureCopy(at + 1), p.textureCopy(at + 7), extent(w, at + 13)),
  33: (p, _w, at) => p.writeTexture(at),
  34: () => {}, // rule 5: the host's
  40: (p) => p.submit(),
};

/**
 * Replays a stream. `refusal` is Decode's, and then no call was made; `stop` says where a replay stopped.
 * @param {any} device
 * @param {Table} table
 * @param {Uint32Array} words
 * @param {Uint8Array} data
 * @returns {{ refusal: Refusal | null, stop: Stop | null }}
 */
export function replay(device, table, words, data) {
  const { starts, refusal } = decode(words, data.length);
  if (refusal !== null) return { refusal, stop: null };
  return { refusal, stop: new Player(device, table, words, data).run(starts) };
}

// ---------------------------------------------------------------------------------------------------------------
// Section 7: objects
// ---------------------------------------------------------------------------------------------------------------

/**
 * A row of an object table.
 * @typedef {{ id: number, kind: number, descriptor: Uint8Array }} ObjectRow
 *
 * A row whose object was not made, with what more is known: the reference's index for wrong-kind of a reference, word
 * and opcode (and for a stop the command's index) for a bundle's words, the error for threw.
 * @typedef {{ row: number, id: number, reason: string, reference?: number, word?: number, op?: number,
 *   command?: number, error?: unknown }} ObjectRefusal
 *
 * How a kind is made. `members` says what a body's members must be, `barred` names those that it must not have; a dot
 * leads into a member. What it does not name is passed on, for the device to judge. `refs` gives the code of each
 * reference that the body calls for, `make` makes the object of the references' table entries.
 * @typedef {{ members: Record<string, (value: any) => boolean>, barred: string[],
 *   refs: (body: any, count: number) => number[],
 *   make: (device: any, body: any, refs: any[], entries: any[]) => any }} Maker
 */

const RESOURCE = 0; // the code of a bind group entry's reference
const NOTHING = 0x1f; // the code of a reference that must be 0
/** @type {number[]} */
const RESOURCE_KINDS = [KIND.buffer, KIND.view, KIND.sampler];

const isNumber = (/** @type {any} */ value) => typeof value === "number";
const isString = (/** @type {any} */ value) => typeof value === "string";
const isArray = (/** @type {any} */ value) => Array.isArray(value);
const isObject = (/** @type {any} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isObjectOrAbsent = (/** @type {any} */ value) => value === undefined || isObject(value);
const isExtent = (/** @type {any} */ value) => isArray(value) || isObject(value);
const isWord = (/** @type {any} */ value) => isNumber(value) && value === value >>> 0;
const isEntry = (/** @type {any} */ value) => isObject(value) && isNumber(value.binding) && !("resource" in value);
const isWords = (/** @type {any} */ value) => isArray(value) && value.every(isWord);
const isEntries = (/** @type {any} */ value) => isArray(value) && value.every(isEntry);

const noRefs = () => [];

/** @param {any} layout a pipeline layout or null */
const layoutOrAuto = (layout) => layout ?? "auto";

/** @type {Record<number, Maker>} */
const MAKERS = {
  [KIND.buffer]: {
    members: { size: isNumber, usage: isNumber },
    barred: ["mappedAtCreation"],
    refs: noRefs,
    make: (device, body) => device.createBuffer(body),
  },
  [KIND.texture]: {
    members: { size: isExtent, format: isString, usage: isNumber },
    barred: [],
    refs: noRefs,
    make: (device, body) => device.createTexture(body),
  },
  [KIND.view]: {
    members: {},
    barred: [],
    refs: () => [KIND.texture],
    make: (_device, body, [texture]) => texture.createView(body),
  },
  [KIND.sampler]: {
    members: {},
    barred: [],
    refs: noRefs,
    make: (device, body) => device.createSampler(body),
  },
  [KIND.module]: {
    members: { code: isString },
    barred: [],
    refs: noRefs,
    make: (device, body) => device.createShaderModule(body),
  },
  [KIND.bindGroupLayout]: {
    members: { entries: isArray },
    barred: [],
    refs: noRefs,
    make: (device, body) => device.createBindGroupLayout(body),
  },
  [KIND.pipelineLayout]: {
    members: {},
    barred: ["bindGroupLayouts"],
    refs: (_body, count) => new Array(count).fill(KIND.bindGroupLayout | OPTIONAL),
    make: (device, body, bindGroupLayouts) => device.createPipelineLayout({ ...body, bindGroupLayouts }),
  },
  [KIND.bindGroup]: {
    members: { entries: isEntries },
    barred: ["layout"],
    refs: (body) => [KIND.bindGroupLayout, ...body.entries.map(() => RESOURCE)],
    make: makeBindGroup,
  },
  [KIND.computePipeline]: {
    members: { compute: isObject },
    barred: ["layout", "compute.module"],
    refs: () => [KIND.pipelineLayout | OPTIONAL, KIND.module],
    make: (device, body, [layout, module]) =>
      device.createComputePipeline({ ...body, layout: layoutOrAuto(layout), compute: { ...body.compute, module } }),
  },
  [KIND.renderPipeline]: {
    members: { vertex: isObject, fragment: isObjectOrAbsent },
    barred: ["layout", "vertex.module", "fragment.module"],
    // A fragment stage is there when, and only when, its module is.
    refs: (body) => [
      KIND.pipelineLayout | OPTIONAL,
      KIND.module,
      body.fragment === undefined ? NOTHING : KIND.module,
    ],
    make: makeRenderPipeline,
  },
};

/** @param {any} device @param {any} body @param {any[]} refs @param {any[]} entries */
function makeBindGroup(device, body, [layout, ...resources], [, ...rows]) {
  const entries = body.entries.map((/** @type {any} */ { binding, offset, size }, /** @type {number} */ i) => {
    const whole = rows[i].kind === KIND.buffer ? present({ buffer: resources[i], offset, size }) : resources[i];
    return { binding, resource: whole };
  });
  return device.createBindGroup({ ...body, layout, entries });
}

/** @param {any} device @param {any} body @param {any[]} refs */
function makeRenderPipeline(device, body, [layout, vertexModule, fragmentModule]) {
  return device.createRenderPipeline(present({
    ...body,
    layout: layoutOrAuto(layout),
    vertex: { ...body.vertex, module: vertexModule },
    fragment: body.fragment && { ...body.fragment, module: fragmentModule },
  }));
}

/** Of objects and arrays in a body, the body included. */
const MAX_DEPTH = 127;

/**
 * Whether JSON's value holds only what section 7 lets stand: finite numbers, whole strings, and nothing too deep.
 * @param {any} value
 * @param {number} depth how many more levels there may be
 * @returns {boolean}
 */
function isPlain(value, depth) {
  if (isNumber(value)) return Number.isFinite(value);
  if (isString(value)) return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  if (isArray(value)) return value.every((/** @type {any} */ member) => isPlain(member, depth - 1));
  return Object.keys(value).every((name) => name.isWellFormed() && isPlain(value[name], depth - 1));
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The body as an object, null when it is no UTF-8 JSON of one. @param {Uint8Array} bytes */
function parseBody(bytes) {
  try {
    const body = JSON.parse(UTF8.decode(bytes));
    return isObject(body) && isPlain(body, MAX_DEPTH) ? body : null;
  } catch {
    return null;
  }
}

/** @param {any} body @param {string} path */
function has(body, path) {
  const names = path.split(".");
  const last = names.pop();
  const owner = names.reduce((value, name) => value?.[name], body);
  return isObject(owner) && Object.hasOwn(owner, String(last));
}

/** @param {any} body @param {Pick<Maker, "members" | "barred">} maker */
function isBody(body, { members, barred }) {
  return body !== null && !barred.some((path) => has(body, path)) &&
    Object.entries(members).every(([name, holds]) => holds(body[name]));
}

/**
 * Whether the references are as many as the codes, with a 0 only where one may be.
 * @param {number[]} refs
 * @param {number[]} codes
 */
function areReferences(refs, codes) {
  return refs.length === codes.length &&
    refs.every((ref, i) => codes[i] === NOTHING ? ref === 0 : ref !== 0 || (codes[i] & OPTIONAL) !== 0);
}

/**
 * The first reference that does not name an object of its kind, or -1. A reference reaches only rows before its own.
 * @param {Table} table
 * @param {number[]} refs
 * @param {number[]} codes
 */
function wrongReference(table, refs, codes) {
  return refs.findIndex((ref, i) => {
    if (ref === 0) return false;
    const kind = table.get(ref)?.kind ?? 0;
    return codes[i] === RESOURCE ? !RESOURCE_KINDS.includes(kind) : kind !== (codes[i] & ~OPTIONAL);
  });
}

/**
 * The object of one row, or why it is not made.
 * @param {any} device
 * @param {Table} table
 * @param {ObjectRow} row
 * @returns {{ object: any } | Omit<ObjectRefusal, "row" | "id">}
 */
function makeObject(device, table, { kind, descriptor }) {
  const parts = splitDescriptor(descriptor);
  if (parts.reason !== null) return { reason: parts.reason };
  const body = parseBody(parts.body);
  if (kind === KIND.bundle) return makeBundle(device, table, parts.refs, body);
  const maker = MAKERS[kind];
  if (maker === undefined || !isBody(body, maker)) return { reason: "bad-descriptor" };
  const codes = maker.refs(body, parts.refs.length);
  if (!areReferences(parts.refs, codes)) return { reason: "bad-descriptor" };
  const reference = wrongReference(table, parts.refs, codes);
  if (reference >= 0) return { reason: "wrong-kind", reference };
  const entries = parts.refs.map((ref) => table.get(ref) ?? null);
  return attempt(() => maker.make(device, body, entries.map((entry) => entry?.object ?? null), entries));
}

/**
 * @param {() => any} make
 * @returns {{ object: any } | { reason: string, error: unknown }}
 */
function attempt(make) {
  try {
    return { object: make() };
  } catch (error) {
    return { reason: "threw", error };
  }
}

const BUNDLE_BODY = { members: { colorFormats: isArray, words: isWords }, barred: [] };

/**
 * A render bundle: its words are decoded, the positions in them replaced by the references, and their calls made.
 * @param {any} device
 * @param {Table} table
 * @param {number[]} refs
 * @param {any} body
 * @returns {{ object: any } | Omit<ObjectRefusal, "row" | "id">}
 */
function makeBundle(device, table, refs, body) {
  if (!isBody(body, BUNDLE_BODY)) return { reason: "bad-descriptor" };
  const { words: numbers, ...descriptor } = body;
  const words = Uint32Array.from(numbers);
  const { starts, refusal } = decodeBundle(words, (position) => refs[position - 1]);
  if (refusal !== null) return refusal;
  const player = new Player(device, table, words, new Uint8Array(0));
  const opened = attempt(() => player.pass = device.createRenderBundleEncoder(descriptor));
  if ("reason" in opened) return opened;
  return player.run(starts) ?? attempt(() => player.pass.finish());
}

/**
 * Makes the objects of a table, row by row, and adds them to `table`. A row that is refused makes no object; its id
 * then names nothing, and the rows after it are still made.
 * @param {any} device
 * @param {ObjectRow[]} rows
 * @param {Table} table
 * @returns {{ table: Table, refused: ObjectRefusal[] }}
 */
export function makeObjects(device, rows, table = new Map()) {
  /** @type {ObjectRefusal[]} */
  const refused = [];
  rows.forEach((row, index) => {
    const made = row.id === 0 ? { reason: "zero-id" } : makeObject(device, table, row);
    table.delete(row.id);
    if ("reason" in made) refused.push({ row: index, id: row.id, ...made });
    else table.set(row.id, { kind: row.kind, object: made.object });
  });
  return { table, refused };
}
