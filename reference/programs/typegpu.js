/** TypeGPU: particles in a uniform field, moved by a compute shader over several steps. Prints where they are, as JSON. */

import { createRequire } from "node:module";

const require = createRequire(new URL("../../.lockstep/npm/", import.meta.url));
const { tgpu, d } = require("typegpu");

const COUNT = 96;
const STEPS = 5;

const Particle = d.struct({ position: d.vec2f, velocity: d.vec2f });
const Field = d.struct({ pull: d.vec2f, step: d.f32 });
const layout = tgpu.bindGroupLayout({
  field: { uniform: Field },
  from: { storage: d.arrayOf(Particle, COUNT) },
  to: { storage: d.arrayOf(Particle, COUNT), access: "mutable" },
});

const move = tgpu.computeFn({ in: { id: d.builtin.globalInvocationId }, workgroupSize: [32] })`{
  var particle = layout.$.from[in.id.x];
  particle.velocity += layout.$.field.pull * layout.$.field.step;
  particle.position += particle.velocity * layout.$.field.step;
  layout.$.to[in.id.x] = particle;
}`.$uses({ layout });

const root = await tgpu.init();
const particles = Array.from({ length: COUNT }, (_, i) => ({
  position: d.vec2f(Math.sin(i), Math.cos(i)),
  velocity: d.vec2f(i / COUNT, 1 - i / COUNT),
}));
const field = root.createBuffer(Field, { pull: d.vec2f(0, -9.81), step: 0.01 }).$usage("uniform");
const buffers = [
  root.createBuffer(d.arrayOf(Particle, COUNT), particles).$usage("storage"),
  root.createBuffer(d.arrayOf(Particle, COUNT)).$usage("storage"),
];
const groups = [0, 1].map((i) => root.createBindGroup(layout, { field, from: buffers[i], to: buffers[1 - i] }));
const pipeline = root.createComputePipeline({ compute: move });

for (let step = 0; step < STEPS; step++) {
  // The field turns; a write goes ahead of the work that is encoded after it.
  field.write({ pull: d.vec2f(step, -9.81), step: 0.01 });
  pipeline.with(groups[step % 2]).dispatchWorkgroups(COUNT / 32);
}
const moved = await buffers[STEPS % 2].read();
console.log(JSON.stringify(Array.from(moved, ({ position }) => [position.x, position.y])));
