/** Section 7: creation descriptors. */
import assert from "node:assert/strict";
import { appendDescriptor, remapDescriptor, splitDescriptor } from "../replay.js";
import { utf8 } from "./helpers.js";

/** @param {number[]} refs @param {Uint8Array} body */
function descriptor(refs, body = new Uint8Array(0)) {
  const appended = appendDescriptor(new Uint8Array(0), refs, body);
  assert.ok("bytes" in appended);
  return appended.bytes;
}

/** @param {number} count @param {number} bytes how many follow the count */
function counted(count, bytes) {
  const whole = new Uint8Array(4 + bytes);
  new DataView(whole.buffer).setUint32(0, count, true);
  return whole;
}

Deno.test("Append writes the count, the references and the body after what is there", () => {
  const appended = appendDescriptor(Uint8Array.of(9), [0x01020304, 0], utf8("{}"));
  assert.ok("bytes" in appended);
  assert.deepEqual(Array.from(appended.bytes), [9, 2, 0, 0, 0, 4, 3, 2, 1, 0, 0, 0, 0, 0x7b, 0x7d]);
});

Deno.test("Append refuses more than 4096 references", () => {
  const reasonOf = (/** @type {number} */ count) =>
    appendDescriptor(new Uint8Array(0), new Array(count).fill(1), new Uint8Array(0)).reason;
  assert.equal(reasonOf(4095), null);
  assert.equal(reasonOf(4096), null);
  assert.equal(reasonOf(4097), "too-many");
});

Deno.test("Split gives references and body back", () => {
  for (const refs of [[], [7], [1, 0, 0xffffffff], new Array(4096).fill(3)]) {
    const parts = splitDescriptor(descriptor(refs, Uint8Array.of(1, 2, 255)));
    assert.ok("refs" in parts);
    assert.deepEqual(parts.refs, refs);
    assert.deepEqual(Array.from(parts.body), [1, 2, 255]);
  }
  const shifted = splitDescriptor(Uint8Array.of(8, 1, 0, 0, 0, 5, 0, 0, 0).subarray(1));
  assert.ok("refs" in shifted);
  assert.deepEqual(shifted.refs, [5]);
  assert.equal(shifted.body.length, 0);
});

Deno.test("Split's refusals, in their order", () => {
  for (let length = 0; length < 4; length++) {
    assert.equal(splitDescriptor(new Uint8Array(length).fill(255)).reason, "truncated");
  }
  assert.equal(splitDescriptor(counted(4097, 0)).reason, "too-many");
  assert.equal(splitDescriptor(counted(0xffffffff, 0)).reason, "too-many");
  assert.equal(splitDescriptor(counted(4096, 4 * 4096 - 1)).reason, "truncated");
  assert.equal(splitDescriptor(counted(4096, 4 * 4096)).reason, null);
  assert.equal(splitDescriptor(counted(1, 3)).reason, "truncated");
});

Deno.test("RemapDescriptor rewrites the nonzero references in place", () => {
  const bytes = descriptor([5, 0, 6, 5], utf8("body"));
  /** @type {number[]} */
  const asked = [];
  const refusal = remapDescriptor(bytes, (id) => {
    asked.push(id);
    return id + 0x80000000;
  });
  assert.equal(refusal, null);
  assert.deepEqual(asked, [5, 6, 5]);
  assert.deepEqual(bytes, descriptor([0x80000005, 0, 0x80000006, 0x80000005], utf8("body")));
});

Deno.test("RemapDescriptor refuses what is not granted or would become 0, and what Split refuses", () => {
  const grant = new Map([[5, 50], [6, 0]]);
  assert.deepEqual(remapDescriptor(descriptor([5, 0, 7, 8]), grant), { reason: "unknown-id", index: 2 });
  assert.deepEqual(remapDescriptor(descriptor([5, 6]), grant), { reason: "unknown-id", index: 1 });
  assert.deepEqual(remapDescriptor(new Uint8Array(3), grant), { reason: "truncated", index: 0 });
  assert.deepEqual(remapDescriptor(counted(5000, 0), grant), { reason: "too-many", index: 0 });
});
