/**
 * Replays a recording (RECORDING.md) in order and compares what it reads back with what the program itself read:
 *
 *     deno run --allow-all replay_recording.js DIR [deno | dawn | dawn-null]
 *
 * `deno` is deno's own WebGPU, `dawn` Dawn on Vulkan, `dawn-null` Dawn with no driver, which validates everything and whose
 * reads are not compared. One line for each refusal and each difference, and a line of JSON at the end. Exit status: 0 when
 * all is equal, 1 when something is refused, or differs on the driver that recorded, 2 for wrong arguments or a missing file.
 */

import { createRequire } from "node:module";
import { decode, listReads, makeObjects, parseBlob, replay } from "./replay.js";
import { adapterInfo, objectRow, RECORDING_VERSION } from "./record.js";

/**
 * A recording, its files by name.
 * @typedef {(name: string) => Uint8Array} Files
 *
 * `refused` and `differences` are lines for a person; each begins with the object's id or the stream's file.
 * @typedef {{ streams: number, commands: number, reads: number, compared: number, refused: string[], differences: string[] }} Outcome
 */

const MODE_READ = 1;

/** @param {Uint8Array} bytes */
function parse(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** An argument of a copy with the table's objects in it. @param {any} value @param {import("./replay.js").Table} table @returns {any} */
function revive(value, table) {
  if (typeof value !== "object" || value === null) return value;
  if ("@" in value) return table.get(value["@"])?.object;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, revive(member, table)]));
}

/** @param {any} device @param {import("./replay.js").Table} table @param {import("./record.js").Copy[]} copies */
function makeCopies(device, table, copies) {
  if (copies.length === 0) return;
  const encoder = device.createCommandEncoder();
  for (const { method, args } of copies) encoder[method](...args.map((arg) => revive(arg, table)));
  device.queue.submit([encoder.finish()]);
}

/** @param {any} buffer @param {number} offset @param {number} size */
async function read(buffer, offset, size) {
  await buffer.mapAsync(MODE_READ, offset, size);
  const bytes = new Uint8Array(buffer.getMappedRange(offset, size)).slice();
  buffer.unmap();
  return bytes;
}

/** Where two byte strings of one length first differ, or -1. @param {Uint8Array} a @param {Uint8Array} b */
function firstDifference(a, b) {
  return a.findIndex((byte, i) => byte !== b[i]);
}

/** One recording being replayed on a device. */
class Replay {
  /** @param {any} device @param {Files} files @param {boolean} compares */
  constructor(device, files, compares) {
    this.device = device;
    this.files = files;
    this.compares = compares;
    /** @type {import("./replay.js").Table} */
    this.table = new Map();
    /** @type {Outcome} */
    this.outcome = { streams: 0, commands: 0, reads: 0, compared: 0, refused: [], differences: [] };
  }

  /** @param {string} line */
  refuse(line) {
    this.outcome.refused.push(line);
  }

  /** What the device refuses in between. @param {string} where @param {() => void} work */
  async checked(where, work) {
    this.device.pushErrorScope("validation");
    work();
    const error = await this.device.popErrorScope();
    if (error !== null) this.refuse(`${where}: ${error.message}`);
  }

  /** @param {any[]} objects */
  async makeTable(objects) {
    for (const object of objects) {
      const row = objectRow(object);
      if (row === null) {
        this.refuse(`object ${object.id}: too-many`);
        continue;
      }
      await this.checked(`object ${object.id} (${object.kind})`, () => {
        const { refused } = makeObjects(this.device, [row], this.table);
        for (const { reason, error } of refused) this.refuse(`object ${object.id}: ${reason} ${error ?? ""}`);
      });
    }
  }

  /** @param {any} stream */
  async play({ blob: name, copies = [], reads }) {
    const blob = parseBlob(this.files(name));
    if (blob.reason !== null) return this.refuse(`${name}: ${blob.reason}`);
    const { words, data } = blob;
    await this.checked(name, () => {
      const { refusal, stop } = replay(this.device, this.table, words, data);
      if (refusal !== null) this.refuse(`${name}: ${refusal.reason} at word ${refusal.word}`);
      if (stop !== null) this.refuse(`${name}: ${stop.reason} at word ${stop.word} ${stop.error ?? ""}`);
      makeCopies(this.device, this.table, copies);
    });
    const { starts } = decode(words, data.length);
    this.outcome.streams++;
    this.outcome.commands += starts.length;
    const seen = reads === undefined ? new Uint8Array(0) : this.files(reads);
    for (const wanted of listReads(words, starts)) await this.compare(name, wanted, seen);
  }

  /** @param {string} name @param {import("./replay.js").Read} wanted @param {Uint8Array} seen what the program read */
  async compare(name, { id, offset, size, windowOffset }, seen) {
    const bytes = await read(this.table.get(id)?.object, offset, size);
    this.outcome.reads++;
    if (!this.compares) return;
    this.outcome.compared += size;
    const at = firstDifference(bytes, seen.subarray(windowOffset, windowOffset + size));
    if (at >= 0) {
      this.outcome.differences.push(
        `${name}: buffer ${id} differs from what the program read, from byte ${offset + at}`,
      );
    }
  }
}

/**
 * Replays a recording on a device that has what its manifest asks for.
 * @param {any} device
 * @param {Files} files
 * @param {boolean} compares whether what is read back is compared
 * @returns {Promise<Outcome>}
 */
export async function replayRecording(device, files, compares = true) {
  const manifest = parse(files("recording.json"));
  const replaying = new Replay(device, files, compares);
  if (manifest.recording !== RECORDING_VERSION) {
    replaying.refuse(`recording.json: version ${manifest.recording}, not ${RECORDING_VERSION}`);
    return replaying.outcome;
  }
  await replaying.makeTable(parse(files(manifest.objects)));
  for (const stream of manifest.streams) await replaying.play(stream);
  return replaying.outcome;
}

/**
 * Whether the adapter is the one that recorded, as far as its words tell.
 * @param {any} adapter
 * @param {import("./record.js").AdapterInfo | null} recorded the manifest's
 */
export function isSameAdapter(adapter, recorded) {
  const here = Object.entries(adapterInfo(adapter));
  return here.some(([, word]) => word !== "") &&
    here.every(([name, word]) => recorded?.[/** @type {"vendor"} */ (name)] === word);
}

/** Kept, since Dawn ends with the last use of it. @type {any} */
let gpu = null;

/** @param {string} engine @returns {any} */
export function gpuOf(engine) {
  if (engine === "deno") return navigator.gpu;
  // The package that `cargo lockstep` has brought.
  const require = createRequire(new URL("../.lockstep/npm/", import.meta.url));
  return require("webgpu").create([engine === "dawn" ? "backend=vulkan" : "backend=null"]);
}

/**
 * What the program asked of its device, as far as this adapter has it, and what it lacks. Most programs ask for all
 * that their own adapter has and need less.
 * @param {any} adapter
 * @param {{ requiredFeatures: string[], requiredLimits: Record<string, number> }} device the manifest's
 */
function granted(adapter, { requiredFeatures, requiredLimits }) {
  const lacking = requiredFeatures.filter((name) => !adapter.features.has(name));
  const limits = Object.entries(requiredLimits).map(([name, value]) => {
    const has = adapter.limits[name];
    const best = name.startsWith("min") ? Math.max(value, has) : Math.min(value, has);
    if (best !== value) lacking.push(`${name} of ${value} (has ${has})`);
    return [name, has === undefined ? undefined : best];
  }).filter(([, value]) => value !== undefined);
  const features = requiredFeatures.filter((name) => adapter.features.has(name));
  return { lacking, descriptor: { requiredFeatures: features, requiredLimits: Object.fromEntries(limits) } };
}

/** @param {string} line @returns {never} */
function fail(line) {
  console.error(`replay: ${line}`);
  Deno.exit(2);
}

async function main() {
  const [folder, engine = "deno"] = Deno.args;
  if (folder === undefined || !["deno", "dawn", "dawn-null"].includes(engine)) {
    fail("give DIR and perhaps deno, dawn or dawn-null");
  }
  /** @type {Files} */
  const files = (name) => {
    try {
      return Deno.readFileSync(`${folder}/${name}`);
    } catch (error) {
      return fail(`${folder}/${name}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const { adapter: recorded, device: asked } = parse(files("recording.json"));
  gpu = gpuOf(engine);
  const adapter = await gpu.requestAdapter();
  if (adapter === null) fail(`${engine} finds no adapter; install a Vulkan driver`);
  const { lacking, descriptor } = granted(adapter, asked ?? { requiredFeatures: [], requiredLimits: {} });
  if (lacking.length > 0) console.error(`replay: the adapter lacks ${lacking.join(", ")}`);
  const device = await adapter.requestDevice(descriptor);
  const sameDriver = isSameAdapter(adapter, recorded);
  const outcome = await replayRecording(device, files, engine !== "dawn-null");
  for (const line of outcome.refused) console.error(`replay: ${line}`);
  const elsewhere = sameDriver ? "" : " (it was recorded on another driver, which may round otherwise)";
  for (const line of outcome.differences) console.error(`replay: ${line}${elsewhere}`);
  console.log(JSON.stringify({ engine, adapter: adapterInfo(adapter), sameDriver, lacking, ...outcome }));
  device.destroy();
  Deno.exit(outcome.refused.length === 0 && (outcome.differences.length === 0 || !sameDriver) ? 0 : 1);
}

if (import.meta.main) await main();
