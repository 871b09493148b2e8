/**
 * three.js's WebGPURenderer: a lit scene over several frames on a canvas, and one frame into a render target. Prints what
 * was drawn, in short, as JSON. Its arguments are the number of frames, 4, and how many more boxes stand about, 0.
 */

import { makeCanvas, summary } from "./canvas.js";

// What three.js takes from a page.
Object.assign(globalThis, { requestAnimationFrame: () => 0, cancelAnimationFrame: () => {} });
const THREE = await import(
  new URL("../../.lockstep/npm/node_modules/three/build/three.webgpu.js", import.meta.url).href
);

const [FRAMES = 4, MORE = 0] = Deno.args.map(Number);
const SIZE = 64;
const { canvas, read } = makeCanvas(SIZE, SIZE);
const renderer = new THREE.WebGPURenderer({ canvas, antialias: true });
renderer.setSize(SIZE, SIZE, false);
await renderer.init();

const scene = new THREE.Scene();
scene.background = new THREE.Color(0x203040);
const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 10);
camera.position.set(1, 1.5, 3);
camera.lookAt(0, 0, 0);
const sun = new THREE.DirectionalLight(0xffffff, 3);
sun.position.set(2, 3, 4);
scene.add(sun, new THREE.AmbientLight(0x404040));
const box = new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1), new THREE.MeshStandardMaterial({ color: 0xff8800 }));
const texels = Uint8Array.from({ length: 64 }, (_, i) => (i % 4 === 3 ? 255 : (i * 37) % 256));
const map = new THREE.DataTexture(texels, 4, 4);
map.needsUpdate = true;
const ball = new THREE.Mesh(new THREE.SphereGeometry(0.5, 12, 8), new THREE.MeshStandardMaterial({ map }));
ball.position.set(-0.8, 0.5, 0.5);
// What is in it is drawn by a render bundle.
const bundle = new THREE.BundleGroup();
bundle.add(ball);
scene.add(box, bundle);
for (let i = 0; i < MORE; i++) {
  const small = new THREE.Mesh(box.geometry, i % 2 === 0 ? box.material : ball.material);
  small.position.set(Math.sin(i) * 1.5, Math.cos(i * 3) * 1.5, (i % 7) / 3 - 1);
  small.scale.setScalar(0.2);
  scene.add(small);
}

for (let frame = 0; frame < FRAMES; frame++) {
  box.rotation.set(0.1 * frame, 0.3 * frame, 0);
  renderer.render(scene, camera);
}
const drawn = await read();

const target = new THREE.RenderTarget(SIZE, SIZE);
renderer.setRenderTarget(target);
renderer.render(scene, camera);
const pixels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE);

console.log(JSON.stringify({ canvas: summary(drawn), target: summary(new Uint8Array(pixels.buffer)) }));
