/// <reference lib="dom" />
/**
 * Conway's Game of Life on a torus, on the page's WebGPU: generations by compute, the last one drawn into a texture and for some
 * frames on the canvas, then generation and texture read back. Whole numbers and whole pixels only: every driver gives the same.
 */

const SIZE = 64;
/** A board of 32-bit cells or pixels. */
const BYTES = 4 * SIZE * SIZE;
const GENERATIONS = 12;
const FRAMES = 3;

const CODE = `
const SIZE = ${SIZE}u;
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;

fn cell(x: u32, y: u32) -> u32 { return now[(y % SIZE) * SIZE + x % SIZE]; }

@compute @workgroup_size(8, 8) fn live(@builtin(global_invocation_id) id: vec3u) {
  // One board further, so that what is before 0 is not below it.
  let x = id.x + SIZE;
  let y = id.y + SIZE;
  let around = cell(x - 1, y - 1) + cell(x, y - 1) + cell(x + 1, y - 1) + cell(x - 1, y)
    + cell(x + 1, y) + cell(x - 1, y + 1) + cell(x, y + 1) + cell(x + 1, y + 1);
  next[id.y * SIZE + id.x] = u32(around == 3 || (around == 2 && cell(x, y) == 1));
}

@vertex fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
  return vec4f(f32(index & 1) * 4 - 1, f32(index >> 1) * 4 - 1, 0, 1);
}

@fragment fn color(@builtin(position) at: vec4f) -> @location(0) vec4f {
  return select(vec4f(0, 0, 0.2, 1), vec4f(1, 0.8, 0, 1), now[u32(at.y) * SIZE + u32(at.x)] == 1);
}`;

/** The first generation: half of the cells live, the same ones each time. */
function seed() {
  let state = 1;
  return Uint32Array.from({ length: SIZE * SIZE }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 31;
  });
}

/**
 * The words of a whole board, after a copy that the caller encodes.
 * @param {any} device
 * @param {(encoder: any, copy: any) => void} encode
 */
async function read(device, encode) {
  const { MAP_READ, COPY_DST } = GPUBufferUsage;
  const copy = device.createBuffer({ size: BYTES, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encode(encoder, copy);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const words = new Uint32Array(copy.getMappedRange()).slice();
  copy.unmap();
  return words;
}

/** The generations; gives the last one's buffer. @param {any} device @param {any} module */
function live(device, module) {
  const { STORAGE, COPY_SRC } = GPUBufferUsage;
  const boards = [0, 1].map(() => {
    return device.createBuffer({ size: BYTES, usage: STORAGE | COPY_SRC, mappedAtCreation: true });
  });
  new Uint32Array(boards[0].getMappedRange()).set(seed());
  for (const board of boards) board.unmap();
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "live" } });
  const layout = pipeline.getBindGroupLayout(0);
  const groups = [0, 1].map((first) => {
    const entries = [0, 1].map((binding) => ({ binding, resource: { buffer: boards[(first + binding) % 2] } }));
    return device.createBindGroup({ layout, entries });
  });
  for (let generation = 0; generation < GENERATIONS; generation++) {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, groups[generation % 2]);
    pass.dispatchWorkgroups(SIZE / 8, SIZE / 8);
    pass.end();
    device.queue.submit([encoder.finish()]);
  }
  return boards[GENERATIONS % 2];
}

/** Draws a board into a texture. @param {any} device @param {any} module @param {any} board @param {any} texture */
function draw(device, module, board, texture) {
  const pipeline = device.createRenderPipeline({
    layout: "auto",
    vertex: { module, entryPoint: "corner" },
    fragment: { module, entryPoint: "color", targets: [{ format: texture.format }] },
  });
  const entries = [{ binding: 0, resource: { buffer: board } }];
  const encoder = device.createCommandEncoder();
  const view = texture.createView();
  const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: "clear", storeOp: "store" }] });
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.draw(3);
  pass.end();
  device.queue.submit([encoder.finish()]);
}

async function run() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return "No WebGPU adapter in this browser";
  const device = await adapter.requestDevice();
  const module = device.createShaderModule({ code: CODE });
  const board = live(device, module);
  const { RENDER_ATTACHMENT, COPY_SRC } = GPUTextureUsage;
  const usage = RENDER_ATTACHMENT | COPY_SRC;
  const texture = device.createTexture({ size: [SIZE, SIZE], format: "rgba8unorm", usage });
  draw(device, module, board, texture);
  const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("board"));
  const context = /** @type {any} */ (canvas.getContext("webgpu"));
  context.configure({ device, format: navigator.gpu.getPreferredCanvasFormat() });
  for (let frame = 0; frame < FRAMES; frame++) {
    draw(device, module, board, context.getCurrentTexture());
    await new Promise(requestAnimationFrame);
  }

  const cells = await read(device, (encoder, copy) => encoder.copyBufferToBuffer(board, 0, copy, 0, BYTES));
  const pixels = await read(device, (encoder, copy) => {
    encoder.copyTextureToBuffer({ texture }, { buffer: copy, bytesPerRow: 4 * SIZE }, [SIZE, SIZE]);
  });
  const alive = cells.filter((cell) => cell === 1).length;
  const yellow = pixels.filter((pixel) => pixel === 0xff00ccff).length;
  return `${GENERATIONS} generations: ${alive} cells are alive, ${yellow} pixels are yellow`;
}

const result = /** @type {HTMLElement} */ (document.getElementById("result"));
run().then((text) => result.textContent = text, (error) => result.textContent = `Failed: ${error}`);
