/**
 * luma.gl: a picture that is uploaded anew for each frame, on squares that move each frame too. Prints what was drawn, in short,
 * as JSON. Its argument is the number of frames, 3.
 */

import { createRequire } from "node:module";
import { summary } from "./canvas.js";

const require = createRequire(new URL("../../.lockstep/npm/", import.meta.url));
const { luma, Buffer } = require("@luma.gl/core");
const { webgpuAdapter } = require("@luma.gl/webgpu");
const { Model } = require("@luma.gl/engine");

const [FRAMES = 3] = Deno.args.map(Number);
const SIZE = 64;
const PICTURE = 32;
const SQUARES = 64;
const source = `
@group(0) @binding(0) var picture: texture_2d<f32>;
struct Vertex { @builtin(vertex_index) index: u32, @location(0) place: vec4f };
struct Square { @builtin(position) position: vec4f, @location(0) at: vec2f };
@vertex fn vertexMain(vertex: Vertex) -> Square {
  let corner = vec2f(f32(vertex.index & 1), f32(vertex.index >> 1));
  return Square(vec4f(vertex.place.xy + (corner - 0.5) * vertex.place.zw, 0, 1), corner * ${PICTURE}.0);
}
@fragment fn fragmentMain(square: Square) -> @location(0) vec4f { return textureLoad(picture, vec2u(square.at), 0); }`;

const device = await luma.createDevice({ type: "webgpu", adapters: [webgpuAdapter] });
const color = device.createTexture({ format: "rgba8unorm", width: SIZE, height: SIZE, usage: 0x10 | 0x04 | 0x01 });
const framebuffer = device.createFramebuffer({ width: SIZE, height: SIZE, colorAttachments: [color] });
const picture = device.createTexture({ format: "rgba8unorm", width: PICTURE, height: PICTURE, usage: 0x04 | 0x02 });
const place = device.createBuffer({ byteLength: 16 * SQUARES, usage: Buffer.VERTEX | Buffer.COPY_DST });
const model = new Model(device, {
  source,
  topology: "triangle-strip",
  vertexCount: 4,
  instanceCount: SQUARES,
  bufferLayout: [{ name: "place", format: "float32x4", stepMode: "instance" }],
  attributes: { place },
  bindings: { picture },
  colorAttachmentFormats: ["rgba8unorm"],
});

for (let frame = 0; frame < FRAMES; frame++) {
  const texels = Uint8Array.from(
    { length: 4 * PICTURE * PICTURE },
    (_, i) => i % 4 === 3 ? 255 : (i * 7 + frame * 31) % 256,
  );
  picture.writeData(texels, { bytesPerRow: 4 * PICTURE, rowsPerImage: PICTURE, width: PICTURE, height: PICTURE });
  place.write(Float32Array.from({ length: 4 * SQUARES }, (_, i) => {
    const [square, member] = [Math.floor(i / 4), i % 4];
    return member > 1 ? 0.25 : Math.sin(square * 1.7 + member * 2 + frame * 0.1);
  }));
  const pass = device.beginRenderPass({ framebuffer, clearColor: [0, 0, 0, 1] });
  model.draw(pass);
  pass.end();
  device.submit();
}
const { byteLength } = color.computeMemoryLayout();
const copy = device.createBuffer({ byteLength, usage: Buffer.COPY_DST | Buffer.MAP_READ });
color.readBuffer({}, copy);
console.log(JSON.stringify(summary(Uint8Array.from(await copy.readAsync()))));
