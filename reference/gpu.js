/**
 * Replays streams on a real WebGPU device with replay.js, under deno: the frame `replays` of PROTOCOL.md. The device is deno's own
 * `navigator.gpu`, or Dawn's:
 *
 *     deno run gpu.js deno
 *     deno run --allow-ffi --allow-read gpu.js dawn MODULE [BACKEND]
 *
 * MODULE is the file of npm package `webgpu`; BACKEND is Dawn's name of one, such as vulkan or null. Without it the platform's own is
 * tried first, and then null, which validates and executes nothing.
 */

import { Malformed, serve } from "./frames.js";
import { decode, KIND, makeObjects, parseBlob, replay } from "./replay.js";

/** @typedef {import("./frames.js").Reader} Reader @typedef {import("./frames.js").Writer} Writer */

// WebGPU's usage bits, and its map mode.
const MAP_READ = 1;
const COPY_SRC = 4;
const COPY_DST = 8;
const TEXTURE_COPY_SRC = 1;
const MODE_READ = 1;

/** Copies of a texture's rows begin at multiples of this. */
const ROW_ALIGNMENT = 256;
/** How many prefixes of a stream are tried at once. */
const PROBES = 8;
/** Objects that are kept from stream to stream. */
const CACHED = 1024;

const BEGIN_RENDER_PASS = 20;
const END_PASS = 21;
const BEGIN_COMPUTE_PASS = 22;
const COPY_BUFFER_TO_BUFFER = 31;
const COPY_TEXTURE_TO_TEXTURE = 32;
const SUBMIT = 40;
/** What makes the command encoder where none is open (section 4, rule 2). */
const OPENS_ENCODER = [BEGIN_RENDER_PASS, BEGIN_COMPUTE_PASS, COPY_BUFFER_TO_BUFFER, COPY_TEXTURE_TO_TEXTURE];

/** @type {GPUFeatureName[]} */
const COMPRESSED = ["texture-compression-bc"];

/** The kinds of trouble, by their numbers in PROTOCOL.md. */
const TROUBLE = { validation: 1, wrongKind: 2, engine: 3 };

/**
 * What went wrong: the command's index, null for the object table or where nobody knows.
 * @typedef {{ command: number | null, kind: number, message: string }} Trouble
 *
 * A stream to replay. Commands after `stopAfter` are not made, and what is open then is finished and not submitted.
 * @typedef {{ rows: import("./replay.js").ObjectRow[], words: Uint32Array, data: Uint8Array, starts: number[],
 *   stopAfter: number | null }} Item
 *
 * An object of a table; `serial` tells it from every other one that was kept.
 * @typedef {{ kind: number, object: any, serial?: number }} Made
 *
 * What came of an item. `held` is what each buffer and texture holds, null where it cannot be read back.
 * @typedef {{ trouble: Trouble | null, lost: boolean, held: { id: number, kind: number, bytes: Uint8Array | null }[] }} Outcome
 */

// ---------------------------------------------------------------------------------------------------------------
// The device
// ---------------------------------------------------------------------------------------------------------------

/** Kinds of objects that hold no state, so that equal descriptors share one object. @type {number[]} */
const STATELESS = [
  KIND.sampler,
  KIND.module,
  KIND.bindGroupLayout,
  KIND.pipelineLayout,
  KIND.computePipeline,
  KIND.renderPipeline,
];

/** A device, and what is kept for it from stream to stream. */
class Gpu {
  /** @param {any} device @param {boolean} executes */
  constructor(device, executes) {
    this.device = device;
    this.executes = executes;
    /** An error that no scope took: out of memory, or internal. @type {string | null} */
    this.broken = null;
    this.lost = false;
    /** @type {Map<string, Made>} */
    this.kept = new Map();
    this.serial = 0;
    /** The buffer that everything is copied into to be read. @type {any} */
    this.staging = null;
    device.lost.then(() => this.lost = true);
    device.addEventListener("uncapturederror", (/** @type {any} */ event) => {
      event.preventDefault();
      this.broken ??= event.error.message;
    });
  }

  /**
   * Makes the calls of `body`. Gives what it returned, and the validation error that they raised, once that is known.
   * @template T
   * @param {() => T} body
   * @returns {{ result: T, error: Promise<string | null> }}
   */
  scoped(body) {
    this.device.pushErrorScope("validation");
    const result = body();
    const error = this.device.popErrorScope();
    return { result, error: error.then((/** @type {any} */ error) => error === null ? null : oneLine(error.message)) };
  }

  /**
   * Makes a table of objects, the first refused one's message in the place of a table.
   * @param {import("./replay.js").ObjectRow[]} rows
   * @returns {Map<number, Made> | string}
   */
  table(rows) {
    /** @type {Map<number, Made>} */
    const table = new Map();
    for (const row of rows) {
      const refused = this.row(row, table);
      if (refused !== undefined) return `object ${row.id}: ${refused.reason} ${refused.error ?? ""}`.trim();
    }
    return table;
  }

  /** @param {import("./replay.js").ObjectRow} row @param {Map<number, Made>} table */
  row(row, table) {
    const key = STATELESS.includes(row.kind) ? keyOf(row, table) : null;
    const kept = key === null ? undefined : this.kept.get(key);
    if (kept !== undefined) {
      table.set(row.id, kept);
      return undefined;
    }
    const [refused] = makeObjects(this.device, [row], table).refused;
    const made = table.get(row.id);
    if (key !== null && made !== undefined) this.keep(key, made);
    return refused;
  }

  /** @param {string} key @param {Made} made */
  keep(key, made) {
    if (this.kept.size >= CACHED) this.kept.clear();
    made.serial = ++this.serial;
    this.kept.set(key, made);
  }

  /** @param {number} size */
  stagingOf(size) {
    if (this.staging === null || this.staging.size < size) {
      this.staging?.destroy();
      const room = Math.max(2 ** Math.ceil(Math.log2(size)), 2 ** 16);
      this.staging = this.device.createBuffer({ size: room, usage: MAP_READ | COPY_DST });
    }
    return this.staging;
  }
}

const LATIN = new TextDecoder("latin1");

/**
 * A row by its content, with the objects that it refers to by their serial numbers. Null where it names what is not kept, or nothing that
 * is there: that is refused, and is not the row that names 0 there.
 * @param {import("./replay.js").ObjectRow} row
 * @param {Map<number, Made>} table
 */
function keyOf({ kind, descriptor }, table) {
  const view = new DataView(descriptor.buffer, descriptor.byteOffset, descriptor.length);
  if (descriptor.length < 4) return null;
  const count = view.getUint32(0, true);
  if (count > (descriptor.length - 4) / 4) return null;
  const serials = [];
  for (let i = 0; i < count; i++) {
    const id = view.getUint32(4 + 4 * i, true);
    const serial = table.get(id)?.serial ?? 0;
    if ((id === 0) !== (serial === 0)) return null;
    serials.push(serial);
  }
  return `${kind} ${serials} ${LATIN.decode(descriptor.subarray(4 + 4 * count))}`;
}

/** @param {string} message */
function oneLine(message) {
  return message.split("\n").map((line) => line.trim()).filter((line) => line !== "").join(": ");
}

// ---------------------------------------------------------------------------------------------------------------
// Replays
// ---------------------------------------------------------------------------------------------------------------

/** The index of the last Submit among the first `count` commands, -1 for none. @param {Item} item @param {number} count */
function lastSubmit({ words, starts }, count) {
  let last = count - 1;
  while (last >= 0 && words[starts[last]] !== SUBMIT) last--;
  return last;
}

/**
 * The first `count` commands as a stream of their own. With `finish` what is open at their end is closed and submitted.
 * @param {Item} item
 * @param {number} count
 * @param {boolean} finish
 */
function prefix({ words, starts }, count, finish) {
  const part = words.subarray(0, count < starts.length ? starts[count] : words.length);
  if (!finish) {
    // Decode takes no stream that leaves a pass open. What is recorded into it is never finished, so it makes no difference.
    return openPass(words, starts, count) ? Uint32Array.of(...part, END_PASS) : part;
  }
  return openPass(words, starts, count) ? Uint32Array.of(...part, END_PASS, SUBMIT) : Uint32Array.of(...part, SUBMIT);
}

/** @param {Uint32Array} words @param {number[]} starts @param {number} count */
function openPass(words, starts, count) {
  for (let i = count - 1; i >= 0; i--) {
    const op = words[starts[i]];
    if (op === END_PASS) return false;
    if (op === BEGIN_RENDER_PASS || op === BEGIN_COMPUTE_PASS) return true;
  }
  return false;
}

/**
 * The device, but that of the command buffers that it is given only the first `submits` are submitted.
 * @param {any} device
 * @param {number} submits
 */
function withholding(device, submits) {
  const { queue } = device;
  return {
    createCommandEncoder: () => device.createCommandEncoder(),
    queue: {
      writeBuffer: (/** @type {any[]} */ ...args) => queue.writeBuffer(...args),
      writeTexture: (/** @type {any[]} */ ...args) => queue.writeTexture(...args),
      submit: (/** @type {any[]} */ commands) => submits-- > 0 && queue.submit(commands),
    },
  };
}

/**
 * Replays the first `count` commands, and finishes what is open then, where `finish` says so, without submitting it.
 * @param {Gpu} gpu
 * @param {Map<number, Made>} table
 * @param {Item} item
 * @param {number} count
 * @param {boolean} finish
 */
function replayPart(gpu, table, item, count, finish) {
  const words = prefix(item, count, finish);
  const device = finish ? withholding(gpu.device, submissions(item, count)) : gpu.device;
  return gpu.scoped(() => replay(device, table, words, item.data).stop);
}

/** How many of the first `count` commands submit something: a Submit with no encoder open does not. @param {Item} item @param {number} count */
function submissions({ words, starts }, count) {
  let open = false;
  let submits = 0;
  for (let i = 0; i < count; i++) {
    const op = words[starts[i]];
    if (OPENS_ENCODER.includes(op)) open = true;
    if (op !== SUBMIT || !open) continue;
    open = false;
    submits++;
  }
  return submits;
}

/** @param {import("./replay.js").Stop} stop @returns {Trouble} */
function troubleOf({ command, reason, word, error }) {
  const kind = reason === "wrong-kind" ? TROUBLE.wrongKind : TROUBLE.validation;
  return { command, kind, message: `${reason} at word ${word} ${error ?? ""}`.trim() };
}

/**
 * The first command of an item whose replay raised an error, found by replaying ever shorter parts of it: WebGPU reports what an encoder
 * refuses only when it is finished.
 * @param {Gpu} gpu
 * @param {Map<number, Made>} table
 * @param {Item} item
 * @param {number} end the commands that were replayed
 * @param {number} finished so many of them go into encoders that are finished
 * @param {string} error
 * @returns {Promise<Trouble>}
 */
async function locate(gpu, table, item, end, finished, error) {
  let good = 0;
  let bad = { count: end, error };
  // A stream that stops at a command mostly stops for its sake.
  let counts = item.stopAfter === null ? probes(good, end) : [end - 1];
  while (bad.count - good > 1) {
    const tried = counts.map((count) => replayPart(gpu, table, item, count, count <= finished));
    const errors = await Promise.all(tried.map((part) => part.error));
    const first = errors.findIndex((error) => error !== null);
    if (first > 0) good = counts[first - 1];
    if (first < 0) good = counts[counts.length - 1];
    else bad = { count: counts[first], error: String(errors[first]) };
    counts = probes(good, bad.count);
  }
  return { command: bad.count - 1, kind: TROUBLE.validation, message: bad.error };
}

/** A few numbers between the two, ascending. @param {number} good @param {number} bad */
function probes(good, bad) {
  const step = Math.max(1, Math.ceil((bad - good) / (PROBES + 1)));
  const counts = [];
  for (let count = good + step; count < bad; count += step) counts.push(count);
  return counts;
}

/**
 * Replays an item; its trouble is known later.
 * @param {Gpu} gpu
 * @param {Item} item
 * @param {{ result: Map<number, Made> | string, error: Promise<string | null> }} made the table
 */
function start(gpu, item, made) {
  const table = typeof made.result === "string" ? null : made.result;
  if (table === null) return { table, trouble: () => tableTrouble(gpu, made) };
  const count = item.stopAfter === null ? item.starts.length : item.stopAfter + 1;
  const { result: stop, error } = replayPart(gpu, table, item, count, item.stopAfter !== null);
  const trouble = async () => {
    const refused = await tableTrouble(gpu, made);
    if (refused !== null) return refused;
    const raised = await error;
    if (raised === null) return stop === null ? null : troubleOf(stop);
    const end = stop === null ? count : stop.command;
    const finished = stop === null && item.stopAfter !== null ? end : lastSubmit(item, end) + 1;
    return await locate(gpu, table, item, end, finished, raised);
  };
  return { table, trouble };
}

/** @param {Gpu} gpu @param {{ result: Map<number, Made> | string, error: Promise<string | null> }} made */
async function tableTrouble(gpu, { result, error }) {
  const raised = await error;
  if (raised === null && typeof result !== "string") return null;
  // Objects that the device refuses must not be taken for good ones later.
  gpu.kept.clear();
  return { command: null, kind: TROUBLE.validation, message: raised ?? String(result) };
}

/**
 * Replays items one after the other and waits for all of them at once. Where nothing is executed, items in a row over one table share its
 * objects: they hold nothing.
 * @param {Gpu} gpu
 * @param {Item[]} items
 * @returns {Promise<Outcome[]>}
 */
async function replayAll(gpu, items) {
  gpu.broken = null;
  const started = [];
  let last = null;
  for (const item of items) {
    if (last === null || last.rows !== item.rows || gpu.executes) {
      last = { rows: item.rows, made: gpu.scoped(() => gpu.table(item.rows)) };
    }
    started.push(start(gpu, item, last.made));
  }
  const outcomes = [];
  for (const { trouble } of started) outcomes.push({ trouble: await trouble(), lost: false, held: [] });
  if (gpu.executes && !gpu.lost) await readAll(gpu, started.map(({ table }) => table), outcomes);
  return outcomes;
}

// ---------------------------------------------------------------------------------------------------------------
// Reading back
// ---------------------------------------------------------------------------------------------------------------

/** Bytes of a texel, undefined where texels do not stand alone. @param {string} format */
function texelBytes(format) {
  if (/^(rgb9e5ufloat|rgb10a2uint|rgb10a2unorm|rg11b10ufloat)$/.test(format)) return 4;
  const parts = /^(r|rg|rgba|bgra)(8|16|32)(unorm|snorm|uint|sint|float)(-srgb)?$/.exec(format);
  return parts === null ? undefined : parts[1].length * Number(parts[2]) / 8;
}

/** @param {number} value @param {number} step */
function roundUp(value, step) {
  return Math.ceil(value / step) * step;
}

/** The size of a mip level. @param {any} texture @param {number} mip */
function mipExtent(texture, mip) {
  const half = (/** @type {number} */ size) => Math.max(1, size >> mip);
  return {
    width: half(texture.width),
    height: texture.dimension === "1d" ? texture.height : half(texture.height),
    depthOrArrayLayers: texture.dimension === "3d" ? half(texture.depthOrArrayLayers) : texture.depthOrArrayLayers,
  };
}

/** Copies into one buffer, and what takes each back out of its bytes. */
class Readback {
  constructor() {
    this.size = 0;
    /** @type {((encoder: any, staging: any) => void)[]} */
    this.copies = [];
    /** @type {((bytes: Uint8Array) => void)[]} */
    this.takes = [];
    /** Buffers that are mapped themselves. @type {{ buffer: any, take: (bytes: Uint8Array) => void }[]} */
    this.mapped = [];
  }

  /** @param {number} size */
  place(size) {
    const at = this.size;
    this.size += roundUp(size, 16);
    return at;
  }

  /** @param {any} buffer @param {(bytes: Uint8Array | null) => void} take */
  buffer(buffer, take) {
    const { size, usage } = buffer;
    if (size % 4 !== 0 || (usage & (MAP_READ | COPY_SRC)) === 0) return take(null);
    if (size === 0) return take(new Uint8Array(0));
    if ((usage & MAP_READ) !== 0) return this.mapped.push({ buffer, take });
    const at = this.place(size);
    this.copies.push((encoder, staging) => encoder.copyBufferToBuffer(buffer, 0, staging, at, size));
    this.takes.push((bytes) => take(bytes.slice(at, at + size)));
  }

  /** @param {any} texture @param {(bytes: Uint8Array | null) => void} take */
  texture(texture, take) {
    const texel = texelBytes(texture.format);
    if (texel === undefined || texture.sampleCount !== 1 || (texture.usage & TEXTURE_COPY_SRC) === 0) return take(null);
    const mips = Array.from({ length: texture.mipLevelCount }, (_, mip) => mip);
    const levels = mips.map((mip) => this.level(texture, mip, texel));
    this.takes.push((bytes) => take(tight(bytes, levels)));
  }

  /** @param {any} texture @param {number} mipLevel @param {number} texel */
  level(texture, mipLevel, texel) {
    const extent = mipExtent(texture, mipLevel);
    const row = extent.width * texel;
    const bytesPerRow = roundUp(row, ROW_ALIGNMENT);
    const rows = extent.height * extent.depthOrArrayLayers;
    const at = this.place(bytesPerRow * rows);
    const layout = { offset: at, bytesPerRow, rowsPerImage: extent.height };
    this.copies.push((encoder, buffer) =>
      encoder.copyTextureToBuffer({ texture, mipLevel }, { buffer, ...layout }, extent)
    );
    return { at, row, bytesPerRow, rows };
  }

  /** @param {Gpu} gpu */
  async run(gpu) {
    const waits = this.mapped.map(({ buffer }) => buffer.mapAsync(MODE_READ));
    const staging = this.copies.length > 0 ? gpu.stagingOf(this.size) : null;
    if (staging !== null) {
      const encoder = gpu.device.createCommandEncoder();
      for (const copy of this.copies) copy(encoder, staging);
      gpu.device.queue.submit([encoder.finish()]);
      waits.push(staging.mapAsync(MODE_READ, 0, this.size));
    }
    await Promise.all(waits);
    for (const { buffer, take } of this.mapped) take(new Uint8Array(buffer.getMappedRange().slice(0)));
    if (staging === null) return;
    const bytes = new Uint8Array(staging.getMappedRange(0, this.size));
    for (const take of this.takes) take(bytes);
    staging.unmap();
  }
}

/**
 * The rows of all levels without what fills them up.
 * @param {Uint8Array} bytes
 * @param {{ at: number, row: number, bytesPerRow: number, rows: number }[]} levels
 */
function tight(bytes, levels) {
  const held = new Uint8Array(levels.reduce((sum, { row, rows }) => sum + row * rows, 0));
  let to = 0;
  for (const { at, row, bytesPerRow, rows } of levels) {
    for (let i = 0; i < rows; i++, to += row) {
      held.set(bytes.subarray(at + i * bytesPerRow, at + i * bytesPerRow + row), to);
    }
  }
  return held;
}

/**
 * Reads back what all tables hold, with one submit and one wait, and destroys it.
 * @param {Gpu} gpu
 * @param {(Map<number, Made> | null)[]} tables
 * @param {Outcome[]} outcomes
 */
async function readAll(gpu, tables, outcomes) {
  const readback = new Readback();
  tables.forEach((table, i) => listMemory(readback, table, outcomes[i]));
  try {
    await readback.run(gpu);
  } catch (why) {
    gpu.broken ??= `reading back: ${why}`;
    // It may be mapped still.
    gpu.staging = null;
  }
  for (const table of tables) {
    for (const { kind, object } of table?.values() ?? []) {
      if (kind === KIND.buffer || kind === KIND.texture) object.destroy();
    }
  }
}

/** @param {Readback} readback @param {Map<number, Made> | null} table @param {Outcome} outcome */
function listMemory(readback, table, { trouble, held }) {
  // Of a table that is refused nothing was replayed.
  if (table === null || trouble?.command === null) return;
  for (const [id, { kind, object }] of table) {
    const take = (/** @type {Uint8Array | null} */ bytes) => void held.push({ id, kind, bytes });
    if (kind === KIND.buffer) readback.buffer(object, take);
    if (kind === KIND.texture) readback.texture(object, take);
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Frames
// ---------------------------------------------------------------------------------------------------------------

/** @param {Reader} from @returns {Item[]} */
function readItems(from) {
  const tables = [];
  for (let left = from.u32(); left > 0; left--) {
    const rows = [];
    for (let rest = from.u32(); rest > 0; rest--) {
      rows.push({ id: from.u32(), kind: from.u32(), descriptor: from.block() });
    }
    tables.push(rows);
  }
  const items = [];
  for (let left = from.u32(); left > 0; left--) items.push(readItem(from, tables));
  return items;
}

/** @param {Reader} from @param {import("./replay.js").ObjectRow[][]} tables @returns {Item} */
function readItem(from, tables) {
  const rows = tables[from.u32()];
  const blob = parseBlob(from.block());
  const stop = from.u32();
  if (rows === undefined || blob.reason !== null) throw new Malformed("an item without a table, or with a bad blob");
  const { starts, refusal } = decode(blob.words, blob.data.length);
  if (refusal !== null) throw new Malformed(`a stream that Decode refuses: ${refusal.reason} at word ${refusal.word}`);
  const stopAfter = stop === 0 ? null : Math.min(stop, starts.length) - 1;
  return { rows, words: blob.words, data: blob.data, starts, stopAfter };
}

/** @param {Writer} to @param {Outcome} outcome */
function writeOutcome(to, { trouble, lost, held }) {
  to.u32(lost ? 1 : 0);
  to.u32(trouble === null ? 0 : trouble.kind);
  if (trouble !== null) {
    to.u32(trouble.command === null ? 0 : trouble.command + 1);
    to.block(new TextEncoder().encode(trouble.message));
  }
  to.u32(held.length);
  for (const { id, kind, bytes } of held) {
    to.u32(id);
    to.u32(kind);
    to.u32(bytes === null ? 0 : 1);
    if (bytes !== null) to.block(bytes);
  }
}

/** A device that is made anew where it was lost. */
class Engine {
  /**
   * @param {any} adapters what gives adapters
   * @param {boolean} executes
   */
  constructor(adapters, executes) {
    this.adapters = adapters;
    this.executes = executes;
    /** @type {Gpu | null} */
    this.gpu = null;
    // What the last attempt broke over.
    this.why = "";
    this.wasLost = false;
  }

  /** Opens a device; gives what is known of its adapter, null where there is none. */
  async open() {
    const adapter = await this.adapters.requestAdapter();
    if (adapter === null) return null;
    // For streams over compressed textures.
    const requiredFeatures = COMPRESSED.filter((feature) => adapter.features.has(feature));
    this.gpu = new Gpu(await adapter.requestDevice({ requiredFeatures }), this.executes);
    return adapter.info;
  }

  /** Replays items one by one where all together broke something, so that it is known which one does. @param {Item[]} items */
  async replay(items) {
    const outcomes = await this.attempt(items);
    if (outcomes !== null) return outcomes;
    const alone = [];
    for (const item of items) alone.push((await this.attempt([item]))?.[0] ?? this.broke());
    return alone;
  }

  /** Replays items; null where something broke that is no validation error. @param {Item[]} items */
  async attempt(items) {
    if (this.gpu === null && (await this.open()) === null) throw new Error("the adapter is gone");
    const gpu = /** @type {Gpu} */ (this.gpu);
    const outcomes = await replayAll(gpu, items).catch((error) => {
      gpu.broken ??= String(error);
      return null;
    });
    if (gpu.lost) this.gpu = null;
    this.why = gpu.broken ?? "no error was raised";
    this.wasLost = gpu.lost;
    return gpu.lost || gpu.broken !== null ? null : outcomes;
  }

  /** The outcome of the item that broke something alone. @returns {Outcome} */
  broke() {
    const message = this.wasLost ? `the device was lost: ${this.why}` : this.why;
    return { trouble: { command: null, kind: TROUBLE.engine, message }, lost: this.wasLost, held: [] };
  }
}

/** Dawn's names of the backends that are native to an operating system; null is everywhere. @type {Record<string, string>} */
const BACKENDS = { darwin: "metal", windows: "d3d12" };

/**
 * What gives Dawn's adapters, opened on the first backend that has one.
 * @param {string} module
 * @param {string | undefined} backend
 */
async function openDawn(module, backend) {
  const { create } = await import(module);
  const names = backend === undefined ? [BACKENDS[Deno.build.os] ?? "vulkan", "null"] : [backend];
  for (const name of names) {
    const engine = new Engine(create([`backend=${name}`]), name !== "null");
    const info = await engine.open();
    if (info !== null) return { engine, info, name: `dawn:${name}` };
  }
  throw new Error(`Dawn has no adapter on ${names.join(" or ")}`);
}

async function openDeno() {
  const engine = new Engine(navigator.gpu, true);
  const info = await engine.open();
  if (info === null) throw new Error("navigator.gpu has no adapter");
  return { engine, info, name: "deno" };
}

/** What an adapter says of itself, in one line. @param {any} info */
function driverOf({ vendor, architecture, device, description }) {
  return oneLine(description !== "" ? description : [vendor, architecture, device].join(" "));
}

/** @param {string} which @param {string} module @param {string | undefined} backend */
async function main(which, module, backend) {
  const { engine, info, name } = which === "dawn" ? await openDawn(module, backend) : await openDeno();
  const driver = `${which === "dawn" ? "Dawn" : `deno ${Deno.version.deno}`} on ${driverOf(info)}`;
  await serve("gpu.js", {
    hello: { name, answers: ["replays"], driver, executes: engine.executes },
    answers: {
      5: async (from, to) => {
        const outcomes = await engine.replay(readItems(from));
        to.u32(outcomes.length);
        for (const outcome of outcomes) {
          const start = to.open();
          writeOutcome(to, outcome);
          to.close(start);
        }
      },
    },
  });
}

if (import.meta.main) {
  const [which, module, backend] = Deno.args;
  await main(which, module, backend).catch((error) => {
    console.error(`gpu.js: ${error.message}`);
    Deno.exit(1);
  });
  // Dawn's threads would keep the process.
  Deno.exit(0);
}
