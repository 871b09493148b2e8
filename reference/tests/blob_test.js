/** Section 1. */
import assert from "node:assert/strict";
import { parseBlob } from "../replay.js";
import { blob } from "./helpers.js";

/** @param {Uint8Array} bytes */
const reasonOf = (bytes) => parseBlob(bytes).reason;

/** @param {number} at @param {number} value @param {Uint8Array} bytes */
function withWord(bytes, at, value) {
  const copy = bytes.slice();
  new DataView(copy.buffer).setUint32(at, value, true);
  return copy;
}

Deno.test("a blob gives its words and its data", () => {
  const parts = parseBlob(blob([0, 1, 0xffffffff, 0x01020304], [9, 8, 7]));
  assert.equal(parts.reason, null);
  assert.ok("words" in parts);
  assert.deepEqual(Array.from(parts.words), [0, 1, 0xffffffff, 0x01020304]);
  assert.deepEqual(Array.from(parts.data), [9, 8, 7]);
});

Deno.test("a blob may be empty, and may start at an odd address", () => {
  assert.equal(reasonOf(blob([])), null);
  const bytes = blob([40, 7], [1]);
  const shifted = new Uint8Array(bytes.length + 5);
  shifted.set(bytes, 3);
  const parts = parseBlob(shifted.subarray(3, 3 + bytes.length));
  assert.ok("words" in parts);
  assert.deepEqual(Array.from(parts.words), [40, 7]);
  assert.deepEqual(Array.from(parts.data), [1]);
});

Deno.test("the words are a copy", () => {
  const bytes = blob([40]);
  const parts = parseBlob(bytes);
  assert.ok("words" in parts);
  parts.words[0] = 1;
  assert.equal(bytes[16], 40);
});

Deno.test("bad-length: shorter than its header, whatever it holds", () => {
  for (let length = 0; length < 16; length++) {
    assert.equal(reasonOf(blob([]).subarray(0, length)), "bad-length");
    assert.equal(reasonOf(new Uint8Array(length)), "bad-length");
  }
});

Deno.test("bad-magic comes before bad-version, and that before bad-length", () => {
  const good = blob([40]);
  assert.equal(reasonOf(withWord(good, 0, 0x57495245)), "bad-magic"); // the bytes in the other order
  assert.equal(reasonOf(withWord(withWord(good, 0, 0), 4, 5)), "bad-magic");
  assert.equal(reasonOf(withWord(good, 4, 3)), "bad-version");
  assert.equal(reasonOf(withWord(good, 4, 5)), "bad-version");
  assert.equal(reasonOf(withWord(withWord(good, 4, 0x04000000), 8, 2)), "bad-version");
  assert.equal(reasonOf(withWord(good, 8, 2)), "bad-length");
});

Deno.test("bad-length: a byte too few, a byte too many, and a sum past 2^32", () => {
  const good = blob([40, 40], [1, 2]);
  assert.equal(reasonOf(good.subarray(0, good.length - 1)), "bad-length");
  assert.equal(reasonOf(Uint8Array.from([...good, 0])), "bad-length");
  // 16 + 4 * 2^30 + 0 is 16 modulo 2^32.
  assert.equal(reasonOf(withWord(blob([]), 8, 0x40000000)), "bad-length");
  // 16 + 4 * (2^32 - 1) + 4 is 16 modulo 2^32 too.
  assert.equal(reasonOf(withWord(withWord(blob([]), 8, 0xffffffff), 12, 4)), "bad-length");
  assert.equal(reasonOf(withWord(blob([]), 12, 0xffffffff)), "bad-length");
});
