/** luma.gl: shaded cubes, instanced, in a framebuffer with depth. Prints what was drawn, in short, as JSON. */

import { createRequire } from "node:module";
import { summary } from "./canvas.js";

const require = createRequire(new URL("../../.lockstep/npm/", import.meta.url));
const { luma, Buffer } = require("@luma.gl/core");
const { webgpuAdapter } = require("@luma.gl/webgpu");
const { Model, CubeGeometry } = require("@luma.gl/engine");

const SIZE = 64;
const source = `
struct Scene { turn: vec4f, light: vec4f };
@group(0) @binding(0) var<uniform> scene: Scene;
struct Vertex {
  @location(0) positions: vec3f,
  @location(1) normals: vec3f,
  @location(2) place: vec3f,
  @location(3) color: vec4f,
};
struct Shaded { @builtin(position) position: vec4f, @location(0) color: vec4f };
@vertex fn vertexMain(vertex: Vertex) -> Shaded {
  let turn = mat2x2f(scene.turn.x, scene.turn.y, -scene.turn.y, scene.turn.x);
  let xz = turn * vertex.positions.xz;
  let normal = vec3f(turn * vertex.normals.xz, vertex.normals.y).xzy;
  let position = vec3f(xz.x, vertex.positions.y, xz.y) * 0.2 + vertex.place;
  let shade = 0.25 + 0.75 * max(0.0, dot(normal, scene.light.xyz));
  return Shaded(vec4f(position.xy, position.z * 0.5 + 0.5, 1.0), vec4f(vertex.color.rgb * shade, 1.0));
}
@fragment fn fragmentMain(shaded: Shaded) -> @location(0) vec4f { return shaded.color; }`;

const device = await luma.createDevice({ type: "webgpu", adapters: [webgpuAdapter] });
const color = device.createTexture({ format: "rgba8unorm", width: SIZE, height: SIZE, usage: 0x10 | 0x04 | 0x01 });
const depth = device.createTexture({ format: "depth24plus", width: SIZE, height: SIZE, usage: 0x10 });
const framebuffer = device.createFramebuffer({
  width: SIZE,
  height: SIZE,
  colorAttachments: [color],
  depthStencilAttachment: depth,
});
const places = Float32Array.from([-0.5, -0.5, 0, 0.5, -0.5, 0.1, 0, 0.1, -0.1, -0.4, 0.6, 0.2, 0.5, 0.6, 0]);
const colors = Uint8Array.from([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 0, 255, 0, 255, 255, 255]);
const scene = device.createBuffer({ byteLength: 32, usage: Buffer.UNIFORM | Buffer.COPY_DST });
const model = new Model(device, {
  source,
  geometry: new CubeGeometry({ indices: true }),
  instanceCount: 5,
  bufferLayout: [{ name: "place", format: "float32x3", stepMode: "instance" }, {
    name: "color",
    format: "unorm8x4",
    stepMode: "instance",
  }],
  attributes: { place: device.createBuffer(places), color: device.createBuffer(colors) },
  bindings: { scene },
  colorAttachmentFormats: ["rgba8unorm"],
  depthStencilAttachmentFormat: "depth24plus",
  parameters: { depthWriteEnabled: true, depthCompare: "less-equal" },
});

for (let frame = 0; frame < 3; frame++) {
  scene.write(Float32Array.of(Math.cos(frame), Math.sin(frame), 0, 0, 0.5, 0.5, -0.7, 0));
  const pass = device.beginRenderPass({ framebuffer, clearColor: [0.1, 0.2, 0.3, 1], clearDepth: 1 });
  model.draw(pass);
  pass.end();
  device.submit();
}
const { byteLength } = color.computeMemoryLayout();
const copy = device.createBuffer({ byteLength, usage: Buffer.COPY_DST | Buffer.MAP_READ });
color.readBuffer({}, copy);
const bytes = await copy.readAsync();
console.log(JSON.stringify(summary(Uint8Array.from(bytes))));
