/**
 * Programs from npm, unmodified: each runs by itself, then with the recorder, and its recording is replayed on the same driver,
 * where what is read back must be the program's own to the byte, and on Dawn's null backend, which has no driver and
 * validates every call. They fail where there is no adapter, or where `.lockstep/npm` lacks a package.
 */
import assert from "node:assert/strict";

const REFERENCE = new URL("..", import.meta.url).pathname;

/** Runs a script of this folder's parent; gives what it printed last, as JSON. @param {string} script @param {string[]} args */
async function run(script, ...args) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--node-modules-dir=manual", script, ...args],
    cwd: REFERENCE,
  }).output();
  const [printed, said] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, `${script}: ${said}`);
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "");
}

/** @param {string} folder @param {string} name */
function read(folder, name) {
  return JSON.parse(Deno.readTextFileSync(`${folder}/${name}`));
}

/**
 * @param {string} program
 * @param {(result: any) => void} check what the program must print
 * @param {{ bytes: number, kinds: string[], notCarried: Record<string, number> }} expected the bytes that it reads back, the
 *   kinds of objects that it makes, what version 4 cannot carry of it
 */
function tests(program, check, { bytes, kinds, notCarried }) {
  Deno.test(`${program}: a replay of its recording gives its own results`, async () => {
    const alone = await run(`programs/${program}`);
    check(alone);
    const folder = Deno.makeTempDirSync();
    try {
      assert.deepEqual(await run("record_program.js", `programs/${program}`, folder), alone);
      const manifest = read(folder, "recording.json");
      assert.deepEqual(manifest.notCarried, notCarried);
      assert.equal(manifest.counts.read, bytes);
      const made = new Set(read(folder, "objects.json").map((/** @type {any} */ { kind }) => kind));
      assert.deepEqual([...made].sort(), kinds);

      const { commands } = manifest.counts;
      const streams = manifest.streams.length;
      const { reads, adapter, ...replayed } = await run("replay_recording.js", folder, "deno");
      assert.deepEqual(adapter, manifest.adapter);
      const equal = { streams, commands, refused: [], differences: [] };
      assert.deepEqual(replayed, { engine: "deno", sameDriver: true, lacking: [], compared: bytes, ...equal });
      const { adapter: _, lacking: __, ...validated } = await run("replay_recording.js", folder, "dawn-null");
      assert.deepEqual(validated, { engine: "dawn-null", sameDriver: false, reads, compared: 0, ...equal });
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  });
}

const COMPUTE = ["bind group", "bind group layout", "buffer", "compute pipeline", "pipeline layout", "shader module"];

tests("tfjs.js", ({ product, classes }) => {
  assert.equal(product.length, 24 * 16);
  assert.equal(classes.length, 10);
  // What softmax gives.
  const sum = classes.reduce((/** @type {number} */ total, /** @type {number} */ value) => total + value, 0);
  assert.ok(Math.abs(sum - 1) < 1e-5, `${sum}`);
}, { bytes: 4 * (24 * 16 + 10), kinds: COMPUTE, notCarried: {} });

tests("typegpu.js", (places) => {
  assert.equal(places.length, 96);
  // Five steps of 0.01 from (0, 1), with velocity (0, 1) and a pull of (step, -9.81).
  assert.ok(Math.abs(places[0][0] - 0.002) < 1e-6 && Math.abs(places[0][1] - 1.035285) < 1e-5, `${places[0]}`);
}, { bytes: 96 * 16, kinds: COMPUTE, notCarried: {} });

tests("three.js", ({ canvas, target }) => {
  assert.ok(canvas.colors > 100, `${canvas.colors} colors`);
  assert.ok(target.colors > 100, `${target.colors} colors`);
}, {
  bytes: 2 * 64 * 256,
  kinds: [
    ...["bind group", "bind group layout", "buffer", "pipeline layout", "render bundle", "render pipeline", "sampler"],
    ...["shader module", "texture", "texture view"],
  ],
  notCarried: { "GPUCommandEncoder.copyTextureToBuffer": 2 },
});

tests("luma.js", ({ colors }) => assert.ok(colors > 5, `${colors} colors`), {
  bytes: 64 * 256,
  kinds: [
    ...["bind group", "bind group layout", "buffer", "pipeline layout", "render pipeline", "sampler", "shader module"],
    ...["texture", "texture view"],
  ],
  notCarried: {
    "GPUCommandEncoder.copyTextureToBuffer": 1,
    "GPURenderPassEncoder.popDebugGroup": 6,
    "GPURenderPassEncoder.pushDebugGroup": 6,
    // luma.gl's own members; WebGPU has none of these names.
    "createSampler._isHandleBorrowed": 1,
    "createSampler.id": 1,
    "createSampler.type": 1,
  },
});

tests("luma_video.js", ({ colors }) => assert.ok(colors > 20, `${colors} colors`), {
  bytes: 64 * 256,
  kinds: [
    ...["bind group", "bind group layout", "buffer", "pipeline layout", "render pipeline", "sampler", "shader module"],
    ...["texture", "texture view"],
  ],
  notCarried: {
    "GPUCommandEncoder.copyTextureToBuffer": 1,
    "GPURenderPassEncoder.popDebugGroup": 6,
    "GPURenderPassEncoder.pushDebugGroup": 6,
    "createSampler._isHandleBorrowed": 1,
    "createSampler.id": 1,
    "createSampler.type": 1,
  },
});
