/** Sections 2 and 3: Decode. */
import assert from "node:assert/strict";
import { commandName, decode, decodeBundle } from "../replay.js";
import { BEGIN_COMPUTE, BEGIN_RENDER, COLOR, DEPTH, END, f32, MAX_SAFE, SUBMIT, u64, words } from "./helpers.js";

const NAN = 0x7fc00000;
const SIGNALLING_NAN = 0x7f800001;
const INFINITY = 0x7f800000;
const MINUS_INFINITY = 0xff800000;
const MINUS_ZERO = 0x80000000;
const SUBNORMAL = 1;
const LARGEST = 0x7f7fffff;

const DATA_LENGTH = 64;

/**
 * One well-formed command of every opcode: its name, where it may stand, its words.
 * @type {Record<number, [string, string, number[]]>}
 */
const SAMPLES = {
  1: ["SetPipeline", "RCB", [1, 7]],
  2: ["SetBindGroup", "RCB", [2, 0, 8, 2, 256, 512]],
  3: ["Draw", "RB", [3, 1, 2, 3, 4]],
  4: ["DrawIndexed", "RB", [4, 1, 2, 3, 0xffffffff, 5]],
  5: ["SetVertexBuffer", "RB", [5, 0, 1, ...u64(4), ...u64(8)]],
  6: ["SetIndexBuffer", "RB", [6, 1, 2, ...u64(4), ...u64(8)]],
  7: ["SetViewport", "R", [7, f32(0), f32(0), f32(8), f32(8), f32(0), f32(1)]],
  8: ["SetScissorRect", "R", [8, 0, 0, 4, 4]],
  9: ["SetBlendConstant", "R", [9, f32(0), f32(0.5), f32(1), f32(-1)]],
  10: ["SetStencilReference", "R", [10, 0xffffffff]],
  11: ["ExecuteBundles", "R", [11, 2, 3, 4]],
  12: ["DrawIndirect", "RB", [12, 1, ...u64(4)]],
  13: ["DrawIndexedIndirect", "RB", [13, 1, ...u64(4)]],
  20: ["BeginRenderPass", "T", [20, 1, ...COLOR, 1, ...DEPTH]],
  21: ["EndPass", "RC", [21]],
  22: ["BeginComputePass", "T", [22]],
  23: ["Dispatch", "C", [23, 1, 2, 3]],
  24: ["DispatchIndirect", "C", [24, 1, ...u64(4)]],
  30: ["WriteBuffer", "TRC", [30, 1, ...u64(8), 4, 8]],
  31: ["CopyBufferToBuffer", "T", [31, 1, ...u64(4), 2, ...u64(8), ...u64(16)]],
  32: ["CopyTextureToTexture", "T", [32, 3, 0, 1, 2, 3, 1, 4, 1, 4, 5, 6, 2, 8, 8, 1]],
  33: ["WriteTexture", "TRC", [33, 3, 0, 1, 2, 3, 0, 16, 32, ...u64(4), 256, 0xffffffff, 2, 2, 1]],
  34: ["ReadBuffer", "TRC", [34, 1, ...u64(8), 16, 32]],
  40: ["Submit", "T", [40]],
};

/** @type {Record<string, number[]>} */
const PREFIX = { T: [], R: BEGIN_RENDER, C: BEGIN_COMPUTE, B: [] };

/** @param {string} context @param {number[]} command */
function inContext(context, command) {
  const stream = words(PREFIX[context], command);
  return context === "B" ? decodeBundle(stream) : decode(stream, DATA_LENGTH);
}

/**
 * The refusal of a command, its word counted from the command's opcode.
 * @param {string} context
 * @param {number[]} command
 */
function refusalOf(context, command) {
  const { refusal } = inContext(context, command);
  if (refusal === null) return null;
  return [refusal.word - PREFIX[context].length, refusal.op, refusal.reason];
}

/**
 * A sample with some words replaced.
 * @param {number} op
 * @param {Record<number, number>} changes
 */
function changed(op, changes) {
  const command = SAMPLES[op][2].slice();
  for (const [at, word] of Object.entries(changes)) command[Number(at)] = word;
  return command;
}

/** @param {number} op */
const homeOf = (op) => SAMPLES[op][1][0];

/**
 * Whether the sample of `op` is refused only for the pass that is still open.
 * @param {string} context
 * @param {number[]} command
 */
function accepts(context, command) {
  const { starts, refusal } = inContext(context, command);
  return starts.at(-1) === PREFIX[context].length && (refusal === null || refusal.reason === "open-pass");
}

Deno.test("every opcode stands where the table says, and nowhere else", () => {
  for (const [key, [name, where, command]] of Object.entries(SAMPLES)) {
    const op = Number(key);
    assert.equal(commandName(op), name);
    for (const context of "TRCB") {
      if (where.includes(context)) assert.ok(accepts(context, command), `${name} in ${context}`);
      else assert.deepEqual(refusalOf(context, command), [0, op, "wrong-context"], `${name} in ${context}`);
    }
  }
});

Deno.test("unknown-op: every other opcode, without an op in the refusal", () => {
  const others = [0, 14, 15, 19, 25, 29, 35, 39, 41, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff];
  for (const op of others) {
    for (const context of "TRCB") assert.deepEqual(refusalOf(context, [op]), [0, 0, "unknown-op"]);
  }
});

Deno.test("truncated: every command cut at every word", () => {
  for (const [key, [name, where, command]] of Object.entries(SAMPLES)) {
    for (let length = 1; length < command.length; length++) {
      const cut = command.slice(0, length);
      for (const context of where) {
        assert.deepEqual(refusalOf(context, cut), [0, Number(key), "truncated"], `${name} of ${length} words`);
      }
    }
  }
});

Deno.test("an accepted stream gives the word of every opcode", () => {
  const stream = words(SAMPLES[30][2], BEGIN_COMPUTE, SAMPLES[23][2], END, SUBMIT, SAMPLES[31][2]);
  assert.deepEqual({ ...decode(stream, DATA_LENGTH) }.starts, [0, 6, 7, 11, 12, 13]);
  assert.equal(decode(stream, DATA_LENGTH).refusal, null);
  assert.deepEqual(decode(words(), 0).starts, []);
  assert.equal(decode(words(), 0).refusal, null);
});

Deno.test("commands before a refusal are listed, and the first refusal wins", () => {
  const { starts, refusal } = decode(words(SUBMIT, SUBMIT, 99, 98), 0);
  assert.deepEqual(starts, [0, 1]);
  assert.deepEqual(refusal, { word: 2, op: 0, reason: "unknown-op" });
});

Deno.test("the words are left as they are", () => {
  const stream = words(SAMPLES[31][2]);
  decode(stream, 0);
  assert.deepEqual(Array.from(stream), SAMPLES[31][2]);
});

Deno.test("offsets: the limit is 65536", () => {
  for (const count of [0, 65535, 65536]) {
    assert.ok(accepts("R", [2, 0, 8, count, ...new Array(count).fill(0)]), `${count}`);
  }
  assert.deepEqual(refusalOf("R", [2, 0, 8, 65537, ...new Array(65537).fill(0)]), [3, 2, "too-many"]);
  assert.deepEqual(refusalOf("B", [2, 0, 8, 0xffffffff]), [3, 2, "too-many"]);
});

Deno.test("bundles: the limit is 65536", () => {
  for (const count of [0, 65535, 65536]) assert.ok(accepts("R", [11, count, ...new Array(count).fill(9)]), `${count}`);
  assert.deepEqual(refusalOf("R", [11, 65537, ...new Array(65537).fill(9)]), [1, 11, "too-many"]);
});

Deno.test("colors: the limit is 8", () => {
  for (const count of [0, 7, 8]) {
    assert.ok(accepts("T", [20, count, ...new Array(count).fill(COLOR).flat(), 0]), `${count}`);
  }
  assert.deepEqual(refusalOf("T", [20, 9, ...new Array(9).fill(COLOR).flat(), 0]), [1, 20, "too-many"]);
});

Deno.test("zero-id: every id that must not be 0", () => {
  const bad = [[1, 1], [6, 1], [11, 2], [11, 3], [12, 1], [13, 1], [20, 11], [24, 1], [30, 1], [31, 1], [31, 4]];
  bad.push([32, 1], [32, 7], [33, 1], [34, 1]);
  for (const [op, at] of bad) {
    assert.deepEqual(refusalOf(homeOf(op), changed(op, { [at]: 0 })), [at, op, "zero-id"], `op ${op}`);
  }
});

Deno.test("an id? may be 0", () => {
  for (const [op, at] of [[2, 2], [5, 2], [20, 2], [20, 3]]) {
    assert.ok(accepts(homeOf(op), changed(op, { [at]: 0 })), `op ${op}`);
  }
});

Deno.test("bad-enum: values below, in and above each range", () => {
  /** op, word, least, greatest @type {[number, number, number, number][]} */
  const enumerations = [
    [6, 2, 1, 2],
    [20, 4, 1, 2],
    [20, 5, 1, 2],
    [20, 12, 0, 2],
    [20, 13, 0, 2],
    [20, 16, 0, 2],
    [20, 17, 0, 2],
    [32, 6, 0, 3],
    [32, 12, 0, 3],
    [33, 6, 0, 3],
  ];
  for (const [op, at, least, greatest] of enumerations) {
    for (const value of [0, 1, 2, 3, 4, 0x80000000, 0xffffffff]) {
      const refusal = refusalOf(homeOf(op), changed(op, { [at]: value }));
      const expected = value >= least && value <= greatest;
      if (expected) assert.ok(refusal === null || refusal[2] === "open-pass", `op ${op} word ${at} value ${value}`);
      else assert.deepEqual(refusal, [at, op, "bad-enum"], `op ${op} word ${at} value ${value}`);
    }
  }
});

Deno.test("bad-flag: hasDepth, depthReadOnly, stencilReadOnly", () => {
  for (const at of [10, 15, 19]) {
    for (const value of [2, 0x80000000, 0xffffffff]) {
      assert.deepEqual(refusalOf("T", changed(20, { [at]: value })), [at, 20, "bad-flag"]);
    }
  }
  for (const at of [15, 19]) {
    for (const value of [0, 1]) assert.ok(accepts("T", changed(20, { [at]: value })));
  }
});

Deno.test("non-finite: NaN and infinities, no other bits", () => {
  const floats = [[7, 1], [7, 2], [7, 3], [7, 4], [7, 5], [7, 6], [9, 1], [9, 2], [9, 3], [9, 4]];
  floats.push([20, 6], [20, 7], [20, 8], [20, 9], [20, 14]);
  for (const [op, at] of floats) {
    for (const bits of [NAN, SIGNALLING_NAN, INFINITY, MINUS_INFINITY, 0xffffffff]) {
      assert.deepEqual(refusalOf(homeOf(op), changed(op, { [at]: bits })), [at, op, "non-finite"], `op ${op}`);
    }
    for (const bits of [0, MINUS_ZERO, SUBNORMAL, 0x807fffff, LARGEST, 0xff7fffff]) {
      assert.ok(accepts(homeOf(op), changed(op, { [at]: bits })), `op ${op} bits ${bits}`);
    }
  }
});

Deno.test("unsafe-integer: every u64 past 2^53 - 1, named by its low word", () => {
  const wide = [[5, 3], [5, 5], [6, 3], [6, 5], [12, 2], [13, 2], [24, 2], [30, 2], [31, 2], [31, 5], [31, 7], [33, 9]];
  for (const [op, at] of [...wide, [34, 2]]) {
    for (const value of [2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
      const [low, high] = u64(value);
      assert.deepEqual(refusalOf(homeOf(op), changed(op, { [at]: low, [at + 1]: high })), [at, op, "unsafe-integer"]);
    }
  }
  for (const [op, at] of wide) {
    const [low, high] = u64(MAX_SAFE);
    assert.ok(accepts(homeOf(op), changed(op, { [at]: low, [at + 1]: high })), `op ${op}`);
  }
  // A read's offset is a multiple of 8.
  const [low, high] = u64(MAX_SAFE - 7);
  assert.ok(accepts("T", changed(34, { 2: low, 3: high })));
});

Deno.test("words without a rule take any value", () => {
  const free = [[2, 1], [3, 1], [3, 4], [4, 4], [5, 1], [8, 1], [8, 4], [10, 1], [20, 18], [23, 1], [32, 2], [32, 15]];
  for (const [op, at] of [...free, [33, 2], [33, 11], [33, 12], [33, 15], [2, 4]]) {
    assert.ok(accepts(homeOf(op), changed(op, { [at]: 0xffffffff })), `op ${op} word ${at}`);
  }
});

Deno.test("a hole's other words are still checked", () => {
  const hole = (/** @type {Record<number, number>} */ changes) => changed(20, { 2: 0, ...changes });
  assert.ok(accepts("T", hole({})));
  assert.deepEqual(refusalOf("T", hole({ 4: 0 })), [4, 20, "bad-enum"]);
  assert.deepEqual(refusalOf("T", hole({ 5: 3 })), [5, 20, "bad-enum"]);
  assert.deepEqual(refusalOf("T", hole({ 9: NAN })), [9, 20, "non-finite"]);
});

Deno.test("data-range: the exact sum against the data's length", () => {
  for (const [op, at] of [[30, 4], [33, 7]]) {
    const ranged = (/** @type {number} */ offset, /** @type {number} */ length) =>
      refusalOf("T", changed(op, { [at]: offset, [at + 1]: length }));
    for (const [offset, length] of [[0, 64], [60, 4], [64, 0], [0, 0]]) assert.equal(ranged(offset, length), null);
    for (const [offset, length] of [[0, 68], [64, 4], [61, 4], [65, 0], [0xffffffff, 4], [4, 0xfffffffc]]) {
      assert.deepEqual(ranged(offset, length), [at, op, "data-range"], `${offset} ${length}`);
    }
  }
  assert.equal(decode(words(30, 1, 0, 0, 0, 0), 0).refusal, null);
});

Deno.test("write-size: WriteBuffer's length alone is a multiple of 4", () => {
  for (const length of [1, 2, 3, 63]) {
    assert.deepEqual(refusalOf("T", changed(30, { 4: 0, 5: length })), [5, 30, "write-size"]);
    assert.equal(refusalOf("T", changed(33, { 7: 0, 8: length })), null);
  }
});

Deno.test("ReadBuffer: alignment, size and window", () => {
  for (const offset of [1, 4, 7, 12]) {
    assert.deepEqual(refusalOf("T", changed(34, { 2: offset })), [2, 34, "read-alignment"]);
  }
  for (const size of [0, 1, 2, 6, 0xffffffff]) {
    assert.deepEqual(refusalOf("T", changed(34, { 4: size })), [4, 34, "read-size"]);
  }
  const limit = 64 * 1024 * 1024;
  const window = (/** @type {number} */ size, /** @type {number} */ offset) =>
    refusalOf("T", changed(34, { 4: size, 5: offset }));
  for (const [size, offset] of [[limit, 0], [4, limit - 4], [4, limit - 5]]) assert.equal(window(size, offset), null);
  for (const [size, offset] of [[limit, 1], [4, limit - 3], [limit + 4, 0], [4, 0xfffffffc], [0xfffffffc, 4]]) {
    assert.deepEqual(window(size, offset), [5, 34, "read-window"], `${size} ${offset}`);
  }
});

Deno.test("of two faults in a command the earlier check wins", () => {
  /** @type {[string, number[], [number, number, string]][]} */
  const pairs = [
    ["T", [3], [0, 3, "wrong-context"]], // 2 before 3
    ["T", [11, 65537], [0, 11, "wrong-context"]], // 2 before 4
    ["R", [6, 0, 9], [0, 6, "truncated"]], // 3 before 7
    ["R", [2, 0, 8], [0, 2, "truncated"]],
    ["R", [11, 65537, 0], [1, 11, "too-many"]], // 4 before 5
    ["T", [20, 9, 0], [1, 20, "too-many"]],
    ["R", [11, 2, 0], [0, 11, "truncated"]], // 5 before 7
    ["T", [20, 1, ...changed(20, { 4: 0 }).slice(2, 10)], [0, 20, "truncated"]], // 5 before 7: no hasDepth word
    ["T", [20, 0, 2], [2, 20, "bad-flag"]], // 6: the flag before the depth words
    ["T", changed(20, { 4: 0, 10: 2 }), [10, 20, "bad-flag"]], // 6 before 7
    ["T", changed(20, { 4: 0 }).slice(0, 19), [0, 20, "truncated"]], // 6 before 7
    ["T", changed(20, { 4: 9, 5: 9 }), [4, 20, "bad-enum"]], // 7 in word order
    ["T", changed(20, { 9: NAN, 11: 0 }), [9, 20, "non-finite"]],
    ["T", changed(20, { 11: 0, 12: 9 }), [11, 20, "zero-id"]],
    ["T", changed(20, { 14: NAN, 15: 2 }), [14, 20, "non-finite"]],
    ["T", changed(31, { 3: 0xffffffff, 4: 0 }), [2, 31, "unsafe-integer"]],
    ["T", changed(31, { 4: 0, 6: 0xffffffff }), [4, 31, "zero-id"]],
    ["T", changed(30, { 1: 0, 4: 999 }), [1, 30, "zero-id"]], // 7 before 8
    ["T", changed(30, { 3: 0xffffffff, 4: 999 }), [2, 30, "unsafe-integer"]],
    ["T", changed(33, { 7: 999, 10: 0xffffffff }), [9, 33, "unsafe-integer"]], // 7 before 8 against word order
    ["T", changed(30, { 4: 999, 5: 3 }), [4, 30, "data-range"]], // 8 before 9
    ["T", changed(34, { 1: 0, 2: 4 }), [1, 34, "zero-id"]], // 7 before 10
    ["T", changed(34, { 2: 4, 3: 0xffffffff }), [2, 34, "unsafe-integer"]],
    ["T", changed(34, { 2: 4, 4: 0 }), [2, 34, "read-alignment"]], // 10 in its own order
    ["T", changed(34, { 4: 1, 5: 0xffffffff }), [4, 34, "read-size"]],
  ];
  for (const [context, command, expected] of pairs) {
    assert.deepEqual(refusalOf(context, command), expected, `${command}`);
  }
});

Deno.test("open-pass names the Begin that is open", () => {
  assert.deepEqual(decode(words(SUBMIT, BEGIN_COMPUTE), 0).refusal, { word: 1, op: 22, reason: "open-pass" });
  const second = words(BEGIN_COMPUTE, END, BEGIN_RENDER, [10, 3]);
  assert.deepEqual(decode(second, 0).refusal, { word: 2, op: 20, reason: "open-pass" });
  assert.deepEqual(decode(second, 0).starts, [0, 1, 2, 5]);
  // A fault in a command comes before it.
  assert.deepEqual(decode(words(BEGIN_COMPUTE, 23, 1), 0).refusal, { word: 1, op: 23, reason: "truncated" });
  assert.deepEqual(decode(words(BEGIN_COMPUTE, 22), 0).refusal, { word: 1, op: 22, reason: "wrong-context" });
});

Deno.test("a pass that was ended may be followed by another, and its commands stand there no more", () => {
  assert.equal(decode(words(BEGIN_RENDER, END, BEGIN_COMPUTE, END, SUBMIT, SUBMIT), 0).refusal, null);
  const after = decode(words(BEGIN_RENDER, END, 10, 3), 0).refusal;
  assert.deepEqual(after, { word: 4, op: 10, reason: "wrong-context" });
  assert.deepEqual(decode(words(END), 0).refusal, { word: 0, op: 21, reason: "wrong-context" });
});

Deno.test("a bundle's words leave no pass open", () => {
  assert.deepEqual({ ...decodeBundle(words(1, 1, 3, 3, 1, 0, 0)) }.starts, [0, 2]);
  assert.equal(decodeBundle(words(1, 1, 3, 3, 1, 0, 0)).refusal, null);
  assert.equal(decodeBundle(words()).refusal, null);
});
