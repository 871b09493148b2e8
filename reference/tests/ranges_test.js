/** Sections 5 and 6: CheckRanges and the check of the reads. */
import assert from "node:assert/strict";
import { checkRanges, checkReads, decode } from "../replay.js";
import { BEGIN_COMPUTE, BEGIN_RENDER, END, MAX_SAFE, SUBMIT, u64, words } from "./helpers.js";

const TOP = 2n ** 64n - 1n;

/** @param {Record<number, number | bigint>} sizes @param {Uint32Array} stream @param {number} bound */
function check(stream, sizes, bound = 0) {
  const { starts, refusal } = decode(stream, 1024);
  assert.equal(refusal, null);
  return checkRanges(stream, starts, (id) => sizes[id], bound);
}

/** @param {number} command @param {number} op */
const outOfRange = (command, op) => ({ command, op, reason: "out-of-range" });

/** @param {number} command @param {number} op */
const notABuffer = (command, op) => ({ command, op, reason: "not-a-buffer" });

Deno.test("WriteBuffer", () => {
  const write = (/** @type {number} */ offset, /** @type {number} */ length) => words(30, 1, u64(offset), 0, length);
  assert.equal(check(write(8, 8), { 1: 16 }), null);
  assert.equal(check(write(16, 0), { 1: 16 }), null);
  assert.deepEqual(check(write(9, 8), { 1: 16 }), outOfRange(0, 30));
  assert.deepEqual(check(write(17, 0), { 1: 16 }), outOfRange(0, 30));
  assert.deepEqual(check(write(0, 0), {}), notABuffer(0, 30));
});

Deno.test("sums are exact past 2^53", () => {
  const copy = words(31, 1, u64(MAX_SAFE), 2, u64(MAX_SAFE), u64(MAX_SAFE));
  const sum = 2n ** 54n - 2n;
  assert.equal(check(copy, { 1: sum, 2: sum }), null);
  assert.equal(check(copy, { 1: sum + 1n, 2: TOP }), null);
  assert.deepEqual(check(copy, { 1: sum - 1n, 2: sum }), outOfRange(0, 31));
  const write = words(30, 1, u64(MAX_SAFE), 0, 4);
  assert.equal(check(write, { 1: 2n ** 53n + 3n }), null);
  assert.deepEqual(check(write, { 1: 2n ** 53n + 2n }), outOfRange(0, 30));
  assert.deepEqual(check(write, { 1: MAX_SAFE }), outOfRange(0, 30));
});

Deno.test("sums carry from the low word, and compare high words first", () => {
  const write = (/** @type {number} */ offset) => words(30, 1, u64(offset), 0, 8);
  assert.equal(check(write(2 ** 32 - 4), { 1: 2 ** 32 + 4 }), null);
  assert.deepEqual(check(write(2 ** 32 - 4), { 1: 2 ** 32 + 3 }), outOfRange(0, 30));
  assert.deepEqual(check(write(2 ** 32 - 4), { 1: 2 ** 32 - 1 }), outOfRange(0, 30));
  assert.deepEqual(check(write(2 ** 32), { 1: 100 }), outOfRange(0, 30));
  assert.equal(check(write(100), { 1: 2 ** 32 }), null);
  assert.equal(check(write(100), { 1: 2n ** 32n }), null);
});

Deno.test("CopyBufferToBuffer: the source's id and range, then the destination's", () => {
  const copy = words(31, 1, u64(4), 2, u64(8), u64(16));
  assert.equal(check(copy, { 1: 20, 2: 24 }), null);
  assert.deepEqual(check(copy, { 1: 19, 2: 24 }), outOfRange(0, 31));
  assert.deepEqual(check(copy, { 1: 20, 2: 23 }), outOfRange(0, 31));
  assert.deepEqual(check(copy, { 2: 24 }), notABuffer(0, 31));
  assert.deepEqual(check(copy, { 1: 20 }), notABuffer(0, 31));
  assert.deepEqual(check(copy, { 1: 19 }), outOfRange(0, 31)); // before the destination's not-a-buffer
  /** @type {number[]} */
  const asked = [];
  checkRanges(copy, [0], (id) => {
    asked.push(id);
    return 19;
  });
  assert.deepEqual(asked, [1]);
});

Deno.test("indirect arguments take 12, 16 and 20 bytes", () => {
  /** @type {[number, number[], number][]} */
  const indirect = [[24, BEGIN_COMPUTE, 12], [12, BEGIN_RENDER, 16], [13, BEGIN_RENDER, 20]];
  for (const [op, begin, bytes] of indirect) {
    const stream = words(begin, op, 1, u64(8), END);
    assert.equal(check(stream, { 1: 8 + bytes }), null);
    assert.deepEqual(check(stream, { 1: 7 + bytes }), outOfRange(1, op));
    assert.deepEqual(check(stream, {}), notABuffer(1, op));
  }
  const far = words(BEGIN_COMPUTE, 24, 1, u64(MAX_SAFE), END);
  assert.equal(check(far, { 1: 2n ** 53n + 11n }), null);
  assert.deepEqual(check(far, { 1: 2n ** 53n + 10n }), outOfRange(1, 24));
});

Deno.test("Dispatch: each dimension at most the bound, 0 meaning 65535", () => {
  const dispatch = (/** @type {number[]} */ ...sizes) => words(BEGIN_COMPUTE, 23, sizes, END);
  const refused = { command: 1, op: 23, reason: "too-many-workgroups" };
  assert.equal(check(dispatch(65535, 65535, 65535), {}), null);
  for (const sizes of [[65536, 1, 1], [1, 65536, 1], [1, 1, 65536], [0xffffffff, 0, 0]]) {
    assert.deepEqual(check(dispatch(...sizes), {}), refused);
    assert.deepEqual(check(dispatch(...sizes), {}, 65535), refused);
  }
  assert.equal(check(dispatch(8, 8, 8), {}, 8), null);
  assert.deepEqual(check(dispatch(8, 9, 8), {}, 8), refused);
  assert.equal(check(dispatch(0xffffffff, 0xffffffff, 0xffffffff), {}, 0xffffffff), null);
});

Deno.test("the first refusal in command order wins, after the last Submit too", () => {
  const stream = words(SUBMIT, 30, 1, u64(0), 0, 4, 30, 2, u64(0), 0, 8);
  assert.equal(check(stream, { 1: 4, 2: 8 }), null);
  assert.deepEqual(check(stream, { 1: 4, 2: 4 }), outOfRange(2, 30));
  assert.deepEqual(check(stream, {}), notABuffer(1, 30));
});

Deno.test("other commands' buffers are not looked at", () => {
  const stream = words(BEGIN_RENDER, 5, 0, 9, u64(0), u64(0), 6, 9, 1, u64(0), u64(0), END, 34, 9, u64(0), 4, 0);
  assert.equal(check(stream, {}), null);
});

Deno.test("reads: the checks and their order", () => {
  const read = { id: 1, offset: 8, size: 8, windowOffset: 4 };
  const buffer = { size: 16, usage: 9 };
  /** @param {{ size: number | bigint, usage: number } | undefined} of @param {number} window */
  const reasonOf = (of, window) => checkReads([read], () => of, window)?.reason ?? null;
  assert.equal(reasonOf(buffer, 12), null);
  assert.equal(reasonOf(undefined, 0), "not-a-buffer");
  assert.equal(reasonOf({ size: 0, usage: 8 }, 0), "no-map-read");
  assert.equal(reasonOf({ size: 15, usage: 1 }, 0), "out-of-range");
  assert.equal(reasonOf(buffer, 11), "past-window");
});

Deno.test("reads: exact sums, and the first refusal by its index", () => {
  const far = { id: 1, offset: 2 ** 53 - 8, size: 0xfffffffc, windowOffset: 0 };
  const sum = 2n ** 53n - 8n + 0xfffffffcn;
  const window = 0xffffffff;
  assert.equal(checkReads([far], () => ({ size: sum, usage: 1 }), window), null);
  const short = checkReads([far], () => ({ size: sum - 1n, usage: 1 }), window);
  assert.deepEqual(short, { read: 0, reason: "out-of-range" });
  const near = { id: 2, offset: 0, size: 4, windowOffset: 0 };
  const of = (/** @type {number} */ id) => id === 2 ? { size: 4, usage: 1 } : undefined;
  assert.deepEqual(checkReads([near, near, far, far], of, 4), { read: 2, reason: "not-a-buffer" });
  const high = { id: 2, offset: 0, size: 4, windowOffset: 0xfffffffc };
  assert.deepEqual(checkReads([high], of, window), { read: 0, reason: "past-window" });
  assert.equal(checkReads([], of, 0), null);
});
