/** One small stream on the machine's own WebGPU, read back. It fails where there is no adapter. */
import assert from "node:assert/strict";
import { appendDescriptor, checkRanges, checkReads, decode, KIND, listReads, makeObjects, replay } from "../replay.js";
import { END, f32, SUBMIT, u64, utf8, words } from "./helpers.js";

// WebGPU's usage bits.
const MAP_READ = 1;
const COPY_SRC = 4;
const COPY_DST = 8;
const STORAGE = 128;
const TEXTURE_BINDING = 4;
const RENDER_ATTACHMENT = 16;

const DOUBLE = `
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { numbers[id.x] *= 2u; }`;

const FETCH = `
@group(0) @binding(0) var<storage, read_write> texels: array<u32>;
@group(0) @binding(1) var image: texture_2d<f32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
  texels[id.x] = pack4x8unorm(textureLoad(image, id.xy, 0));
}`;

const TRIANGLE = `
@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
  return vec4f(select(-1.0, 3.0, i == 1u), select(-1.0, 3.0, i == 2u), 0.0, 1.0);
}
@fragment fn green() -> @location(0) vec4f { return vec4f(0.0, 1.0, 0.0, 1.0); }`;

/** @param {number} id @param {number} kind @param {number[]} refs @param {unknown} body */
function row(id, kind, refs, body) {
  const appended = appendDescriptor(new Uint8Array(0), refs, utf8(JSON.stringify(body)));
  assert.ok("bytes" in appended);
  return { id, kind, descriptor: appended.bytes };
}

const entry = (/** @type {number} */ binding, /** @type {object} */ rest) => ({ binding, visibility: 4, ...rest });
const storage = { buffer: { type: "storage" } };

/** The bundle's words: its references are the pipeline alone. */
const BUNDLE_WORDS = [1, 1, 3, 3, 1, 0, 0];

const BUFFER_SIZE = 16;
const ROWS = [
  row(1, KIND.buffer, [], { size: BUFFER_SIZE, usage: COPY_SRC | COPY_DST }),
  row(2, KIND.buffer, [], { size: BUFFER_SIZE, usage: COPY_SRC | COPY_DST | STORAGE }),
  row(3, KIND.buffer, [], { size: BUFFER_SIZE, usage: COPY_SRC | STORAGE }),
  row(4, KIND.buffer, [], { size: 2 * BUFFER_SIZE, usage: MAP_READ | COPY_DST }),
  row(5, KIND.texture, [], {
    size: [4, 4],
    format: "rgba8unorm",
    usage: TEXTURE_BINDING | RENDER_ATTACHMENT,
  }),
  row(6, KIND.view, [5], {}),
  row(7, KIND.module, [], { code: DOUBLE }),
  row(8, KIND.module, [], { code: FETCH }),
  row(9, KIND.module, [], { code: TRIANGLE }),
  row(10, KIND.bindGroupLayout, [], { entries: [entry(0, storage)] }),
  row(11, KIND.bindGroupLayout, [], { entries: [entry(0, storage), entry(1, { texture: {} })] }),
  row(12, KIND.pipelineLayout, [10], {}),
  row(13, KIND.pipelineLayout, [11], {}),
  row(14, KIND.computePipeline, [12, 7], { compute: { entryPoint: "main" } }),
  row(15, KIND.computePipeline, [13, 8], { compute: { entryPoint: "main" } }),
  row(16, KIND.bindGroup, [10, 2], { entries: [{ binding: 0, offset: 0, size: BUFFER_SIZE }] }),
  row(17, KIND.bindGroup, [11, 3, 6], { entries: [{ binding: 0, offset: 0 }, { binding: 1 }] }),
  row(18, KIND.renderPipeline, [0, 9, 9], {
    vertex: { entryPoint: "corner" },
    fragment: { entryPoint: "green", targets: [{ format: "rgba8unorm" }] },
  }),
  row(19, KIND.bundle, [18], { colorFormats: ["rgba8unorm"], words: BUNDLE_WORDS }),
];

/** A red clear, and green over the left half, drawn directly and by a bundle that replaces the pipeline. */
const RENDER = words(
  [20, 1, 6, 0, 2, 1, f32(1), f32(0), f32(0), f32(1), 0],
  [8, 0, 0, 2, 4],
  [1, 18],
  [3, 3, 1, 0, 0],
  [11, 1, 19],
  END,
);

const STREAM = words(
  [30, 1, ...u64(0), 4, BUFFER_SIZE],
  [31, 1, ...u64(0), 2, ...u64(0), ...u64(BUFFER_SIZE)],
  [22, 1, 14, 2, 0, 16, 0, 23, 4, 1, 1, 21],
  Array.from(RENDER),
  [22, 1, 15, 2, 0, 17, 0, 23, 4, 1, 1, 21],
  [31, 2, ...u64(0), 4, ...u64(0), ...u64(BUFFER_SIZE)],
  [31, 3, ...u64(0), 4, ...u64(BUFFER_SIZE), ...u64(BUFFER_SIZE)],
  SUBMIT,
  [34, 4, ...u64(0), 2 * BUFFER_SIZE, 0],
);

const DATA = new Uint8Array(new Uint32Array([0, 1, 20, 300, 4000]).buffer);

async function requestDevice() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("no WebGPU adapter on this machine: the replay on a real device was not tested");
  return await adapter.requestDevice();
}

/** The words of a read's window (rule 5). @param {GPUBuffer} buffer @param {number} offset @param {number} size */
async function read(buffer, offset, size) {
  await buffer.mapAsync(1, offset, size);
  const bytes = buffer.getMappedRange(offset, size).slice(0);
  buffer.unmap();
  return Array.from(new Uint32Array(bytes));
}

Deno.test("a write, a copy, dispatches, a render pass and a bundle on navigator.gpu", async () => {
  const device = await requestDevice();
  device.pushErrorScope("validation");
  const { table, refused } = makeObjects(device, ROWS);
  assert.deepEqual(refused, []);
  const { starts } = decode(STREAM, DATA.length);
  const bufferOf = (/** @type {number} */ id) => {
    const entry = table.get(id);
    return entry?.kind === KIND.buffer ? entry.object : undefined;
  };
  const [wanted] = listReads(STREAM, starts);
  assert.equal(checkRanges(STREAM, starts, (id) => bufferOf(id)?.size), null);
  assert.equal(checkReads([wanted], bufferOf, wanted.size), null);

  assert.deepEqual(replay(device, table, STREAM, DATA), { refusal: null, stop: null });
  const result = await read(bufferOf(wanted.id), wanted.offset, wanted.size);
  assert.equal((await device.popErrorScope())?.message, undefined);
  const [green, red] = [0xff00ff00, 0xff0000ff];
  assert.deepEqual(result, [2, 40, 600, 8000, green, green, red, red]);
  device.destroy();
});
