/**
 * Replays a recording (RECORDING.md) in order and compares what it reads back with what the program itself read:
 *
 *     deno run --allow-all replay_recording.js RECORDING [deno | dawn | dawn-null]
 *
 * RECORDING is a folder or a tar archive of one, as a page downloads it. `deno` is deno's own WebGPU, `dawn` Dawn on Vulkan,
 * `dawn-null` Dawn with no driver, which validates everything and whose reads are not compared. One line for each refusal and
 * each difference, and a line of JSON at the end. Exit status: 0 when all is equal, 1 when the device refuses something, or
 * something differs on the driver that recorded, 2 for wrong arguments or a broken recording, of which nothing is replayed.
 */

import { createRequire } from "node:module";
import { listReads, makeObjects, replay } from "./replay.js";
import { adapterInfo, objectRow } from "./record.js";
import { Broken, readRecording, recordingFiles } from "./recording.js";

/**
 * `refused` and `differences` are lines for a person; each begins with the object's id or the stream's file.
 * @typedef {{ streams: number, commands: number, reads: number, compared: number, refused: string[], differences: string[] }} Outcome
 */

const MODE_READ = 1;

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
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
  /** @param {any} device @param {boolean} compares */
  constructor(device, compares) {
    this.device = device;
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

  /** What the device or a call refuses in between. @param {string} where @param {() => void} work */
  async checked(where, work) {
    this.device.pushErrorScope("validation");
    try {
      work();
    } catch (error) {
      this.refuse(`${where}: ${messageOf(error)}`);
    }
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

  /** @param {import("./recording.js").RecordedStream} stream */
  async play({ name, words, data, starts, copies, seen }) {
    await this.checked(name, () => {
      const { stop } = replay(this.device, this.table, words, data);
      if (stop !== null) this.refuse(`${name}: ${stop.reason} at word ${stop.word} ${stop.error ?? ""}`);
      makeCopies(this.device, this.table, copies);
      // deno maps a buffer before it makes the queue's writes since the last submit.
      this.device.queue.submit([]);
    });
    this.outcome.streams++;
    this.outcome.commands += starts.length;
    for (const wanted of listReads(words, starts)) await this.compare(name, wanted, seen);
  }

  /** @param {string} name @param {import("./replay.js").Read} wanted @param {Uint8Array} seen what the program read */
  async compare(name, { id, offset, size, windowOffset }, seen) {
    let bytes;
    try {
      bytes = await read(this.table.get(id)?.object, offset, size);
    } catch (error) {
      return this.refuse(`${name}: buffer ${id} cannot be read: ${messageOf(error)}`);
    }
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
 * @param {import("./recording.js").Recording} recording
 * @param {boolean} compares whether what is read back is compared
 * @returns {Promise<Outcome>}
 */
export async function replayRecording(device, { objects, streams }, compares = true) {
  const replaying = new Replay(device, compares);
  await replaying.makeTable(objects);
  for (const stream of streams) await replaying.play(stream);
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
 * @param {import("./recording.js").RecordedDevice | null} device the manifest's; null for a program that got none
 */
function granted(adapter, device) {
  const { requiredFeatures, requiredLimits } = device ?? { requiredFeatures: [], requiredLimits: {} };
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

/** @param {string} path */
function opened(path) {
  try {
    return readRecording(recordingFiles(path));
  } catch (error) {
    if (error instanceof Broken) return fail(error.message);
    throw error;
  }
}

/** @param {string} engine */
async function adapterOf(engine) {
  try {
    gpu = gpuOf(engine);
  } catch (error) {
    return fail(`${engine}: ${messageOf(error).split("\n")[0]}; run \`cargo lockstep doctor\``);
  }
  return await gpu.requestAdapter() ?? fail(`${engine} finds no adapter; install a Vulkan driver`);
}

async function main() {
  const [path, engine = "deno", ...more] = Deno.args;
  if (path === undefined || !["deno", "dawn", "dawn-null"].includes(engine) || more.length > 0) {
    fail("give a recording's folder or archive and perhaps deno, dawn or dawn-null");
  }
  const recording = opened(path);
  const adapter = await adapterOf(engine);
  const { lacking, descriptor } = granted(adapter, recording.device);
  if (lacking.length > 0) console.error(`replay: the adapter lacks ${lacking.join(", ")}`);
  const device = await adapter.requestDevice(descriptor).catch((/** @type {unknown} */ error) =>
    fail(`${engine} gives no device: ${messageOf(error)}`)
  );
  const sameDriver = isSameAdapter(adapter, recording.adapter);
  const outcome = await replayRecording(device, recording, engine !== "dawn-null");
  for (const line of outcome.refused) console.error(`replay: ${line}`);
  const elsewhere = sameDriver ? "" : " (it was recorded on another driver, which may round otherwise)";
  for (const line of outcome.differences) console.error(`replay: ${line}${elsewhere}`);
  console.log(JSON.stringify({ engine, adapter: adapterInfo(adapter), sameDriver, lacking, ...outcome }));
  device.destroy();
  Deno.exit(outcome.refused.length === 0 && (outcome.differences.length === 0 || !sameDriver) ? 0 : 1);
}

if (import.meta.main) await main();
