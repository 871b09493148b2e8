/** Section 3: on random streams nothing throws, and Remap that grants every id answers what Decode answers. */
import assert from "node:assert/strict";
import { checkRanges, decode, decodeBundle, remapReads } from "../replay.js";
import { words } from "./helpers.js";

const STREAMS = 20000;
const DATA_LENGTH = 64;
const EDGES = [0, 1, 2, 3, 4, 8, 9, 64, 0x1fffff, 0x200000, 0x7f800000, 0x80000000, 0xffffffff];

/** Well-formed pieces, to be put together at random. */
const PIECES = [
  [20, 1, 5, 0, 2, 1, 0, 0, 0, 0, 1, 6, 0, 1, 0, 1, 0, 0, 0, 0],
  [22],
  [21],
  [21],
  [1, 7],
  [2, 0, 8, 1, 256],
  [3, 1, 1, 0, 0],
  [5, 0, 1, 0, 0, 0, 0],
  [6, 1, 2, 0, 0, 0, 0],
  [11, 1, 9],
  [12, 1, 0, 0],
  [23, 1, 2, 3],
  [24, 1, 0, 0],
  [30, 1, 0, 0, 0, 8],
  [31, 1, 0, 0, 2, 0, 0, 4, 0],
  [32, 3, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1, 1, 1],
  [33, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0, 4, 1, 1, 1, 1],
  [34, 1, 0, 0, 4, 0],
  [40],
];

/** Numbers below `bound` from a seed, the same in every run (mulberry32). @param {number} seed */
function randomFrom(seed) {
  return (/** @type {number} */ bound) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** Some pieces, one word of them perhaps changed, the end perhaps cut off. @param {(bound: number) => number} random */
function randomStream(random) {
  const pieces = Array.from({ length: random(8) }, () => PIECES[random(PIECES.length)]);
  const stream = words(pieces);
  if (random(2) === 0 && stream.length > 0) stream[random(stream.length)] = EDGES[random(EDGES.length)];
  return random(4) === 0 ? stream.subarray(0, random(stream.length + 1)) : stream;
}

Deno.test("Decode and Remap agree on random streams", () => {
  const random = randomFrom(1);
  let accepted = 0;
  for (let i = 0; i < STREAMS; i++) {
    const stream = randomStream(random);
    const decoded = decode(stream, DATA_LENGTH);
    const remapped = remapReads(stream.slice(), DATA_LENGTH, (id) => id ^ 0x40000000);
    assert.deepEqual(remapped.starts, decoded.starts, `stream ${i}`);
    assert.deepEqual(remapped.refusal, decoded.refusal, `stream ${i}`);
    decodeBundle(stream);
    if (decoded.refusal !== null) continue;
    accepted++;
    checkRanges(stream, decoded.starts, (id) => id, 2);
  }
  assert.ok(accepted > STREAMS / 50 && accepted < STREAMS, `${accepted} accepted`);
});
