/**
 * Records one small program on deno's WebGPU or on Dawn's null backend and prints the rows, the words and the manifest as JSON:
 *
 *     deno run --allow-all record_on.js deno | dawn-null
 */
import { parseBlob } from "../replay.js";
import { Recorder } from "../record.js";
import { gpuOf } from "../replay_recording.js";

const CODE = `
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { numbers[id.x] *= 2u; }
@vertex fn corner(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0); }
@fragment fn green() -> @location(0) vec4f { return vec4f(0.0, 1.0, 0.0, 1.0); }`;

/** @param {any} device */
async function program(device) {
  const module = device.createShaderModule({ code: CODE });
  const compute = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
  const numbers = device.createBuffer({ size: 16, usage: 0x84, mappedAtCreation: true });
  new Uint32Array(numbers.getMappedRange()).set([1, 2, 3, 4]);
  numbers.unmap();
  const layout = compute.getBindGroupLayout(0);
  const group = device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer: numbers } }] });
  const buffers = [{ arrayStride: 8, attributes: [{ format: "float32x2", offset: 0, shaderLocation: 0 }] }];
  const pipeline = device.createRenderPipeline({
    layout: "auto",
    vertex: { module, entryPoint: "corner", buffers },
    fragment: { module, entryPoint: "green", targets: [{ format: "rgba8unorm" }] },
  });
  const view = device.createTexture({ size: [8], format: "rgba8unorm", usage: 0x11 }).createView();
  const vertices = device.createBuffer({ size: 24, usage: 0x28 });
  device.queue.writeBuffer(vertices, 0, new Float32Array([9, -1, -1, 3, -1, -1, 3]), 1);
  const bundleEncoder = device.createRenderBundleEncoder({ colorFormats: ["rgba8unorm"] });
  bundleEncoder.setPipeline(pipeline);
  bundleEncoder.setVertexBuffer(0, vertices);
  bundleEncoder.draw(3);
  const bundle = bundleEncoder.finish();
  const result = device.createBuffer({ size: 16, usage: 9 });
  const encoder = device.createCommandEncoder();
  const computePass = encoder.beginComputePass();
  computePass.setPipeline(compute);
  computePass.setBindGroup(0, group);
  computePass.dispatchWorkgroups(4);
  computePass.end();
  const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: "clear", storeOp: "store" }] });
  pass.executeBundles([bundle]);
  pass.setViewport(0, 0, 8, 1, 0, 1);
  pass.pushDebugGroup("triangle");
  pass.popDebugGroup();
  pass.end();
  encoder.copyBufferToBuffer(numbers, 0, result, 0, 16);
  device.queue.submit([encoder.finish()]);
  await result.mapAsync(1);
  result.getMappedRange();
  result.unmap();
}

const gpu = gpuOf(Deno.args[0]);
const recorder = new Recorder();
recorder.watch(gpu);
const device = await (await gpu.requestAdapter()).requestDevice();
await program(device);
const files = new Map(recorder.files({ name: "program" }).map(({ name, bytes }) => [name, bytes]));
const json = (/** @type {string} */ name) => JSON.parse(new TextDecoder().decode(files.get(name)));
const words = json("recording.json").streams.map((/** @type {any} */ { blob }) => {
  const parts = parseBlob(files.get(blob) ?? new Uint8Array(0));
  return parts.reason ?? Array.from(parts.words);
});
console.log(JSON.stringify({ objects: json("objects.json"), words, manifest: json("recording.json") }));
Deno.exit(0);
