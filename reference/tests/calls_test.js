/** Section 4: the calls of every opcode, call by call, on a recording device. */
import assert from "node:assert/strict";
import { KIND, replay } from "../replay.js";
import { makeRecordingDevice } from "../recording_device.js";
import { BEGIN_COMPUTE, BEGIN_RENDER, END, f32, MAX_SAFE, SUBMIT, u64, words } from "./helpers.js";

/** @typedef {import("../recording_device.js").Call} Call */

/** The table of the tests: the kind of each id. */
const TABLE_KINDS = {
  1: "buffer",
  2: "buffer",
  3: "texture",
  4: "texture",
  5: "view",
  6: "view",
  7: "bindGroup",
  8: "computePipeline",
  9: "renderPipeline",
  10: "bundle",
  11: "sampler",
};

const DATA = Uint8Array.from({ length: 64 }, (_, i) => i);

/**
 * A recording device, its log, and a table whose objects are named after their kinds and ids' order.
 * @param {(call: string) => boolean} [throwsAt]
 */
function stage(throwsAt) {
  const { device, log, make } = makeRecordingDevice(throwsAt);
  /** @type {import("../replay.js").Table} */
  const table = new Map();
  for (const [id, name] of Object.entries(TABLE_KINDS)) {
    table.set(Number(id), { kind: KIND[/** @type {keyof typeof KIND} */ (name)], object: make(name) });
  }
  return { device, log, table };
}

/**
 * The log of an accepted stream.
 * @param {Uint32Array} stream
 */
function callsOf(stream) {
  const { device, log, table } = stage();
  assert.deepEqual(replay(device, table, stream, DATA), { refusal: null, stop: null });
  return log;
}

/** @param {string} call @param {unknown[]} args @returns {Call} */
const call = (call, ...args) => ({ call, args });

const MADE_ENCODER = call("device.createCommandEncoder");
const BEGUN_RENDER = call("encoder1.beginRenderPass", { colorAttachments: [] });
const BEGUN_COMPUTE = call("encoder1.beginComputePass");

/** @type {[string, number[], Call[]][]} */
const IN_RENDER = [
  ["SetPipeline", [1, 9], [call("renderPass1.setPipeline", "@renderPipeline1")]],
  ["SetBindGroup", [2, 3, 7, 2, 256, 0xffffffff], [
    call("renderPass1.setBindGroup", 3, "@bindGroup1", [256, 0xffffffff]),
  ]],
  ["SetBindGroup, none, no offsets", [2, 1, 0, 0], [call("renderPass1.setBindGroup", 1, null, [])]],
  ["Draw", [3, 1, 2, 3, 0xffffffff], [call("renderPass1.draw", 1, 2, 3, 0xffffffff)]],
  ["DrawIndexed, signed baseVertex", [4, 1, 2, 3, 0xffffffff, 5], [call("renderPass1.drawIndexed", 1, 2, 3, -1, 5)]],
  ["DrawIndexed, least baseVertex", [4, 1, 2, 3, 0x80000000, 5], [
    call("renderPass1.drawIndexed", 1, 2, 3, -2147483648, 5),
  ]],
  ["SetVertexBuffer", [5, 2, 1, ...u64(MAX_SAFE), ...u64(2 ** 32)], [
    call("renderPass1.setVertexBuffer", 2, "@buffer1", MAX_SAFE, 2 ** 32),
  ]],
  ["SetVertexBuffer, the rest", [5, 2, 1, ...u64(8), ...u64(0)], [
    call("renderPass1.setVertexBuffer", 2, "@buffer1", 8),
  ]],
  ["SetVertexBuffer, none", [5, 2, 0, ...u64(8), ...u64(4)], [call("renderPass1.setVertexBuffer", 2, null)]],
  ["SetIndexBuffer", [6, 1, 1, ...u64(8), ...u64(4)], [
    call("renderPass1.setIndexBuffer", "@buffer1", "uint16", 8, 4),
  ]],
  ["SetIndexBuffer, the rest", [6, 2, 2, ...u64(0), ...u64(0)], [
    call("renderPass1.setIndexBuffer", "@buffer2", "uint32", 0),
  ]],
  ["SetViewport", [7, ...[0.5, -1, 8, 4, 0.25, 1].map(f32)], [
    call("renderPass1.setViewport", 0.5, -1, 8, 4, 0.25, 1),
  ]],
  ["SetScissorRect", [8, 1, 2, 3, 4], [call("renderPass1.setScissorRect", 1, 2, 3, 4)]],
  ["SetBlendConstant", [9, 1, 0x80000000, f32(0.1), f32(-2)], [
    call("renderPass1.setBlendConstant", { r: 2 ** -149, g: -0, b: Math.fround(0.1), a: -2 }),
  ]],
  ["SetStencilReference", [10, 0xffffffff], [call("renderPass1.setStencilReference", 0xffffffff)]],
  ["ExecuteBundles", [11, 2, 10, 10], [call("renderPass1.executeBundles", ["@bundle1", "@bundle1"])]],
  ["ExecuteBundles, none", [11, 0], [call("renderPass1.executeBundles", [])]],
  ["DrawIndirect", [12, 1, ...u64(4)], [call("renderPass1.drawIndirect", "@buffer1", 4)]],
  ["DrawIndexedIndirect", [13, 2, ...u64(MAX_SAFE)], [call("renderPass1.drawIndexedIndirect", "@buffer2", MAX_SAFE)]],
];

/** @type {[string, number[], Call[]][]} */
const IN_COMPUTE = [
  ["SetPipeline", [1, 8], [call("computePass1.setPipeline", "@computePipeline1")]],
  ["SetBindGroup", [2, 0, 7, 1, 0], [call("computePass1.setBindGroup", 0, "@bindGroup1", [0])]],
  ["Dispatch", [23, 1, 0, 0xffffffff], [call("computePass1.dispatchWorkgroups", 1, 0, 0xffffffff)]],
  ["DispatchIndirect", [24, 1, ...u64(12)], [call("computePass1.dispatchWorkgroupsIndirect", "@buffer1", 12)]],
];

/** @type {[string, number[], Call[]][]} */
const ANYWHERE = [
  ["WriteBuffer", [30, 1, ...u64(16), 4, 8], [
    call("queue.writeBuffer", "@buffer1", 16, { bytes: [4, 5, 6, 7, 8, 9, 10, 11] }),
  ]],
  ["WriteBuffer, empty at the end", [30, 2, ...u64(0), 64, 0], [
    call("queue.writeBuffer", "@buffer2", 0, { bytes: [] }),
  ]],
  ["WriteTexture", [33, 3, 1, 2, 3, 4, 3, 60, 4, ...u64(2 ** 40), 256, 8, 2, 1, 6], [
    call(
      "queue.writeTexture",
      { texture: "@texture1", mipLevel: 1, origin: { x: 2, y: 3, z: 4 }, aspect: "depth-only" },
      { bytes: [60, 61, 62, 63] },
      { offset: 2 ** 40, bytesPerRow: 256, rowsPerImage: 8 },
      { width: 2, height: 1, depthOrArrayLayers: 6 },
    ),
  ]],
  ["WriteTexture, strides and aspect left out", [33, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0xffffffff, 0xffffffff, 1, 1, 1], [
    call(
      "queue.writeTexture",
      { texture: "@texture2", mipLevel: 0, origin: { x: 0, y: 0, z: 0 } },
      { bytes: [0] },
      { offset: 0 },
      { width: 1, height: 1, depthOrArrayLayers: 1 },
    ),
  ]],
  ["WriteTexture, strides of 0", [33, 4, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0], [
    call(
      "queue.writeTexture",
      { texture: "@texture2", mipLevel: 0, origin: { x: 0, y: 0, z: 0 }, aspect: "stencil-only" },
      { bytes: [] },
      { offset: 0, bytesPerRow: 0, rowsPerImage: 0 },
      { width: 0, height: 0, depthOrArrayLayers: 0 },
    ),
  ]],
  ["ReadBuffer makes no call", [34, 1, ...u64(8), 4, 0], []],
];

/** @type {[string, number[], Call[]][]} */
const OUTSIDE = [
  ["CopyBufferToBuffer", [31, 1, ...u64(4), 2, ...u64(8), ...u64(MAX_SAFE)], [
    MADE_ENCODER,
    call("encoder1.copyBufferToBuffer", "@buffer1", 4, "@buffer2", 8, MAX_SAFE),
  ]],
  ["CopyTextureToTexture", [32, 3, 1, 2, 3, 4, 0, 4, 5, 6, 7, 8, 1, 9, 10, 11], [
    MADE_ENCODER,
    call(
      "encoder1.copyTextureToTexture",
      { texture: "@texture1", mipLevel: 1, origin: { x: 2, y: 3, z: 4 } },
      { texture: "@texture2", mipLevel: 5, origin: { x: 6, y: 7, z: 8 }, aspect: "all" },
      { width: 9, height: 10, depthOrArrayLayers: 11 },
    ),
  ]],
  ["Submit without an encoder", [40], []],
];

Deno.test("render pass commands", () => {
  for (const [name, command, calls] of [...IN_RENDER, ...ANYWHERE]) {
    const expected = [MADE_ENCODER, BEGUN_RENDER, ...calls, call("renderPass1.end")];
    assert.deepEqual(callsOf(words(BEGIN_RENDER, command, END)), expected, name);
  }
});

Deno.test("compute pass commands", () => {
  for (const [name, command, calls] of [...IN_COMPUTE, ...ANYWHERE]) {
    const expected = [MADE_ENCODER, BEGUN_COMPUTE, ...calls, call("computePass1.end")];
    assert.deepEqual(callsOf(words(BEGIN_COMPUTE, command, END)), expected, name);
  }
});

Deno.test("commands outside passes", () => {
  for (const [name, command, calls] of [...OUTSIDE, ...ANYWHERE]) {
    assert.deepEqual(callsOf(words(command)), calls, name);
  }
});

Deno.test("the bytes of a write are a Uint8Array of them alone", () => {
  const { device, table } = stage();
  /** @type {any[]} */
  const written = [];
  device.queue.writeBuffer = (/** @type {any[]} */ ...args) => written.push(args[2]);
  replay(device, table, words(30, 1, 0, 0, 8, 4), DATA);
  assert.ok(written[0] instanceof Uint8Array);
  assert.equal(written[0].length, 4);
});

/** The descriptor that beginRenderPass gets. @param {number[]} command */
function passDescriptor(...command) {
  return callsOf(words(command, END))[1].args[0];
}

const FLOATS = [0.25, 0.5, 0.75, 1].map(f32);
const CLEAR_VALUE = { r: 0.25, g: 0.5, b: 0.75, a: 1 };

Deno.test("colour attachments: clear, load, resolve target, holes", () => {
  const cleared = { view: "@view1", clearValue: CLEAR_VALUE, loadOp: "clear", storeOp: "store" };
  const loaded = { view: "@view1", resolveTarget: "@view2", loadOp: "load", storeOp: "discard" };
  const colors = [5, 0, 2, 1, ...FLOATS, 0, 0, 1, 1, ...FLOATS, 5, 6, 1, 2, ...FLOATS, 0, 6, 2, 2, ...FLOATS];
  assert.deepEqual(passDescriptor(20, 4, ...colors, 0), { colorAttachments: [cleared, null, loaded, null] });
});

Deno.test("depth attachments: what each op and clear value leaves out", () => {
  const depth = (/** @type {number[]} */ ...attachment) => passDescriptor(20, 0, 1, ...attachment);
  const holding = (/** @type {Record<string, unknown>} */ depthStencilAttachment) => ({
    colorAttachments: [],
    depthStencilAttachment,
  });
  assert.deepEqual(
    depth(5, 2, 1, f32(0.5), 0, 2, 2, 7, 0),
    holding({
      view: "@view1",
      depthClearValue: 0.5,
      depthLoadOp: "clear",
      depthStoreOp: "store",
      depthReadOnly: false,
      stencilClearValue: 7,
      stencilLoadOp: "clear",
      stencilStoreOp: "discard",
      stencilReadOnly: false,
    }),
  );
  assert.deepEqual(
    depth(6, 0, 0, f32(0.5), 1, 0, 0, 7, 1),
    holding({ view: "@view2", depthReadOnly: true, stencilReadOnly: true }),
  );
  assert.deepEqual(
    depth(6, 1, 2, f32(0.5), 0, 1, 1, 7, 1),
    holding({
      view: "@view2",
      depthLoadOp: "load",
      depthStoreOp: "discard",
      depthReadOnly: false,
      stencilLoadOp: "load",
      stencilStoreOp: "store",
      stencilReadOnly: true,
    }),
  );
});

const COPY = [31, 1, 0, 0, 2, 0, 0, 4, 0];

/** @param {Call[]} log */
const namesOf = (log) => log.map((entry) => entry.call);

Deno.test("rule 1: no call for a stream that Decode refuses", () => {
  const { device, log, table } = stage();
  const result = replay(device, table, words(30, 1, 0, 0, 0, 4, 99), DATA);
  assert.deepEqual(result, { refusal: { word: 6, op: 0, reason: "unknown-op" }, stop: null });
  assert.deepEqual(log, []);
  const long = replay(device, table, words(30, 1, 0, 0, 0, 68), DATA).refusal;
  assert.deepEqual(long, { word: 4, op: 30, reason: "data-range" });
});

Deno.test("rule 2: one encoder from the first command that needs it to the Submit", () => {
  assert.deepEqual(namesOf(callsOf(words(SUBMIT, COPY, BEGIN_COMPUTE, END, COPY, SUBMIT, SUBMIT, COPY, SUBMIT))), [
    "device.createCommandEncoder",
    "encoder1.copyBufferToBuffer",
    "encoder1.beginComputePass",
    "computePass1.end",
    "encoder1.copyBufferToBuffer",
    "encoder1.finish",
    "queue.submit",
    "device.createCommandEncoder",
    "encoder2.copyBufferToBuffer",
    "encoder2.finish",
    "queue.submit",
  ]);
  const submitted = callsOf(words(COPY, SUBMIT));
  assert.deepEqual(submitted.slice(2), [call("encoder1.finish"), call("queue.submit", ["@commands1"])]);
});

Deno.test("rule 3: writes go to the queue where they stand", () => {
  assert.deepEqual(namesOf(callsOf(words(COPY, 30, 1, 0, 0, 0, 4, BEGIN_RENDER, 30, 1, 0, 0, 0, 4, END, SUBMIT))), [
    "device.createCommandEncoder",
    "encoder1.copyBufferToBuffer",
    "queue.writeBuffer",
    "encoder1.beginRenderPass",
    "queue.writeBuffer",
    "renderPass1.end",
    "encoder1.finish",
    "queue.submit",
  ]);
});

Deno.test("rule 4: what follows the last Submit is called, but not finished", () => {
  assert.deepEqual(namesOf(callsOf(words(SUBMIT, BEGIN_RENDER, [10, 1], END, COPY))), [
    "device.createCommandEncoder",
    "encoder1.beginRenderPass",
    "renderPass1.setStencilReference",
    "renderPass1.end",
    "encoder1.copyBufferToBuffer",
  ]);
});

/**
 * The stop of a stream and the names of the calls before it.
 * @param {Uint32Array} stream
 * @param {(call: string) => boolean} [throwsAt]
 */
function stopOf(stream, throwsAt) {
  const { device, log, table } = stage(throwsAt);
  const { refusal, stop } = replay(device, table, stream, DATA);
  assert.equal(refusal, null);
  return { stop, calls: namesOf(log) };
}

Deno.test("rule 6: wrong-kind for every id argument, of an absent id and of another kind", () => {
  const color = [5, 6, 2, 1, 0, 0, 0, 0];
  /** context, command, words of its ids @type {[string, number[], number[]][]} */
  const commands = [
    ["R", [1, 9], [1]],
    ["C", [1, 8], [1]],
    ["R", [2, 0, 7, 0], [2]],
    ["R", [5, 0, 1, 0, 0, 0, 0], [2]],
    ["R", [6, 1, 1, 0, 0, 0, 0], [1]],
    ["R", [11, 2, 10, 10], [2, 3]],
    ["R", [12, 1, 0, 0], [1]],
    ["R", [13, 1, 0, 0], [1]],
    ["T", [20, 2, ...color, 0, ...color.slice(1), 1, 6, 1, 1, 0, 0, 0, 0, 0, 0], [2, 3, 11, 19]],
    ["C", [24, 1, 0, 0], [1]],
    ["T", [30, 1, 0, 0, 0, 0], [1]],
    ["T", [31, 1, 0, 0, 2, 0, 0, 0, 0], [1, 4]],
    ["T", [32, 3, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1, 1, 1], [1, 7]],
    ["T", [33, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1], [1]],
    ["T", [34, 1, 0, 0, 4, 0], [1]],
  ];
  for (const [context, command, places] of commands) {
    const prefix = context === "T" ? SUBMIT : context === "R" ? BEGIN_RENDER : BEGIN_COMPUTE;
    const suffix = context === "T" && command[0] !== 20 ? [] : END;
    for (const place of places) {
      for (const id of [99, 11]) {
        const changed = command.with(place, id);
        const { stop, calls } = stopOf(words(prefix, changed, suffix, SUBMIT));
        assert.deepEqual(stop, { reason: "wrong-kind", command: 1, word: prefix.length + place }, `${changed}`);
        assert.equal(calls.length, context === "T" ? 0 : 2, `${changed}`);
      }
    }
  }
});

Deno.test("rule 6: pipelines by their pass, the first argument in word order, and no call after", () => {
  assert.deepEqual(stopOf(words(BEGIN_RENDER, 1, 8, END)).stop, { reason: "wrong-kind", command: 1, word: 4 });
  assert.deepEqual(stopOf(words(BEGIN_COMPUTE, 1, 9, END)).stop, { reason: "wrong-kind", command: 1, word: 2 });
  assert.deepEqual(stopOf(words(31, 3, 0, 0, 3, 0, 0, 0, 0)).stop, { reason: "wrong-kind", command: 0, word: 1 });
  // After a render pass a compute pass takes compute pipelines, and the other way round.
  assert.equal(stopOf(words(BEGIN_RENDER, END, BEGIN_COMPUTE, 1, 8, END, BEGIN_RENDER, 1, 9, END)).stop, null);
  const { stop, calls } = stopOf(words(COPY, SUBMIT, 30, 1, 0, 0, 0, 4, BEGIN_RENDER, 12, 99, 0, 0, END, COPY, SUBMIT));
  assert.deepEqual(stop, { reason: "wrong-kind", command: 4, word: 20 });
  assert.deepEqual(calls, [
    "device.createCommandEncoder",
    "encoder1.copyBufferToBuffer",
    "encoder1.finish",
    "queue.submit",
    "queue.writeBuffer",
    "device.createCommandEncoder",
    "encoder2.beginRenderPass",
  ]);
});

Deno.test("rule 7: a call that throws stops the replay", () => {
  for (const thrown of ["device.createCommandEncoder", "encoder1.copyBufferToBuffer"]) {
    const { stop, calls } = stopOf(words(SUBMIT, COPY, SUBMIT), (name) => name === thrown);
    assert.equal(stop?.reason, "threw");
    assert.deepEqual([stop?.command, stop?.word], [1, 1]);
    assert.ok(stop?.error instanceof TypeError);
    assert.equal(calls.at(-1), thrown);
  }
  const { stop, calls } = stopOf(words(BEGIN_RENDER, 10, 1, END, SUBMIT), (name) => name === "encoder1.finish");
  assert.deepEqual([stop?.reason, stop?.command, stop?.word], ["threw", 3, 6]);
  assert.equal(calls.at(-1), "encoder1.finish");
});
