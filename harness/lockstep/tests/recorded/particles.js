/** Particles that a compute shader moves: prints where they are. `--count N` gives their number, `--fail` ends it early. */

const at = Deno.args.indexOf("--count");
const count = at < 0 ? 4 : Number(Deno.args[at + 1]);
const adapter = await navigator.gpu.requestAdapter();
const device = await adapter.requestDevice();
const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
const places = device.createBuffer({ size: 4 * count, usage: STORAGE | COPY_SRC | COPY_DST });
const seen = device.createBuffer({ size: 4 * count, usage: COPY_DST | MAP_READ });
const code = `@group(0) @binding(0) var<storage, read_write> places: array<u32>;
@compute @workgroup_size(1) fn go(@builtin(global_invocation_id) id: vec3u) { places[id.x] += id.x; }`;
const module = device.createShaderModule({ code });
const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
const layout = pipeline.getBindGroupLayout(0);
const group = device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer: places } }] });
device.queue.writeBuffer(places, 0, new Uint32Array(count).fill(100));
const encoder = device.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, group);
pass.dispatchWorkgroups(count);
pass.end();
encoder.copyBufferToBuffer(places, 0, seen, 0, 4 * count);
device.queue.submit([encoder.finish()]);
if (Deno.args.includes("--fail")) throw new Error("as it was told");
await seen.mapAsync(GPUMapMode.READ);
console.log([...new Uint32Array(seen.getMappedRange())].join(" "));
