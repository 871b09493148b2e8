/** Sections 3 and 6: Remap and RemapReads. */
import assert from "node:assert/strict";
import { decodeBundle, remap, remapReads } from "../replay.js";
import { BEGIN_RENDER, COLOR, DEPTH, END, f32, u64, words } from "./helpers.js";

/** @param {number} id */
const addHundred = (id) => id + 100;

/** A stream with every id argument; the ids count from 1, with every id? set once and 0 once. */
const ALL_IDS = [
  [20, 2, [1, 2, 2, 1, 0, 0, 0, 0], [0, 3, 1, 2, 0, 0, 0, 0], 1, [4, 0, 0, 0, 0, 0, 0, 0, 0]],
  [1, 5, 2, 0, 6, 1, 77, 2, 1, 0, 0],
  [5, 0, 7, 0, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0],
  [6, 8, 1, 0, 0, 0, 0, 11, 2, 9, 10, 12, 11, 0, 0, 13, 12, 0, 0, 21],
  [22, 24, 13, 0, 0, 21],
  [30, 14, 0, 0, 0, 0, 31, 15, 0, 0, 16, 0, 0, 0, 0],
  [32, 17, 0, 0, 0, 0, 0, 18, 0, 0, 0, 0, 0, 1, 1, 1],
  [33, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 34, 20, 0, 0, 4, 0, 40],
];

Deno.test("every id is asked once, in word order, and never 0", () => {
  /** @type {number[]} */
  const asked = [];
  const result = remap(words(ALL_IDS), 0, (id) => {
    asked.push(id);
    return id;
  });
  assert.equal(result.refusal, null);
  assert.deepEqual(asked, Array.from({ length: 20 }, (_, i) => i + 1));
});

Deno.test("every id is rewritten, and no other word", () => {
  const before = words(ALL_IDS);
  const after = words(ALL_IDS);
  const places = new Set();
  remap(words(ALL_IDS), 0, addHundred);
  assert.equal(remap(after, 0, addHundred).refusal, null);
  before.forEach((word, i) => {
    if (after[i] !== word) places.add(i);
    assert.ok(after[i] === word || after[i] === word + 100);
  });
  assert.equal(places.size, 20);
});

Deno.test("an id that occurs twice is asked twice", () => {
  const stream = words(31, 7, 0, 0, 7, 0, 0, 0, 0);
  assert.equal(remap(stream, 0, new Map([[7, 9]])).refusal, null);
  assert.deepEqual(Array.from(stream), [31, 9, 0, 0, 9, 0, 0, 0, 0]);
});

Deno.test("unknown-id: not granted, or replaced by 0", () => {
  const stream = () => words(40, 31, 1, 0, 0, 2, 0, 0, 0, 0);
  const refusal = { word: 5, op: 31, reason: "unknown-id" };
  assert.deepEqual(remap(stream(), 0, new Map([[1, 1]])).refusal, refusal);
  assert.deepEqual(remap(stream(), 0, new Map([[1, 1], [2, 0]])).refusal, refusal);
  assert.deepEqual(remap(stream(), 0, (id) => id === 1 ? 1 : undefined).refusal, refusal);
  assert.deepEqual(remap(stream(), 0, (id) => id === 1 ? 1 : 0).refusal, refusal);
  assert.deepEqual(remap(stream(), 0, () => undefined).refusal, { word: 2, op: 31, reason: "unknown-id" });
});

Deno.test("ids take all of a u32", () => {
  const stream = words(31, 0xffffffff, 0, 0, 0x80000000, 0, 0, 0, 0);
  const grant = new Map([[0xffffffff, 0x80000001], [0x80000000, 0xffffffff]]);
  assert.equal(remap(stream, 0, grant).refusal, null);
  assert.deepEqual(Array.from(stream), [31, 0x80000001, 0, 0, 0xffffffff, 0, 0, 0, 0]);
});

Deno.test("the grant has its place in check 7", () => {
  const none = () => undefined;
  /** @type {[number[], { word: number, op: number, reason: string }][]} */
  const cases = [
    // before check 8, after an earlier argument, before a later one
    [[30, 1, 0, 0, 9, 9], { word: 1, op: 30, reason: "unknown-id" }],
    [[34, 1, 4, 0, 0, 0], { word: 1, op: 34, reason: "unknown-id" }],
    [[31, 1, 0, 0xffffffff, 0, 0, 0, 0, 0], { word: 1, op: 31, reason: "unknown-id" }],
    [[20, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0], { word: 3, op: 20, reason: "unknown-id" }],
    [[20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6, 0, 0, 0, 0, 0, 0, 0, 0], { word: 4, op: 20, reason: "bad-enum" }],
    [[31, 0, 0, 0, 2, 0, 0, 0, 0], { word: 1, op: 31, reason: "zero-id" }],
    [[20, 1, 5, 0, 1, 1, 0, 0, 0, 0, 2], { word: 10, op: 20, reason: "bad-flag" }],
    [[30, 1, 0], { word: 0, op: 30, reason: "truncated" }],
  ];
  for (const [stream, refusal] of cases) assert.deepEqual(remap(words(stream), 0, none).refusal, refusal);
});

Deno.test("ids are asked also in a command that a later check refuses", () => {
  /** @type {number[]} */
  const asked = [];
  const grant = (/** @type {number} */ id) => {
    asked.push(id);
    return id;
  };
  assert.equal(remap(words(30, 3, 0, 0, 1, 0), 0, grant).refusal?.reason, "data-range");
  assert.equal(remap(words(31, 4, 0, 0, 5, 0, 0xffffffff, 0, 0), 0, grant).refusal?.reason, "unsafe-integer");
  assert.equal(remap(words(31, 6, 0, 0xffffffff, 7, 0, 0, 0, 0), 0, grant).refusal?.reason, "unsafe-integer");
  assert.deepEqual(asked, [3, 4, 5, 6]);
});

Deno.test("a hole's resolve target is remapped", () => {
  const stream = words(20, 1, [0, 5, ...COLOR.slice(2)], 1, DEPTH, END);
  assert.equal(remap(stream, 0, addHundred).refusal, null);
  assert.deepEqual([stream[2], stream[3], stream[11]], [0, 105, 106]);
});

Deno.test("what Decode refuses Remap refuses alike", () => {
  const stream = words(BEGIN_RENDER, 9, f32(0), 0x7f800000, 0, 0);
  assert.deepEqual(remap(stream, 0, addHundred).refusal, { word: 5, op: 9, reason: "non-finite" });
  assert.deepEqual(remap(words(22), 0, addHundred).refusal, { word: 0, op: 22, reason: "open-pass" });
});

Deno.test("what the grant throws goes through", () => {
  const grant = () => {
    throw new RangeError("the grant's own");
  };
  assert.throws(() => remap(words(31, 1, 0, 0, 2, 0, 0, 0, 0), 0, grant), RangeError);
});

Deno.test("RemapReads gives the reads in order, wherever they stand, with translated ids", () => {
  const stream = words(34, 1, u64(8), 4, 12, 22, 34, 2, u64(2n ** 53n - 8n), 8, 0, 21, 40, 34, 1, u64(0), 16, 64);
  const { reads, refusal } = remapReads(stream, 0, addHundred);
  assert.equal(refusal, null);
  assert.deepEqual(reads, [
    { id: 101, offset: 8, size: 4, windowOffset: 12 },
    { id: 102, offset: 2 ** 53 - 8, size: 8, windowOffset: 0 },
    { id: 101, offset: 0, size: 16, windowOffset: 64 },
  ]);
});

Deno.test("RemapReads of a refused stream gives none", () => {
  const { reads, refusal } = remapReads(words(34, 1, u64(8), 4, 12, 99), 0, addHundred);
  assert.deepEqual(reads, []);
  assert.deepEqual(refusal, { word: 6, op: 0, reason: "unknown-op" });
});

Deno.test("a bundle's words are remapped in context B", () => {
  const stream = words(1, 1, 2, 0, 0, 0, 6, 2, 1, 0, 0, 0, 0);
  assert.equal(decodeBundle(stream, new Map([[1, 40], [2, 50]])).refusal, null);
  assert.deepEqual(Array.from(stream), [1, 40, 2, 0, 0, 0, 6, 50, 1, 0, 0, 0, 0]);
  assert.deepEqual(decodeBundle(words(1, 3), new Map()).refusal, { word: 1, op: 1, reason: "unknown-id" });
});
