/** Section 7: objects, on a recording device. */
import assert from "node:assert/strict";
import { appendDescriptor, KIND, makeObjects } from "../replay.js";
import { makeRecordingDevice } from "../recording_device.js";
import { u64, utf8 } from "./helpers.js";

/**
 * A row of an object table; a body that is no string is written as JSON.
 * @param {number} id
 * @param {number} kind
 * @param {number[]} refs
 * @param {unknown} body
 */
function row(id, kind, refs, body) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const appended = appendDescriptor(new Uint8Array(0), refs, utf8(text));
  assert.ok("bytes" in appended);
  return { id, kind, descriptor: appended.bytes };
}

/** One row of each kind that others refer to; ids are the kinds'. */
const BASE = [
  row(1, KIND.buffer, [], { size: 16, usage: 8 }),
  row(2, KIND.texture, [], { size: [4, 4], format: "rgba8unorm", usage: 16 }),
  row(3, KIND.view, [2], {}),
  row(4, KIND.sampler, [], {}),
  row(5, KIND.module, [], { code: "" }),
  row(6, KIND.bindGroupLayout, [], { entries: [] }),
  row(7, KIND.pipelineLayout, [6], {}),
  row(8, KIND.bindGroup, [6], { entries: [] }),
  row(9, KIND.computePipeline, [0, 5], { compute: {} }),
  row(10, KIND.renderPipeline, [0, 5, 0], { vertex: {} }),
];

/**
 * What making `rows` after BASE calls and refuses.
 * @param {ReturnType<typeof row>[]} rows
 * @param {(call: string) => boolean} [throwsAt]
 */
function make(rows, throwsAt) {
  const { device, log } = makeRecordingDevice(throwsAt);
  const { table, refused: before } = makeObjects(device, BASE);
  assert.deepEqual(before, []);
  const from = log.length;
  const { refused } = makeObjects(device, rows, table);
  return { table, refused, calls: log.slice(from) };
}

/** The one call that a row makes. @param {number} kind @param {number[]} refs @param {unknown} body */
function callOf(kind, refs, body) {
  const { calls, refused, table } = make([row(20, kind, refs, body)]);
  assert.deepEqual(refused, []);
  assert.equal(table.get(20)?.kind, kind);
  assert.equal(calls.length, 1);
  return [calls[0].call, ...calls[0].args];
}

/** The reason of a row's refusal. @param {number} kind @param {number[]} refs @param {unknown} body */
function reasonOf(kind, refs, body) {
  const { calls, refused, table } = make([row(20, kind, refs, body)]);
  assert.deepEqual(calls, []);
  assert.equal(table.has(20), false);
  return refused[0].reason;
}

Deno.test("buffers, textures, samplers, modules and bind group layouts take their bodies", () => {
  /** @type {[number, string, Record<string, unknown>][]} */
  const plain = [
    [KIND.buffer, "createBuffer", { size: 2 ** 40, usage: 128 }],
    [KIND.texture, "createTexture", {
      size: { width: 4, height: 2, depthOrArrayLayers: 6 },
      format: "depth24plus",
      usage: 16,
      mipLevelCount: 2,
      sampleCount: 1,
      dimension: "2d",
      viewFormats: [],
    }],
    [KIND.sampler, "createSampler", { magFilter: "linear", lodMaxClamp: 4.5 }],
    [KIND.module, "createShaderModule", { code: "// é\n" }],
    [KIND.bindGroupLayout, "createBindGroupLayout", { entries: [{ binding: 0, visibility: 4, buffer: {} }] }],
  ];
  for (const [kind, method, body] of plain) assert.deepEqual(callOf(kind, [], body), [`device.${method}`, body]);
});

Deno.test("a view is made by its texture", () => {
  assert.deepEqual(callOf(KIND.view, [2], { baseMipLevel: 1 }), ["texture1.createView", { baseMipLevel: 1 }]);
});

Deno.test("a pipeline layout has a null for an empty place", () => {
  const layouts = { bindGroupLayouts: ["@bindGroupLayout1", null, "@bindGroupLayout1"] };
  assert.deepEqual(callOf(KIND.pipelineLayout, [6, 0, 6], {}), ["device.createPipelineLayout", layouts]);
  assert.deepEqual(callOf(KIND.pipelineLayout, [], {}), ["device.createPipelineLayout", { bindGroupLayouts: [] }]);
});

Deno.test("a bind group's entries take buffers, views and samplers", () => {
  const body = {
    entries: [{ binding: 0, offset: 4, size: 8 }, { binding: 1, offset: 0 }, { binding: 5 }, { binding: 6 }],
  };
  assert.deepEqual(callOf(KIND.bindGroup, [6, 1, 1, 3, 4], body), ["device.createBindGroup", {
    layout: "@bindGroupLayout1",
    entries: [
      { binding: 0, resource: { buffer: "@buffer1", offset: 4, size: 8 } },
      { binding: 1, resource: { buffer: "@buffer1", offset: 0 } },
      { binding: 5, resource: "@view1" },
      { binding: 6, resource: "@sampler1" },
    ],
  }]);
});

Deno.test("compute pipelines", () => {
  const compute = { entryPoint: "main", constants: { a: 1.5 } };
  assert.deepEqual(callOf(KIND.computePipeline, [7, 5], { compute }), ["device.createComputePipeline", {
    layout: "@pipelineLayout1",
    compute: { ...compute, module: "@module1" },
  }]);
  assert.deepEqual(callOf(KIND.computePipeline, [0, 5], { compute: {} }), ["device.createComputePipeline", {
    layout: "auto",
    compute: { module: "@module1" },
  }]);
});

Deno.test("render pipelines, with and without a fragment stage", () => {
  const body = {
    vertex: { entryPoint: "v", buffers: [null, { arrayStride: 4, attributes: [] }] },
    primitive: { topology: "line-list" },
    multisample: { count: 4 },
    fragment: { targets: [{ format: "rgba8unorm" }] },
  };
  assert.deepEqual(callOf(KIND.renderPipeline, [7, 5, 5], body), ["device.createRenderPipeline", {
    ...body,
    layout: "@pipelineLayout1",
    vertex: { ...body.vertex, module: "@module1" },
    fragment: { ...body.fragment, module: "@module1" },
  }]);
  assert.deepEqual(callOf(KIND.renderPipeline, [0, 5, 0], { vertex: {} }), ["device.createRenderPipeline", {
    layout: "auto",
    vertex: { module: "@module1" },
  }]);
});

Deno.test("bad-descriptor: bodies", () => {
  const buffer = { size: 4, usage: 8 };
  /** @type {[number, number[], unknown][]} */
  const bodies = [
    [KIND.sampler, [], ""],
    [KIND.sampler, [], "{"],
    [KIND.sampler, [], "[]"],
    [KIND.sampler, [], "null"],
    [KIND.sampler, [], "7"],
    [KIND.sampler, [], "{} {}"],
    [KIND.sampler, [], "\ufeff{}"],
    [KIND.buffer, [], { ...buffer, mappedAtCreation: true }],
    [KIND.buffer, [], { ...buffer, mappedAtCreation: false }],
    [KIND.buffer, [], { usage: 8 }],
    [KIND.buffer, [], { size: "4", usage: 8 }],
    [KIND.texture, [], { size: [1], format: "r8unorm" }],
    [KIND.module, [], {}],
    [KIND.bindGroupLayout, [], { entries: {} }],
    [KIND.pipelineLayout, [6], { bindGroupLayouts: [] }],
    [KIND.bindGroup, [6, 1], { entries: [{}] }],
    [KIND.bindGroup, [6, 1], { entries: [{ binding: 0, resource: 1 }] }],
    [KIND.bindGroup, [6], {}],
    [KIND.computePipeline, [0, 5], {}],
    [KIND.computePipeline, [0, 5], { compute: {}, layout: "auto" }],
    [KIND.computePipeline, [0, 5], { compute: { module: 1 } }],
    [KIND.renderPipeline, [0, 5, 0], {}],
    [KIND.renderPipeline, [0, 5, 5], { vertex: {} }],
    [KIND.renderPipeline, [0, 5, 0], { vertex: {}, fragment: { targets: [] } }],
    [KIND.renderPipeline, [0, 5, 5], { vertex: {}, fragment: null }],
    [KIND.bundle, [], { colorFormats: [] }],
    [KIND.bundle, [], { words: [] }],
    [KIND.bundle, [], { colorFormats: [], words: [-1] }],
    [KIND.bundle, [], { colorFormats: [], words: [0.5] }],
    [KIND.bundle, [], { colorFormats: [], words: [2 ** 32] }],
    [KIND.bundle, [], { colorFormats: [], words: ["3"] }],
  ];
  for (const [kind, refs, body] of bodies) {
    assert.equal(reasonOf(kind, refs, body), "bad-descriptor", `${kind} ${JSON.stringify(body)}`);
  }
  const notUtf8 = row(20, KIND.module, [], '{"code":"?"}');
  notUtf8.descriptor[notUtf8.descriptor.length - 3] = 0xff;
  assert.equal(make([notUtf8]).refused[0].reason, "bad-descriptor");
});

Deno.test("bad-descriptor: unknown kinds, counts of references, references of 0", () => {
  const buffer = { size: 4, usage: 8 };
  /** @type {[number, number[], unknown][]} */
  const references = [
    [0, [], {}],
    [12, [], {}],
    [KIND.buffer, [1], buffer],
    [KIND.texture, [0], { size: [1], format: "r8unorm", usage: 1 }],
    [KIND.view, [], {}],
    [KIND.view, [0], {}],
    [KIND.view, [2, 2], {}],
    [KIND.bindGroup, [], { entries: [] }],
    [KIND.bindGroup, [0], { entries: [] }],
    [KIND.bindGroup, [6, 1], { entries: [] }],
    [KIND.bindGroup, [6, 0], { entries: [{ binding: 0 }] }],
    [KIND.computePipeline, [5], { compute: {} }],
    [KIND.computePipeline, [0, 0], { compute: {} }],
    [KIND.computePipeline, [0, 5, 0], { compute: {} }],
    [KIND.renderPipeline, [0, 0, 0], { vertex: {} }],
    [KIND.renderPipeline, [0, 5], { vertex: {} }],
  ];
  for (const [kind, refs, body] of references) {
    assert.equal(reasonOf(kind, refs, body), "bad-descriptor", `${kind} ${refs}`);
  }
});

Deno.test("wrong-kind: a reference to nothing, to another kind, or to a later row", () => {
  assert.deepEqual(make([row(20, KIND.view, [1], {})]).refused, [
    { row: 0, id: 20, reason: "wrong-kind", reference: 0 },
  ]);
  const entries = { entries: [{ binding: 0 }, { binding: 1 }] };
  assert.deepEqual(make([row(20, KIND.bindGroup, [6, 1, 5], entries)]).refused, [
    { row: 0, id: 20, reason: "wrong-kind", reference: 2 },
  ]);
  const later = [row(20, KIND.view, [21], {}), row(21, KIND.texture, [], { size: [1], format: "r8unorm", usage: 1 })];
  const { refused, table } = make(later);
  assert.deepEqual(refused, [{ row: 0, id: 20, reason: "wrong-kind", reference: 0 }]);
  assert.ok(table.has(21));
});

Deno.test("descriptors that Split refuses, the id 0, and an id listed again", () => {
  assert.equal(make([{ id: 20, kind: KIND.sampler, descriptor: Uint8Array.of(1) }]).refused[0].reason, "truncated");
  const many = Uint8Array.of(1, 16, 0, 0);
  assert.equal(make([{ id: 20, kind: KIND.sampler, descriptor: many }]).refused[0].reason, "too-many");
  assert.equal(make([row(0, KIND.sampler, [], {})]).refused[0].reason, "zero-id");
  assert.equal(make([row(1, KIND.sampler, [], {})]).table.get(1)?.kind, KIND.sampler);
  assert.equal(make([row(1, KIND.sampler, [9], {})]).table.has(1), false);
});

Deno.test("threw: the object is not made", () => {
  const { device } = makeRecordingDevice((call) => call === "device.createSampler");
  const made = makeObjects(device, [row(20, KIND.sampler, [], {}), row(21, KIND.buffer, [], { size: 4, usage: 8 })]);
  assert.deepEqual(made.refused.map(({ row, id, reason }) => [row, id, reason]), [[0, 20, "threw"]]);
  assert.ok(made.refused[0].error instanceof TypeError);
  assert.deepEqual(Array.from(made.table.keys()), [21]);
});

const BUNDLE_WORDS = [
  [1, 1],
  [2, 0, 2, 1, 256],
  [5, 0, 3, ...u64(4), ...u64(0)],
  [5, 1, 0, ...u64(0), ...u64(0)],
  [6, 3, 2, ...u64(0), ...u64(8)],
  [3, 1, 2, 3, 4],
  [4, 1, 2, 3, 0xffffffff, 5],
  [12, 3, ...u64(0)],
  [13, 3, ...u64(4)],
].flat();

/** @param {number[]} refs @param {number[]} words */
const bundle = (refs, words) => row(20, KIND.bundle, refs, { colorFormats: ["rgba8unorm", null], words });

Deno.test("a bundle's words name its references by position from 1", () => {
  const { calls, refused, table } = make([bundle([10, 8, 1], BUNDLE_WORDS)]);
  assert.deepEqual(refused, []);
  assert.equal(table.get(20)?.kind, KIND.bundle);
  assert.deepEqual(calls.map(({ call, args }) => [call, ...args]), [
    ["device.createRenderBundleEncoder", { colorFormats: ["rgba8unorm", null] }],
    ["bundleEncoder1.setPipeline", "@renderPipeline1"],
    ["bundleEncoder1.setBindGroup", 0, "@bindGroup1", [256]],
    ["bundleEncoder1.setVertexBuffer", 0, "@buffer1", 4],
    ["bundleEncoder1.setVertexBuffer", 1, null],
    ["bundleEncoder1.setIndexBuffer", "@buffer1", "uint32", 0, 8],
    ["bundleEncoder1.draw", 1, 2, 3, 4],
    ["bundleEncoder1.drawIndexed", 1, 2, 3, -1, 5],
    ["bundleEncoder1.drawIndirect", "@buffer1", 0],
    ["bundleEncoder1.drawIndexedIndirect", "@buffer1", 4],
    ["bundleEncoder1.finish"],
  ]);
});

Deno.test("a bundle's other members reach the encoder", () => {
  const body = {
    colorFormats: [],
    depthStencilFormat: "depth24plus",
    sampleCount: 4,
    depthReadOnly: true,
    stencilReadOnly: false,
  };
  const { calls } = make([row(20, KIND.bundle, [], { ...body, words: [] })]);
  assert.deepEqual(calls[0].args, [body]);
});

Deno.test("a bundle's words are refused before any call", () => {
  /** refs, words, word, op, reason @type {[number[], number[], number, number, string][]} */
  const cases = [
    [[10], [1, 2], 1, 1, "unknown-id"], // one past the references
    [[], [1, 1], 1, 1, "unknown-id"],
    [[0, 10], [1, 1], 1, 1, "unknown-id"], // at a reference of 0
    [[10], [1, 0xffffffff], 1, 1, "unknown-id"],
    [[10], [1, 0], 1, 1, "zero-id"],
    [[10], [1, 1, 10, 3], 2, 10, "wrong-context"],
    [[10], [40], 0, 40, "wrong-context"],
    [[10], [99], 0, 0, "unknown-op"],
    [[10], [1], 0, 1, "truncated"],
  ];
  for (const [refs, words, word, op, reason] of cases) {
    const { refused, calls } = make([bundle(refs, words)]);
    assert.deepEqual(refused, [{ row: 0, id: 20, word, op, reason }], `${words}`);
    assert.deepEqual(calls, []);
  }
});

Deno.test("a reference of 0 or of any kind does no harm where a bundle's words do not name it", () => {
  assert.deepEqual(make([bundle([0, 10, 99], [1, 2])]).refused, []);
});

Deno.test("a bundle stops at a wrong kind, as a stream does", () => {
  const { refused, calls, table } = make([bundle([10, 9], [1, 1, 1, 2])]);
  assert.deepEqual(refused, [{ row: 0, id: 20, reason: "wrong-kind", command: 1, word: 3 }]);
  assert.deepEqual(calls.map(({ call }) => call), [
    "device.createRenderBundleEncoder",
    "bundleEncoder1.setPipeline",
  ]);
  assert.equal(table.has(20), false);
});

Deno.test("threw: a bundle whose encoder, command or finish throws", () => {
  for (const thrown of ["device.createRenderBundleEncoder", "bundleEncoder1.draw", "bundleEncoder1.finish"]) {
    const { refused } = make([bundle([], [3, 1, 1, 0, 0])], (call) => call === thrown);
    assert.equal(refused[0].reason, "threw", thrown);
  }
});
