/** What the recorder writes for small programs, call by call, on the machine's own WebGPU. It fails where there is no adapter. */
import assert from "node:assert/strict";
import { parseBlob } from "../replay.js";
import { KIND_NAMES, Recorder } from "../record.js";
import { readRecording } from "../recording.js";
import { replayRecording } from "../replay_recording.js";
import { automaticEntries, computeStages, renderStages } from "../record_layouts.js";
import { f32, u64, words } from "./helpers.js";

// WebGPU's bits.
const MAP_READ = 1;
const MAP_WRITE = 2;
const COPY_SRC = 4;
const COPY_DST = 8;
const INDEX = 16;
const VERTEX = 32;
const UNIFORM = 64;
const STORAGE = 128;
const INDIRECT = 256;
const TEXTURE_COPY_SRC = 1;
const TEXTURE_COPY_DST = 2;
const TEXTURE_BINDING = 4;
const RENDER_ATTACHMENT = 16;
const NO_STRIDE = 0xffffffff;

/** @typedef {import("../recording.js").Files} Files */

/** A gpu that no other recorder watches. */
function freshGpu() {
  return { requestAdapter: () => navigator.gpu.requestAdapter() };
}

/**
 * The files of a program that gets a device.
 * @param {(device: any, recorder: Recorder) => unknown} program
 * @returns {Promise<Files>}
 */
async function record(program) {
  const recorder = new Recorder();
  const gpu = freshGpu();
  recorder.watch(gpu);
  const adapter = await gpu.requestAdapter();
  assert.ok(adapter, "no WebGPU adapter");
  const device = await adapter.requestDevice();
  // What the programs do need not be valid.
  device.pushErrorScope("validation");
  await program(device, recorder);
  await device.popErrorScope();
  const files = new Map(recorder.files({ name: "test" }).map(({ name, bytes }) => [name, bytes]));
  device.destroy();
  return (name) => files.get(name) ?? assert.fail(`no file ${name}`);
}

/** @param {Files} files @param {string} name */
function json(files, name) {
  return JSON.parse(new TextDecoder().decode(files(name)));
}

/** The words and data of each stream. @param {Files} files */
function streams(files) {
  return json(files, "recording.json").streams.map((/** @type {any} */ { blob }) => {
    const parts = parseBlob(files(blob));
    assert.ok(parts.reason === null);
    return { words: Array.from(parts.words), data: Array.from(parts.data) };
  });
}

/** The words of a recording with one stream. @param {Files} files */
function onlyWords(files) {
  const all = streams(files);
  assert.equal(all.length, 1);
  return all[0].words;
}

/** The rows, bodies parsed. @param {Files} files */
function rows(files) {
  return json(files, "objects.json").map((
    /** @type {any} */ row,
  ) => [row.id, row.kind, row.refs, JSON.parse(row.body)]);
}

/** @param {import("./helpers.js").Part[]} parts */
function list(...parts) {
  return Array.from(words(...parts));
}

/** @param {any} device @param {number} usage @param {number} size */
function buffer(device, usage, size = 64) {
  return device.createBuffer({ size, usage });
}

Deno.test("writeBuffer takes bytes of a buffer or a DataView, and elements of a typed array", async () => {
  const files = await record((device) => {
    const target = buffer(device, COPY_DST);
    const bytes = Uint8Array.from({ length: 32 }, (_, i) => i);
    device.queue.writeBuffer(target, 0, bytes.buffer);
    device.queue.writeBuffer(target, 4, bytes.buffer, 8, 4);
    device.queue.writeBuffer(target, 8, bytes.subarray(4, 12));
    device.queue.writeBuffer(target, 12, new Uint16Array(bytes.buffer, 8, 8), 2, 4);
    device.queue.writeBuffer(target, 16, new DataView(bytes.buffer, 16, 16), 4, 8);
    device.queue.writeBuffer(target, 20, new Uint32Array(bytes.buffer, 16), 3);
  });
  const [{ words: recorded, data }] = streams(files);
  assert.deepEqual(
    recorded,
    list(
      [30, 1, u64(0), 0, 32],
      [30, 1, u64(4), 32, 4],
      [30, 1, u64(8), 36, 8],
      [30, 1, u64(12), 44, 8],
      [30, 1, u64(16), 52, 8],
      [30, 1, u64(20), 60, 4],
    ),
  );
  assert.deepEqual(data.slice(32), [
    ...[8, 9, 10, 11],
    ...[4, 5, 6, 7, 8, 9, 10, 11],
    ...[12, 13, 14, 15, 16, 17, 18, 19],
    ...[20, 21, 22, 23, 24, 25, 26, 27],
    ...[28, 29, 30, 31],
  ]);
});

Deno.test("the data of a write is what it was at the call", async () => {
  const files = await record((device) => {
    const source = Uint8Array.of(1, 2, 3, 4);
    device.queue.writeBuffer(buffer(device, COPY_DST), 0, source);
    source.fill(9);
  });
  assert.deepEqual(streams(files)[0].data, [1, 2, 3, 4]);
});

Deno.test("what is mapped at creation or to write becomes writes, and usages that take them", async () => {
  const files = await record(async (device) => {
    const created = device.createBuffer({ size: 32, usage: VERTEX, mappedAtCreation: true });
    new Uint8Array(created.getMappedRange(0, 4)).set([1, 2, 3, 4]);
    new Uint8Array(created.getMappedRange(8, 8)).set([5, 6, 7, 8, 9]);
    created.unmap();
    const mapped = buffer(device, MAP_WRITE | COPY_SRC, 16);
    await mapped.mapAsync(MAP_WRITE);
    new Uint8Array(mapped.getMappedRange(8)).fill(7);
    mapped.unmap();
  });
  assert.deepEqual(rows(files), [
    [1, "buffer", [], { size: 32, usage: VERTEX | COPY_DST }],
    [2, "buffer", [], { size: 16, usage: COPY_SRC | COPY_DST }],
  ]);
  const [{ words: recorded, data }] = streams(files);
  assert.deepEqual(recorded, list([30, 1, u64(0), 0, 4], [30, 1, u64(8), 4, 8], [30, 2, u64(8), 12, 8]));
  assert.deepEqual(data, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 7, 7, 7, 7, 7, 7, 7, 7]);
});

Deno.test("a read is at the end of the stream that it sees, with what the program saw", async () => {
  const files = await record(async (device) => {
    const source = buffer(device, COPY_SRC | COPY_DST, 16);
    const result = buffer(device, MAP_READ | COPY_DST, 16);
    const copy = () => {
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(source, 0, result, 0, 16);
      device.queue.submit([encoder.finish()]);
    };
    device.queue.writeBuffer(source, 0, Uint8Array.from({ length: 16 }, (_, i) => i));
    copy();
    const mapped = result.mapAsync(MAP_READ, 8, 8);
    // After the map, so not in the stream that is read.
    device.queue.writeBuffer(source, 0, new Uint8Array(16).fill(5));
    await mapped;
    assert.deepEqual(Array.from(new Uint8Array(result.getMappedRange(8, 4))), [8, 9, 10, 11]);
    result.unmap();
    copy();
    await result.mapAsync(MAP_READ);
    new Uint8Array(result.getMappedRange()).fill(1);
    result.unmap();
  });
  const copy = [31, 1, u64(0), 2, u64(0), u64(16)];
  assert.deepEqual(streams(files).map((/** @type {any} */ stream) => stream.words), [
    list([30, 1, u64(0), 0, 16], copy, [40], [34, 2, u64(8), 4, 0]),
    list([30, 1, u64(0), 0, 16], copy, [40], [34, 2, u64(0), 16, 0]),
  ]);
  assert.deepEqual(json(files, "recording.json").streams, [
    { blob: "00000.wire", window: 4, reads: "00000.read" },
    { blob: "00001.wire", window: 16, reads: "00001.read" },
  ]);
  assert.deepEqual(Array.from(files("00000.read")), [8, 9, 10, 11]);
  // The program's own writes into the range come after.
  assert.deepEqual(Array.from(files("00001.read")), new Array(16).fill(5));
});

Deno.test("two reads of one stream follow each other in the window", async () => {
  const files = await record(async (device) => {
    const [first, second] = [buffer(device, MAP_READ | COPY_DST, 8), buffer(device, MAP_READ | COPY_DST, 16)];
    device.queue.writeBuffer(second, 0, Uint8Array.of(1, 2, 3, 4));
    await Promise.all([first.mapAsync(MAP_READ), second.mapAsync(MAP_READ)]);
    first.getMappedRange();
    second.getMappedRange(0, 4);
    second.getMappedRange(8);
  });
  assert.deepEqual(
    onlyWords(files),
    list([30, 2, u64(0), 0, 4], [34, 1, u64(0), 8, 0], [34, 2, u64(0), 4, 8], [34, 2, u64(8), 8, 12]),
  );
  assert.equal(json(files, "recording.json").streams[0].window, 20);
});

Deno.test("command buffers stand in the order of their submit, in one stream a submit", async () => {
  const files = await record((device) => {
    const target = buffer(device, COPY_DST | COPY_SRC);
    const [first, second, third] = [0, 0, 0].map(() => device.createCommandEncoder());
    second.copyBufferToBuffer(target, 32, target, 0, 8);
    first.copyBufferToBuffer(target, 16, target, 0, 4);
    third.copyBufferToBuffer(target, 48, target, 0, 12);
    const [a, b, c] = [first.finish(), second.finish(), third.finish()];
    device.queue.writeBuffer(target, 0, new Uint8Array(4));
    device.queue.submit([b, a].values());
    device.queue.writeBuffer(target, 4, new Uint8Array(4));
    device.queue.submit([c]);
  });
  const copy = (/** @type {number} */ from, /** @type {number} */ size) => [31, 1, u64(from), 1, u64(0), u64(size)];
  assert.deepEqual(streams(files).map((/** @type {any} */ stream) => stream.words), [
    list([30, 1, u64(0), 0, 4], copy(32, 8), copy(16, 4), [40]),
    list([30, 1, u64(4), 0, 4], copy(48, 12), [40]),
  ]);
  assert.deepEqual(json(files, "recording.json").counts, {
    objects: 1,
    submits: 2,
    commands: 7,
    words: 41,
    data: 8,
    read: 0,
  });
});

Deno.test("writeTexture: the bytes from the layout's offset on, as many as its rows can take", async () => {
  const files = await record((device) => {
    const usage = TEXTURE_COPY_DST | TEXTURE_BINDING;
    const texture = device.createTexture({ size: [4, 4, 2], format: "rgba8unorm", usage, mipLevelCount: 2 });
    const heap = Uint8Array.from({ length: 256 }, (_, i) => i);
    const layout = { offset: 4, bytesPerRow: 16, rowsPerImage: 3 };
    device.queue.writeTexture({ texture }, heap.subarray(8), layout, [4, 2]);
    const side = { texture, mipLevel: 1, origin: [1, 0, 1], aspect: "all" };
    device.queue.writeTexture(side, new Uint32Array(2), {}, { width: 1 });
  });
  const [{ words: recorded, data }] = streams(files);
  assert.deepEqual(
    recorded,
    list(
      [33, 1, 0, 0, 0, 0, 0, 0, 48, u64(0), 16, 3, 4, 2, 1],
      [33, 1, 1, 1, 0, 1, 1, 48, 8, u64(0), NO_STRIDE, NO_STRIDE, 1, 1, 1],
    ),
  );
  assert.deepEqual(data.slice(0, 2), [12, 13]);
  assert.equal(data.length, 56);
});

Deno.test("copies between buffers and between textures", async () => {
  const files = await record((device) => {
    const [from, to] = [buffer(device, COPY_SRC), buffer(device, COPY_DST, 128)];
    const usage = TEXTURE_COPY_SRC | TEXTURE_COPY_DST;
    const texture = device.createTexture({ size: { width: 8, height: 8 }, format: "depth24plus-stencil8", usage });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(from, 8, to, 16, 24);
    encoder.copyTextureToTexture(
      { texture, aspect: "stencil-only" },
      { texture, mipLevel: 1, origin: { x: 2, z: 3 }, aspect: "depth-only" },
      [5, 6, 7],
    );
    device.queue.submit([encoder.finish()]);
  });
  assert.equal(json(files, "recording.json").notCarried["a command buffer that is not carried"], undefined);
  assert.deepEqual(
    onlyWords(files),
    list(
      [31, 1, u64(8), 2, u64(16), u64(24)],
      [32, 3, 0, 0, 0, 0, 2, 3, 1, 2, 0, 3, 3, 5, 6, 7],
      [40],
    ),
  );
});

const SHADER = `
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { numbers[id.x] *= 2u; }
@vertex fn corner(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0); }
@fragment fn green() -> @location(0) vec4f { return vec4f(0.0, 1.0, 0.0, 1.0); }`;

/** A render pipeline without bindings and what it draws on. @param {any} device */
function drawing(device) {
  const module = device.createShaderModule({ code: SHADER });
  const pipeline = device.createRenderPipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: [] }),
    vertex: {
      module,
      entryPoint: "corner",
      buffers: [{ arrayStride: 8, attributes: [{ format: "float32x2", offset: 0, shaderLocation: 0 }] }],
    },
    fragment: { module, entryPoint: "green", targets: [{ format: "rgba8unorm" }] },
  });
  const usage = RENDER_ATTACHMENT | TEXTURE_COPY_SRC;
  const texture = device.createTexture({ size: [8, 8], format: "rgba8unorm", usage });
  return { pipeline, texture, view: texture.createView() };
}

Deno.test("objects of every kind, with what stands for the objects that they hold", async () => {
  const files = await record((device) => {
    const { view } = drawing(device);
    const sampler = device.createSampler({ magFilter: "linear", label: "smooth" });
    const layout = device.createBindGroupLayout({
      entries: [
        { binding: 0, visibility: 4, buffer: { type: "uniform", hasDynamicOffset: true } },
        { binding: 3, visibility: 4, sampler: {} },
        { binding: 5, visibility: 4, texture: { sampleType: "float" } },
      ],
    });
    const uniform = buffer(device, UNIFORM, 512);
    device.createBindGroup({
      layout,
      entries: [
        { binding: 0, resource: { buffer: uniform, offset: 256, size: 64 } },
        { binding: 3, resource: sampler },
        { binding: 5, resource: view },
      ],
    });
    device.createPipelineLayout({ bindGroupLayouts: [layout, layout] });
    const module = device.createShaderModule({ code: SHADER });
    device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main", constants: {} } });
  });
  const stage = { arrayStride: 8, attributes: [{ format: "float32x2", offset: 0, shaderLocation: 0 }] };
  const size = { width: 8, height: 8, depthOrArrayLayers: 1 };
  assert.deepEqual(rows(files), [
    [1, "shader module", [], { code: SHADER }],
    [2, "pipeline layout", [], {}],
    [3, "render pipeline", [2, 1, 1], {
      vertex: { entryPoint: "corner", buffers: [stage] },
      fragment: { entryPoint: "green", targets: [{ format: "rgba8unorm" }] },
    }],
    [4, "texture", [], { size, format: "rgba8unorm", usage: 17 }],
    [5, "texture view", [4], {}],
    [6, "sampler", [], { magFilter: "linear" }],
    [7, "bind group layout", [], {
      entries: [
        { binding: 0, visibility: 4, buffer: { type: "uniform", hasDynamicOffset: true } },
        { binding: 3, visibility: 4, sampler: {} },
        { binding: 5, visibility: 4, texture: { sampleType: "float" } },
      ],
    }],
    [8, "buffer", [], { size: 512, usage: UNIFORM }],
    [9, "bind group", [7, 8, 6, 5], {
      entries: [{ binding: 0, offset: 256, size: 64 }, { binding: 3 }, { binding: 5 }],
    }],
    [10, "pipeline layout", [7, 7], {}],
    [11, "shader module", [], { code: SHADER }],
    [12, "compute pipeline", [0, 11], { compute: { entryPoint: "main", constants: {} } }],
  ]);
});

Deno.test("pipelines made asynchronously are objects by the time that the program has them", async () => {
  const files = await record(async (device) => {
    const module = device.createShaderModule({ code: SHADER });
    const pipeline = await device.createComputePipelineAsync({
      layout: "auto",
      compute: { module, entryPoint: "main" },
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.end();
    device.queue.submit([encoder.finish()]);
  });
  assert.deepEqual(rows(files)[1], [2, "compute pipeline", [0, 1], { compute: { entryPoint: "main" } }]);
  assert.deepEqual(onlyWords(files), list([22], [1, 2], [21], [40]));
});

Deno.test("a render pass, command by command", async () => {
  const files = await record((device) => {
    const { pipeline, view } = drawing(device);
    const depth = device.createTexture({ size: [8, 8], format: "depth24plus-stencil8", usage: RENDER_ATTACHMENT });
    const vertices = buffer(device, VERTEX | INDEX | INDIRECT);
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginRenderPass({
      colorAttachments: [
        null,
        { view, clearValue: [0, 0.25, 0.5, 1], loadOp: "clear", storeOp: "store" },
        { view, resolveTarget: view, loadOp: "load", storeOp: "discard" },
      ],
      depthStencilAttachment: {
        ...{ view: depth.createView(), depthLoadOp: "clear", depthStoreOp: "discard", depthClearValue: 0.5 },
        ...{ stencilReadOnly: true, stencilClearValue: 3 },
      },
    });
    pass.setPipeline(pipeline);
    pass.setVertexBuffer(0, vertices);
    pass.setVertexBuffer(1, vertices, 8, 16);
    pass.setIndexBuffer(vertices, "uint16");
    pass.setIndexBuffer(vertices, "uint32", 4, 8);
    pass.setViewport(0, 1, 8, 7, 0, 0.5);
    pass.setScissorRect(1, 2, 3, 4);
    pass.setBlendConstant({ r: 0.5, g: 1, b: 2, a: 4 });
    pass.setStencilReference(255);
    pass.draw(3);
    pass.draw(3, 2, 1, 4);
    pass.drawIndexed(6, 1, 2, -1, 3);
    pass.drawIndexed(6);
    pass.drawIndirect(vertices, 16);
    pass.drawIndexedIndirect(vertices, 20);
    pass.end();
    device.queue.submit([encoder.finish()]);
  });
  assert.deepEqual(rows(files).map((/** @type {any} */ [id, kind]) => [id, kind]).slice(5), [
    [6, "texture"],
    [7, "buffer"],
    [8, "texture view"],
  ]);
  assert.deepEqual(
    onlyWords(files),
    list(
      [20, 3],
      [0, 0, 1, 1, 0, 0, 0, 0],
      [5, 0, 2, 1, f32(0), f32(0.25), f32(0.5), f32(1)],
      [5, 5, 1, 2, 0, 0, 0, 0],
      [1, 8, 2, 2, f32(0.5), 0, 0, 0, 3, 1],
      [1, 3],
      [5, 0, 7, u64(0), u64(0)],
      [5, 1, 7, u64(8), u64(16)],
      [6, 7, 1, u64(0), u64(0)],
      [6, 7, 2, u64(4), u64(8)],
      [7, f32(0), f32(1), f32(8), f32(7), f32(0), f32(0.5)],
      [8, 1, 2, 3, 4],
      [9, f32(0.5), f32(1), f32(2), f32(4)],
      [10, 255],
      [3, 3, 1, 0, 0],
      [3, 3, 2, 1, 4],
      [4, 6, 1, 2, 0xffffffff, 3],
      [4, 6, 1, 0, 0, 0],
      [12, 7, u64(16)],
      [13, 7, u64(20)],
      [21],
      [40],
    ),
  );
});

Deno.test("a compute pass, and dynamic offsets in both forms", async () => {
  const files = await record((device) => {
    const layout = device.createBindGroupLayout({ entries: [] });
    const group = device.createBindGroup({ layout, entries: [] });
    const counts = buffer(device, INDIRECT);
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setBindGroup(0, group);
    pass.setBindGroup(1, group, [256, 512]);
    pass.setBindGroup(2, group, Uint32Array.of(1, 2, 3, 4), 1, 2);
    pass.setBindGroup(3, null);
    pass.dispatchWorkgroups(4);
    pass.dispatchWorkgroups(4, 5, 6);
    pass.dispatchWorkgroupsIndirect(counts, 12);
    pass.end();
    device.queue.submit([encoder.finish()]);
  });
  assert.deepEqual(
    onlyWords(files),
    list(
      [22],
      [2, 0, 2, 0],
      [2, 1, 2, 2, 256, 512],
      [2, 2, 2, 2, 2, 3],
      [2, 3, 0, 0],
      [23, 4, 1, 1],
      [23, 4, 5, 6],
      [24, 3, u64(12)],
      [21],
      [40],
    ),
  );
});

Deno.test("a bundle's words name positions in its references", async () => {
  const files = await record((device) => {
    const { pipeline, view } = drawing(device);
    const vertices = buffer(device, VERTEX);
    const bundleEncoder = device.createRenderBundleEncoder({ colorFormats: ["rgba8unorm"] });
    bundleEncoder.setVertexBuffer(0, vertices);
    bundleEncoder.setPipeline(pipeline);
    bundleEncoder.setVertexBuffer(1, vertices, 8);
    bundleEncoder.draw(3);
    const bundle = bundleEncoder.finish();
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: "load", storeOp: "store" }] });
    pass.executeBundles([bundle, bundle]);
    pass.end();
    device.queue.submit([encoder.finish()]);
  });
  assert.deepEqual(rows(files).at(-1), [7, "render bundle", [6, 3], {
    colorFormats: ["rgba8unorm"],
    words: list([5, 0, 1, u64(0), u64(0)], [1, 2], [5, 1, 1, u64(8), u64(0)], [3, 3, 1, 0, 0]),
  }]);
  assert.deepEqual(onlyWords(files), list([20, 1, 5, 0, 1, 1, 0, 0, 0, 0, 0], [11, 2, 7, 7], [21], [40]));
});

Deno.test("what version 4 has no command for is counted by name", async () => {
  const files = await record((device) => {
    const queries = device.createQuerySet({ type: "occlusion", count: 2 });
    const { pipeline, view } = drawing(device);
    const target = buffer(device, COPY_DST | 512, 512);
    const encoder = device.createCommandEncoder();
    encoder.pushDebugGroup("frame");
    const pass = encoder.beginRenderPass({
      colorAttachments: [{ view, loadOp: "load", storeOp: "store" }],
      occlusionQuerySet: queries,
    });
    pass.beginOcclusionQuery(0);
    pass.setPipeline(pipeline);
    pass.endOcclusionQuery();
    pass.insertDebugMarker("here");
    pass.insertDebugMarker("there");
    pass.end();
    encoder.popDebugGroup();
    encoder.resolveQuerySet(queries, 0, 2, target, 0);
    device.queue.submit([encoder.finish()]);
  });
  assert.deepEqual(json(files, "recording.json").notCarried, {
    "GPUCommandEncoder.popDebugGroup": 1,
    "GPUCommandEncoder.pushDebugGroup": 1,
    "GPUCommandEncoder.resolveQuerySet": 1,
    "GPUDevice.createQuerySet": 1,
    "GPURenderPassEncoder.beginOcclusionQuery": 1,
    "GPURenderPassEncoder.endOcclusionQuery": 1,
    "GPURenderPassEncoder.insertDebugMarker": 2,
    "beginRenderPass.occlusionQuerySet": 1,
  });
  assert.deepEqual(onlyWords(files), list([20, 1, 5, 0, 1, 1, 0, 0, 0, 0, 0], [1, 3], [21], [40]));
});

Deno.test("copies of other kinds are counted, and written down beside the stream that they end", async () => {
  const files = await record((device) => {
    const bytes = buffer(device, COPY_SRC | COPY_DST, 1024);
    const { texture } = drawing(device);
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(bytes, 0, bytes, 512, 4);
    encoder.clearBuffer(bytes, 8);
    encoder.copyTextureToBuffer({ texture, origin: [1, 2] }, { buffer: bytes, bytesPerRow: 256 }, [3, 2]);
    encoder.copyBufferToBuffer(bytes, 0, bytes, 512, 8);
    encoder.copyBufferToTexture({ buffer: bytes, offset: 256 }, { texture, mipLevel: 1 }, [2]);
    device.queue.submit([encoder.finish()]);
  });
  const copy = (/** @type {number} */ size) => [31, 1, u64(0), 1, u64(512), u64(size)];
  assert.deepEqual(streams(files).map((/** @type {any} */ stream) => stream.words), [
    list(copy(4), [40]),
    list(copy(8), [40]),
  ]);
  const manifest = json(files, "recording.json");
  const side = (/** @type {object} */ rest) => ({ texture: { "@": 5 }, mipLevel: 0, aspect: "all", ...rest });
  const size = (/** @type {number} */ width, /** @type {number} */ height) => ({
    width,
    height,
    depthOrArrayLayers: 1,
  });
  assert.deepEqual(manifest.streams.map((/** @type {any} */ { copies }) => copies), [
    [
      { method: "clearBuffer", args: [{ "@": 1 }, 8, 1016] },
      {
        method: "copyTextureToBuffer",
        args: [
          side({ origin: { x: 1, y: 2, z: 0 } }),
          { buffer: { "@": 1 }, offset: 0, bytesPerRow: 256 },
          size(3, 2),
        ],
      },
    ],
    [{
      method: "copyBufferToTexture",
      args: [{ buffer: { "@": 1 }, offset: 256 }, side({ mipLevel: 1, origin: { x: 0, y: 0, z: 0 } }), size(2, 1)],
    }],
  ]);
  assert.deepEqual(manifest.notCarried, {
    "GPUCommandEncoder.clearBuffer": 1,
    "GPUCommandEncoder.copyBufferToTexture": 1,
    "GPUCommandEncoder.copyTextureToBuffer": 1,
  });
});

Deno.test("a pass into a slice of a 3D texture is left out whole, under one name", async () => {
  const files = await record((device) => {
    const usage = RENDER_ATTACHMENT;
    const texture = device.createTexture({ size: [8, 8, 4], dimension: "3d", format: "rgba8unorm", usage });
    const encoder = device.createCommandEncoder();
    const attachment = { view: texture.createView(), depthSlice: 1, loadOp: "clear", storeOp: "store" };
    const pass = encoder.beginRenderPass({ colorAttachments: [attachment] });
    pass.draw(3);
    pass.end();
    device.queue.submit([encoder.finish()]);
  });
  assert.deepEqual(onlyWords(files), [40]);
  assert.deepEqual(json(files, "recording.json").notCarried, { "a render pass with a depthSlice": 1 });
});

Deno.test("words that a reader would refuse are left out and named", async () => {
  const files = await record((device) => {
    const target = buffer(device, COPY_DST);
    device.queue.writeBuffer(target, 0, new Uint8Array(6));
    const encoder = device.createCommandEncoder();
    encoder.beginComputePass();
    device.queue.submit([encoder.finish()]);
  });
  assert.deepEqual(streams(files), []);
  assert.deepEqual(json(files, "recording.json").notCarried, {
    "a command buffer that is not carried": 1,
    "a command buffer whose words are refused: open-pass": 1,
    "writeBuffer of a length that is no multiple of 4": 1,
  });
});

Deno.test("members beyond the format's are named", async () => {
  const files = await record((device) => {
    device.createSampler({ compare: undefined, sparkle: 3, lodMaxClamp: 4, label: "a label" });
  });
  assert.deepEqual(rows(files), [[1, "sampler", [], { lodMaxClamp: 4 }]]);
  assert.deepEqual(json(files, "recording.json").notCarried, { "createSampler.sparkle": 1 });
});

Deno.test("a call that throws leaves no trace", async () => {
  const files = await record((device) => {
    assert.throws(() => device.createBuffer({}));
    assert.throws(() => device.queue.writeBuffer(buffer(device, COPY_DST), -1, new Uint8Array(4)));
  });
  assert.deepEqual(rows(files).map((/** @type {any[]} */ [id]) => id), [1]);
  assert.deepEqual(json(files, "recording.json").streams, []);
  assert.deepEqual(json(files, "recording.json").notCarried, {});
});

Deno.test("the device that the program asked for, and only the first", async () => {
  const recorder = new Recorder();
  const gpu = freshGpu();
  recorder.watch(gpu);
  const adapter = await gpu.requestAdapter();
  assert.ok(adapter, "no WebGPU adapter");
  const first = await adapter.requestDevice({ requiredLimits: { maxBufferSize: 1 << 20 } });
  const other = await (await gpu.requestAdapter())?.requestDevice();
  other?.createBuffer({ size: 4, usage: COPY_DST });
  const [objects, manifest] = recorder.files({ name: "test" }).map(({ bytes }) =>
    JSON.parse(new TextDecoder().decode(bytes))
  );
  assert.deepEqual(objects, []);
  assert.deepEqual(manifest.device, { requiredFeatures: [], requiredLimits: { maxBufferSize: 1 << 20 } });
  const { vendor, architecture, device, description } = adapter.info;
  assert.notEqual(description, "");
  assert.deepEqual(manifest.adapter, { vendor, architecture, device, description });
  assert.deepEqual(manifest.notCarried, { "a second device": 1 });
  first.destroy();
  other?.destroy();
});

Deno.test("a canvas's texture is an object like others", async () => {
  const files = await record(async (_device, recorder) => {
    const elsewhere = await (await navigator.gpu.requestAdapter())?.requestDevice();
    const usage = RENDER_ATTACHMENT;
    const texture = elsewhere?.createTexture({ size: [6, 4], format: "bgra8unorm", usage });
    const context = { getCurrentTexture: () => texture, configure: () => {} };
    recorder.watchContext(context);
    context.configure();
    context.getCurrentTexture();
    context.getCurrentTexture()?.createView();
    elsewhere?.destroy();
  });
  const size = { width: 6, height: 4, depthOrArrayLayers: 1 };
  const body = { size, format: "bgra8unorm", usage: 16, mipLevelCount: 1, sampleCount: 1, dimension: "2d" };
  assert.deepEqual(rows(files), [[1, "texture", [], body], [2, "texture view", [1], {}]]);
});

Deno.test("a canvas's later textures are the first one, cleared, until its size is another", async () => {
  const files = await record((device, recorder) => {
    const sizes = [[6, 4], [6, 4], [6, 4], [8, 4]];
    const usage = RENDER_ATTACHMENT;
    const context = {
      getCurrentTexture: () => device.createTexture({ size: sizes.shift(), format: "r8unorm", usage }),
    };
    // The program's own textures are watched by the device; a canvas's are not.
    const { createTexture } = Object.getPrototypeOf(device);
    device.createTexture = createTexture;
    recorder.watchContext(context);
    for (let frame = 0; frame < 4; frame++) {
      const view = context.getCurrentTexture().createView();
      const encoder = device.createCommandEncoder();
      encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: "load", storeOp: "store" }] }).end();
      device.queue.submit([encoder.finish()]);
    }
  });
  const body = (/** @type {number} */ width) => ({
    ...{ size: { width, height: 4, depthOrArrayLayers: 1 }, format: "r8unorm", usage: 16 },
    ...{ mipLevelCount: 1, sampleCount: 1, dimension: "2d" },
  });
  assert.deepEqual(rows(files), [
    [1, "texture", [], body(6)],
    [2, "texture view", [1], {}],
    [3, "texture view", [1], {}],
    [4, "texture view", [1], {}],
    [5, "texture view", [1], {}],
    [6, "texture", [], body(8)],
    [7, "texture view", [6], {}],
  ]);
  const [LOAD, CLEAR, STORE] = [1, 2, 1];
  const pass = (
    /** @type {number} */ view,
    /** @type {number} */ load,
  ) => [20, 1, view, 0, load, STORE, 0, 0, 0, 0, 0, 21];
  assert.deepEqual(streams(files).map((/** @type {any} */ { words }) => words), [
    [...pass(2, LOAD), 40],
    [...pass(3, CLEAR), ...pass(4, LOAD), 40],
    [...pass(3, CLEAR), ...pass(5, LOAD), 40],
    [...pass(7, LOAD), 40],
  ]);
});

Deno.test("an automatic layout is written out from the program's bind groups and the WGSL", async () => {
  const files = await record((device) => {
    const module = device.createShaderModule({ code: SHADER });
    const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
    const numbers = buffer(device, STORAGE);
    for (let i = 0; i < 2; i++) {
      const layout = pipeline.getBindGroupLayout(0);
      device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer: numbers } }] });
    }
  });
  const entry = { binding: 0, visibility: 4, buffer: { type: "storage" } };
  assert.deepEqual(rows(files), [
    [1, "shader module", [], { code: SHADER }],
    [4, "bind group layout", [], { entries: [entry] }],
    [7, "pipeline layout", [4], {}],
    [2, "compute pipeline", [7, 1], { compute: { entryPoint: "main" } }],
    [3, "buffer", [], { size: 64, usage: STORAGE }],
    [5, "bind group", [4, 3], { entries: [{ binding: 0 }] }],
    [6, "bind group", [4, 3], { entries: [{ binding: 0 }] }],
  ]);
  assert.deepEqual(json(files, "recording.json").notCarried, {});
});

Deno.test("files asked for in the middle change nothing of what comes after", async () => {
  const program =
    (/** @type {boolean} */ inTheMiddle) => (/** @type {any} */ device, /** @type {Recorder} */ recorder) => {
      const look = () => inTheMiddle && recorder.files({ name: "test" });
      const module = device.createShaderModule({ code: SHADER });
      const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
      const layout = pipeline.getBindGroupLayout(0);
      look();
      const entries = [{ binding: 0, resource: { buffer: buffer(device, STORAGE) } }];
      device.createBindGroup({ layout, entries });
      device.queue.submit([]);
      look();
      device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
      device.queue.submit([]);
    };
  const [seldom, often] = [await record(program(false)), await record(program(true))];
  assert.deepEqual(rows(seldom).map((/** @type {any[]} */ [, kind, refs]) => [kind, refs]), [
    ["shader module", []],
    ["bind group layout", []],
    ["pipeline layout", [3]],
    ["compute pipeline", [7, 1]],
    ["buffer", []],
    ["bind group", [3, 4]],
    ["bind group", [3, 4]],
  ]);
  // The layout's row was made earlier.
  const withoutIds = (/** @type {Files} */ files) =>
    rows(files).map((/** @type {any[]} */ [, kind, refs, body]) => [kind, refs.length, body]);
  assert.deepEqual(withoutIds(often), withoutIds(seldom));
  assert.deepEqual(json(often, "recording.json"), json(seldom, "recording.json"));
});

Deno.test("what is recorded so far", async () => {
  await record((device, recorder) => {
    assert.deepEqual(recorder.progress, { submits: 0, objects: 0, bytes: 0 });
    const target = buffer(device, COPY_DST);
    device.queue.writeBuffer(target, 0, Uint8Array.of(1, 2, 3, 4));
    device.queue.submit([]);
    // WriteBuffer has 6 words and 4 bytes of data, Submit 1 word.
    assert.deepEqual(recorder.progress, { submits: 1, objects: 1, bytes: 4 * 7 + 4 });
  });
});

Deno.test("a pipeline's own layout is what getBindGroupLayout gives", async () => {
  const files = await record((device) => {
    const module = device.createShaderModule({ code: SHADER });
    const entries = [{ binding: 0, visibility: 4, buffer: { type: "storage" } }];
    const layout = device.createPipelineLayout({ bindGroupLayouts: [device.createBindGroupLayout({ entries })] });
    const pipeline = device.createComputePipeline({ layout, compute: { module, entryPoint: "main" } });
    const resource = { buffer: buffer(device, STORAGE) };
    device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource }] });
  });
  assert.deepEqual(rows(files).at(-1), [6, "bind group", [2, 5], { entries: [{ binding: 0 }] }]);
});

Deno.test("the entries of an automatic layout, type by type", () => {
  const code = `
    // @group(1) @binding(0) var<uniform> not_this: u32;
    @group(1) @binding(0) var<uniform> a: vec4f; /* @group(1) @binding(0) var nor_this: sampler; */
    @binding(1) @group(1) var<storage> b: array<u32>;
    @group(1) @binding(2) var<storage, read_write> c: array<vec4<f32>, 4>;
    @group(1) @binding(3) var d: sampler;
    @group(1u) @binding(4) var e : sampler_comparison;
    @group(1) @binding(5) var f: texture_2d<f32>;
    @group(1) @binding(6) var g: texture_cube_array<u32>;
    @group(1) @binding(7) var h: texture_depth_2d_array;
    @group(1) @binding(8) var i: texture_multisampled_2d<f32>;
    @group(1) @binding(9) var j: texture_storage_3d<rgba8unorm, write>;
    @group(1) @binding(10) var k: texture_2d<f32>;
    @group(0) @binding(0) var<uniform> elsewhere: u32;
    @group(1) @binding(0) var unused: texture_2d<f32>;
    fn helper() { if (a.x > 0.0) { use(b, c, d, e, f); } use(g, h, i, j, k); }
    @compute @workgroup_size(1) fn main() { helper(); }`;
  const use = Array.from({ length: 11 }, (_, binding) => ({ binding, filters: binding === 3 }));
  const uses = [use, [{ binding: 10, format: "r32float" }]];
  const texture = (/** @type {string} */ sampleType, /** @type {string} */ viewDimension, multisampled = false) => {
    return { texture: { sampleType, viewDimension, multisampled } };
  };
  assert.deepEqual(automaticEntries(computeStages(code, undefined), 1, uses), [
    { binding: 0, visibility: 4, buffer: { type: "uniform" } },
    { binding: 1, visibility: 4, buffer: { type: "read-only-storage" } },
    { binding: 2, visibility: 4, buffer: { type: "storage" } },
    { binding: 3, visibility: 4, sampler: { type: "filtering" } },
    { binding: 4, visibility: 4, sampler: { type: "comparison" } },
    { binding: 5, visibility: 4, ...texture("float", "2d") },
    { binding: 6, visibility: 4, ...texture("uint", "cube-array") },
    { binding: 7, visibility: 4, ...texture("depth", "2d-array") },
    { binding: 8, visibility: 4, ...texture("unfilterable-float", "2d", true) },
    { binding: 9, visibility: 4, storageTexture: { access: "write-only", format: "rgba8unorm", viewDimension: "3d" } },
    { binding: 10, visibility: 4, ...texture("unfilterable-float", "2d") },
  ]);
});

Deno.test("an automatic layout is seen by the stages that use it; what writes is not seen by vertex stages", () => {
  const code = `
    @group(0) @binding(0) var<uniform> a: u32;
    @group(0) @binding(1) var<storage, read_write> b: u32;
    @group(0) @binding(2) var s: sampler;
    @group(0) @binding(2) var<uniform> other: u32;
    @vertex fn corner() -> @builtin(position) vec4f { return vec4f(f32(a + b)); }
    @fragment fn color() -> @location(0) vec4f { b += a; return sample(s); }
    @fragment fn plain() -> @location(0) vec4f { return vec4f(f32(other)); }`;
  const uses = [[{ binding: 2 }, { binding: 1 }, { binding: 0 }]];
  assert.deepEqual(automaticEntries(renderStages(code, undefined, code, "color"), 0, uses), [
    { binding: 0, visibility: 3, buffer: { type: "uniform" } },
    { binding: 1, visibility: 2, buffer: { type: "storage" } },
    { binding: 2, visibility: 2, sampler: { type: "non-filtering" } },
  ]);
  assert.deepEqual(automaticEntries(renderStages(code, "corner", code, "plain"), 0, [[{ binding: 2 }]]), [
    { binding: 2, visibility: 2, buffer: { type: "uniform" } },
  ]);
});

Deno.test("an automatic layout that cannot be read is named", () => {
  const of = (/** @type {string} */ code) => {
    const stages = computeStages(`${code} @compute @workgroup_size(1) fn main() { use(t); }`, "main");
    return () => automaticEntries(stages, 0, [[{ binding: 0 }]]);
  };
  assert.throws(of(""), { message: "an automatic layout with a binding that its WGSL does not use" });
  assert.throws(of("@group(0) @binding(0) var<uniform> u: u32;"), {
    message: "an automatic layout with a binding that its WGSL does not use",
  });
  assert.throws(of("alias T = texture_2d<f32>; @group(0) @binding(0) var t: T;"), {
    message: "an automatic layout with a binding of type T",
  });
});

Deno.test("the kinds' names are those of an object table, by number", () => {
  assert.deepEqual(KIND_NAMES.slice(1, 4), ["buffer", "texture", "texture view"]);
  assert.equal(KIND_NAMES.length, 12);
});

/** Doubles four numbers, draws a triangle, reads both back. @param {any} device */
async function wholeProgram(device) {
  const module = device.createShaderModule({ code: SHADER });
  const compute = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
  const { pipeline, texture, view } = drawing(device);
  const numbers = device.createBuffer({ size: 16, usage: STORAGE | COPY_SRC, mappedAtCreation: true });
  new Uint32Array(numbers.getMappedRange()).set([1, 20, 300, 4000]);
  numbers.unmap();
  const vertices = buffer(device, VERTEX | COPY_DST);
  device.queue.writeBuffer(vertices, 0, Float32Array.of(-1, -1, 3, -1, -1, 3));
  const resource = { buffer: numbers };
  const group = device.createBindGroup({ layout: compute.getBindGroupLayout(0), entries: [{ binding: 0, resource }] });
  const result = buffer(device, MAP_READ | COPY_DST, 16 + 256 * 8);
  const encoder = device.createCommandEncoder();
  const computePass = encoder.beginComputePass();
  computePass.setPipeline(compute);
  computePass.setBindGroup(0, group);
  computePass.dispatchWorkgroups(4);
  computePass.end();
  const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: "clear", storeOp: "store" }] });
  pass.setPipeline(pipeline);
  pass.setVertexBuffer(0, vertices);
  pass.draw(3);
  pass.end();
  encoder.copyBufferToBuffer(numbers, 0, result, 0, 16);
  device.queue.submit([encoder.finish()]);
  const copies = device.createCommandEncoder();
  copies.copyTextureToBuffer({ texture }, { buffer: result, offset: 256, bytesPerRow: 256 }, [8, 7]);
  device.queue.submit([copies.finish()]);
  await result.mapAsync(MAP_READ);
  const seen = new Uint32Array(result.getMappedRange());
  assert.deepEqual(Array.from(seen.slice(0, 4)), [2, 40, 600, 8000]);
  assert.deepEqual(Array.from(seen.slice(64, 66)), [0xff00ff00, 0xff00ff00]);
}

/** @param {Files} files */
async function replayed(files) {
  const device = await (await navigator.gpu.requestAdapter())?.requestDevice();
  const outcome = await replayRecording(device, readRecording(files));
  device?.destroy();
  return outcome;
}

Deno.test("a replay of a recording reads what the program read", async () => {
  const files = await record(wholeProgram);
  const { refused, differences, compared, reads } = await replayed(files);
  assert.deepEqual([refused, differences], [[], []]);
  assert.deepEqual([reads, compared], [1, 2064]);
});

Deno.test("a replay says what differs: other bytes, a call that the device refuses, an object that is not made", async () => {
  const files = await record(wholeProgram);
  const { reads, blob } = json(files, "recording.json").streams.at(-1);
  const other = files(reads).slice();
  other[260]++;
  const changed = await replayed((name) => name === reads ? other : files(name));
  assert.equal(changed.differences.length, 1);
  assert.match(
    changed.differences[0],
    new RegExp(`^${blob}: buffer \\d+ differs from what the program read, from byte 260$`),
  );

  const without = json(files, "objects.json").filter((/** @type {any} */ { kind }) => kind !== "bind group");
  const bytes = new TextEncoder().encode(JSON.stringify(without));
  const { refused } = await replayed((name) => name === "objects.json" ? bytes : files(name));
  assert.match(refused[0], /^00000.wire: wrong-kind at word \d+/);
});

Deno.test("a program is recorded on Dawn word for word as on deno's WebGPU", async () => {
  const on = async (/** @type {string} */ engine) => {
    const script = new URL("record_on.js", import.meta.url).href;
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", script, engine],
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const { manifest: { adapter, ...manifest }, ...recorded } = JSON.parse(new TextDecoder().decode(stdout));
    assert.ok(Object.values(adapter).some((word) => word !== ""), `${engine} says nothing of its adapter`);
    return { manifest, ...recorded };
  };
  const dawn = await on("dawn-null");
  assert.deepEqual(dawn, await on("deno"));
  assert.deepEqual(
    dawn.words,
    [list(
      [30, 3, u64(0), 0, 16],
      [30, 9, u64(0), 16, 24],
      [[22], [1, 2], [2, 0, 5, 0], [23, 4, 1, 1], [21]],
      [20, 1, 8, 0, 2, 1, 0, 0, 0, 0, 0],
      [11, 1, 10],
      [7, 0, 0, f32(8), f32(1), 0, f32(1)],
      [21],
      [31, 3, u64(0), 11, u64(0), u64(16)],
      [40],
      [34, 11, u64(0), 16, 0],
    )],
  );
});
