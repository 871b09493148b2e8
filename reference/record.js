/**
 * The recorder: it watches a program's own `navigator.gpu` (deno's, Dawn's, a browser's) and writes what the program does
 * as an object table and version 4 streams (wire.md). RECORDING.md says how they lie in a folder.
 *
 * The program keeps WebGPU's real objects; only their methods are replaced, each calls the real one first. A call that
 * throws leaves no trace. What version 4 cannot carry is counted by name.
 */

import { appendDescriptor, decode, decodeBundle, KIND, MAX_READ_WINDOW, MAX_REFS, VERSION } from "./replay.js";
import { BODY, extent, NotCarried, origin } from "./record_bodies.js";
import { automaticEntries, computeStages, renderStages } from "./record_layouts.js";

export const RECORDING_VERSION = 1;

/** The kinds' names in an object table. */
export const KIND_NAMES = Object.freeze([
  "",
  "buffer",
  "texture",
  "texture view",
  "sampler",
  "shader module",
  "bind group layout",
  "pipeline layout",
  "bind group",
  "compute pipeline",
  "render pipeline",
  "render bundle",
]);

// WebGPU's bits.
const MAP_WRITE = 2;
const COPY_DST = 8;
const RENDER_ATTACHMENT = 16;
const MODE_READ = 1;

/** The commands' opcodes (wire.md section 2). */
const OP = Object.freeze({
  setPipeline: 1,
  setBindGroup: 2,
  draw: 3,
  drawIndexed: 4,
  setVertexBuffer: 5,
  setIndexBuffer: 6,
  setViewport: 7,
  setScissorRect: 8,
  setBlendConstant: 9,
  setStencilReference: 10,
  executeBundles: 11,
  drawIndirect: 12,
  drawIndexedIndirect: 13,
  beginRenderPass: 20,
  endPass: 21,
  beginComputePass: 22,
  dispatch: 23,
  dispatchIndirect: 24,
  writeBuffer: 30,
  copyBufferToBuffer: 31,
  copyTextureToTexture: 32,
  writeTexture: 33,
  readBuffer: 34,
  submit: 40,
});

const NO_STRIDE = 0xffffffff;
const INDEX_FORMATS = ["", "uint16", "uint32"];
const LOAD_OPS = ["", "load", "clear"];
const STORE_OPS = ["", "store", "discard"];
const ASPECTS = ["", "all", "stencil-only", "depth-only"];

/** Methods that change nothing that a stream says. */
const HARMLESS = new Set([
  ...["constructor", "toString", "addEventListener", "removeEventListener", "dispatchEvent"],
  ...["pushErrorScope", "popErrorScope", "onSubmittedWorkDone", "getCompilationInfo", "destroy"],
  ...["getPreferredCanvasFormat", "configure", "unconfigure", "getConfiguration"],
]);

/**
 * A row of the object table; `refs` are ids.
 * @typedef {{ id: number, kind: number, refs: number[], body: any }} Row
 *
 * A copy that version 4 has no command for, which a replayer can make between two streams; an object in its arguments
 * is `{"@": id}`.
 * @typedef {{ method: string, args: any[] }} Copy
 *
 * What goes into one blob. The copies are made after its work, then come its reads; `window` holds what the program
 * itself saw of each read.
 * @typedef {{ words: number[], data: Uint8Array[], dataLength: number, copies: Copy[], window: Uint8Array[],
 *   windowLength: number, closed: boolean }} Stream
 *
 * Takes a command's words.
 * @typedef {(...words: number[]) => void} Write
 *
 * What is noted of a call once it is made: its arguments and its result.
 * @typedef {(args: any[], result: any) => void} Note
 *
 * The group of an automatic layout: what the program put in its bind groups.
 * @typedef {{ row: Row, uses: import("./record_layouts.js").Use[][] }} Group
 */

/**
 * Which adapter it is, in WebGPU's four words, of which an engine leaves those empty that it does not tell.
 * @typedef {{ vendor: string, architecture: string, device: string, description: string }} AdapterInfo
 *
 * @param {any} adapter
 * @returns {AdapterInfo}
 */
export function adapterInfo({ info }) {
  const { vendor = "", architecture = "", device = "", description = "" } = info ?? {};
  return { vendor, architecture, device, description };
}

/** @param {number} value */
function u64(value) {
  return [value % 2 ** 32, Math.floor(value / 2 ** 32)];
}

const floatValue = new Float32Array(1);
const floatBits = new Uint32Array(floatValue.buffer);

/** @param {number} value */
function f32(value) {
  floatValue[0] = value;
  return floatBits[0];
}

/** A GPUColor. @param {any} color */
function colorValues(color) {
  const [r, g, b, a] = Symbol.iterator in color ? color : [color.r, color.g, color.b, color.a];
  for (const value of [r, g, b, a]) {
    // An attachment of integers takes the number itself.
    if (Number.isInteger(value) && Math.fround(value) !== value) throw new NotCarried("a color that no f32 holds");
  }
  return [f32(r), f32(g), f32(b), f32(a)];
}

/**
 * Whether one texture of a canvas can stand for a later one, which is gone by then: they are alike, and a pass can clear it.
 * @param {any} earlier
 * @param {any} later
 */
function canStandFor(earlier, later) {
  return JSON.stringify(earlier) === JSON.stringify(later) && (later.usage & RENDER_ATTACHMENT) !== 0;
}

/** The bytes of an ArrayBuffer or a view, as a view. @param {any} source */
function bytesOf(source) {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/**
 * A copy of the bytes that queue.writeBuffer takes: offset and size are in elements of a typed array, else in bytes.
 * @param {any} source
 * @param {number} offset
 * @param {number | undefined} size
 */
function written(source, offset = 0, size = undefined) {
  const each = ArrayBuffer.isView(source) && !(source instanceof DataView)
    ? /** @type {any} */ (source).BYTES_PER_ELEMENT
    : 1;
  const bytes = bytesOf(source);
  return bytes.slice(offset * each, size === undefined ? bytes.length : (offset + size) * each);
}

/** The names of an object's methods. @param {any} object */
function methodsOf(object) {
  /** @type {Set<string>} */
  const names = new Set();
  for (let owner = object; owner !== Object.prototype && owner !== null; owner = Object.getPrototypeOf(owner)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (typeof value === "function") names.add(name);
    }
  }
  return names;
}

/** @returns {Stream} */
function emptyStream() {
  return { words: [], data: [], dataLength: 0, copies: [], window: [], windowLength: 0, closed: false };
}

/** @param {Uint8Array[]} parts @param {number} length */
function joined(parts, length) {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A blob of section 1. @param {Stream} stream */
function blob({ words, data, dataLength }) {
  const header = Uint32Array.from([0x45524957, 4, words.length, dataLength]);
  const parts = [header, Uint32Array.from(words)].map(bytesOf);
  return joined([...parts, ...data], 16 + 4 * words.length + dataLength);
}

/** Records the first device that a program asks for. */
export class Recorder {
  /** Ids of WebGPU's objects. @type {WeakMap<object, number>} */
  #ids = new WeakMap();
  /** @type {Map<number, Row>} */
  #rows = new Map();
  /** Automatic layouts: of a pipeline's row its groups by index. @type {Map<Row, Map<number, Group>>} */
  #automatic = new Map();
  /** The group that a layout's row belongs to. @type {Map<Row, Group>} */
  #groups = new Map();
  /**
   * What is mapped now: the stream whose end a read sees, or null and the ranges to write.
   * @type {WeakMap<object, { stream: Stream | null, ranges: { offset: number, bytes: Uint8Array }[] }>}
   */
  #mapped = new WeakMap();
  /** The commands of a command buffer, cut at each copy. @type {WeakMap<object, Pick<Stream, "words" | "copies">[]>} */
  #encoded = new WeakMap();
  /** @type {WeakSet<object>} */
  #watched = new WeakSet();
  /** @type {Stream[]} */
  #streams = [];
  /** @type {Map<string, number>} */
  #notCarried = new Map();
  /** @type {{ requiredFeatures: string[], requiredLimits: Record<string, number> } | null} */
  #device = null;
  /** The adapter that gave the device. @type {AdapterInfo | null} */
  #adapter = null;
  #submits = 0;
  #nextId = 1;

  /** Watches a `navigator.gpu` from here on. @param {any} gpu */
  watch(gpu) {
    this.#patch(gpu, "GPU", {
      requestAdapter: (_args, promise) => this.#later(promise, (adapter) => adapter && this.#watchAdapter(adapter)),
    });
  }

  /** Watches a canvas's context, so that its textures are objects like others. @param {any} context */
  watchContext(context) {
    /** The row of the last frame's texture, and that of a view of it once there are two. @type {Row | null} */
    let row = null;
    /** @type {Row | null} */
    let view = null;
    this.#patch(context, "GPUCanvasContext", {
      getCurrentTexture: (_args, texture) => {
        if (this.#ids.has(texture)) return;
        const { format, usage, mipLevelCount, sampleCount, dimension } = texture;
        const { width, height, depthOrArrayLayers } = texture;
        const size = { width, height, depthOrArrayLayers };
        const body = { size, format, usage, mipLevelCount, sampleCount, dimension };
        if (row === null || !canStandFor(row.body, body)) {
          row = this.#addTexture(texture, body);
          view = null;
          return;
        }
        view ??= this.#row(KIND.view, [row.id], {});
        this.#clear(view);
        this.#watchTexture(texture, row);
      },
    });
  }

  /** What version 4 cannot carry and the program did: names and how often. */
  get notCarried() {
    return this.#notCarried;
  }

  /** How much is recorded so far: calls of `queue.submit`, objects, bytes of all streams and reads. */
  get progress() {
    const bytes = this.#streams.reduce(
      (sum, { words, dataLength, windowLength }) => sum + 4 * words.length + dataLength + windowLength,
      0,
    );
    return { submits: this.#submits, objects: this.#rows.size, bytes };
  }

  // -------------------------------------------------------------------------------------------------------------
  // Watching
  // -------------------------------------------------------------------------------------------------------------

  /** @param {string} name */
  #lose(name) {
    this.#notCarried.set(name, (this.#notCarried.get(name) ?? 0) + 1);
  }

  /** Counts the members of a pass's descriptor that have no word. @param {string} name @param {any} descriptor @param {string[]} known */
  #loseOthers(name, descriptor, known) {
    for (const member in descriptor ?? {}) {
      const carried = member === "label" || known.includes(member) || descriptor[member] === undefined;
      if (!carried) this.#lose(`${name}.${member}`);
    }
  }

  /**
   * Runs what notes something, and gives whether it could; what is not carried is counted. The program goes on, whatever it is.
   * @param {() => void} note
   */
  #attempt(note) {
    try {
      note();
      return true;
    } catch (error) {
      this.#lose(error instanceof NotCarried ? error.message : `what the recorder cannot read: ${error}`);
      return false;
    }
  }

  /** Notes a promise's value before the program sees it. @param {Promise<any>} promise @param {(value: any) => void} note */
  #later(promise, note) {
    promise.then((value) => this.#attempt(() => note(value)), () => {});
  }

  /**
   * Replaces the methods of one object: `after` notes calls that were made, `before` those that are about to be. A method
   * in neither is counted as one that is not carried, unless it is harmless.
   * @param {any} object
   * @param {string} name
   * @param {Record<string, Note>} after
   * @param {Record<string, () => void>} before
   */
  #patch(object, name, after, before = {}) {
    if (this.#watched.has(object)) return;
    this.#watched.add(object);
    for (const method of methodsOf(object)) {
      if (HARMLESS.has(method)) continue;
      const native = object[method];
      const note = after[method] ?? (method in before ? () => {} : () => this.#lose(`${name}.${method}`));
      const value = (/** @type {any[]} */ ...given) => {
        // An iterator gives its values once.
        const args = given.map((arg) => typeof arg?.next === "function" ? Array.from(arg) : arg);
        if (method in before) this.#attempt(before[method]);
        const result = native.apply(object, args);
        this.#attempt(() => note(args, result));
        return result;
      };
      Object.defineProperty(object, method, { configurable: true, writable: true, value });
    }
  }

  /** @param {any} adapter */
  #watchAdapter(adapter) {
    this.#patch(adapter, "GPUAdapter", {
      requestDevice: ([descriptor], promise) => {
        this.#later(promise, (device) => this.#watchDevice(adapter, device, descriptor));
      },
      requestAdapterInfo: () => {},
    });
  }

  /** @param {any} adapter @param {any} device @param {any} descriptor */
  #watchDevice(adapter, device, { requiredFeatures = [], requiredLimits = {} } = {}) {
    if (this.#device !== null) throw new NotCarried("a second device");
    this.#adapter = adapterInfo(adapter);
    const limits = Object.entries(requiredLimits).filter(([, value]) => value !== undefined);
    this.#device = {
      requiredFeatures: Array.from(requiredFeatures, String),
      requiredLimits: Object.fromEntries(limits.map(([name, value]) => [name, Number(value)])),
    };
    const { queue } = device;
    this.#watchQueue(queue);
    // Some engines give a new object each time.
    Object.defineProperty(device, "queue", { configurable: true, value: queue });
    this.#patch(device, "GPUDevice", this.#creations());
  }

  /** @returns {Record<string, Note>} */
  #creations() {
    const computePipeline = (/** @type {any} */ descriptor, /** @type {any} */ pipeline) => {
      const { layout, compute: { module } } = descriptor;
      const refs = [this.#layoutRef(layout), this.#id(module)];
      this.#addPipeline(pipeline, KIND.computePipeline, refs, this.#body("createComputePipeline", descriptor));
    };
    const renderPipeline = (/** @type {any} */ descriptor, /** @type {any} */ pipeline) => {
      const { layout, vertex, fragment } = descriptor;
      const refs = [this.#layoutRef(layout), this.#id(vertex.module), fragment ? this.#id(fragment.module) : 0];
      this.#addPipeline(pipeline, KIND.renderPipeline, refs, this.#body("createRenderPipeline", descriptor));
    };
    const simple = (/** @type {string} */ method, /** @type {number} */ kind) => {
      return (/** @type {any[]} */ [descriptor = {}], /** @type {any} */ object) => {
        this.#add(object, kind, [], this.#body(method, descriptor));
      };
    };
    return {
      createBuffer: ([descriptor], buffer) => this.#createBuffer(descriptor, buffer),
      createTexture: ([descriptor], texture) => this.#addTexture(texture, this.#body("createTexture", descriptor)),
      createSampler: simple("createSampler", KIND.sampler),
      createShaderModule: ([descriptor], module) => {
        this.#add(module, KIND.module, [], this.#body("createShaderModule", descriptor));
        this.#patch(module, "GPUShaderModule", {});
      },
      createBindGroupLayout: simple("createBindGroupLayout", KIND.bindGroupLayout),
      createPipelineLayout: ([descriptor], layout) => {
        const refs = Array.from(descriptor.bindGroupLayouts, (group) => group ? this.#id(group) : 0);
        this.#add(layout, KIND.pipelineLayout, refs, this.#body("createPipelineLayout", descriptor));
      },
      createBindGroup: ([descriptor], bindGroup) => this.#createBindGroup(descriptor, bindGroup),
      createComputePipeline: ([descriptor], pipeline) => computePipeline(descriptor, pipeline),
      createRenderPipeline: ([descriptor], pipeline) => renderPipeline(descriptor, pipeline),
      createComputePipelineAsync: ([descriptor], promise) => {
        this.#later(promise, (pipeline) => computePipeline(descriptor, pipeline));
      },
      createRenderPipelineAsync: ([descriptor], promise) => {
        this.#later(promise, (pipeline) => renderPipeline(descriptor, pipeline));
      },
      createRenderBundleEncoder: ([descriptor], encoder) => this.#watchBundleEncoder(encoder, descriptor),
      createCommandEncoder: (_args, encoder) => this.#watchEncoder(encoder),
    };
  }

  // -------------------------------------------------------------------------------------------------------------
  // Objects
  // -------------------------------------------------------------------------------------------------------------

  /** @param {any} object */
  #id(object) {
    const id = this.#ids.get(object);
    if (id === undefined) throw new NotCarried(`use of a ${object?.constructor?.name ?? object} that is not carried`);
    return id;
  }

  /** @param {string} method @param {any} descriptor */
  #body(method, descriptor) {
    return BODY[method](descriptor, method, (path) => this.#lose(path));
  }

  /** @param {number} kind @param {number[]} refs @param {any} body @returns {Row} */
  #row(kind, refs, body) {
    const row = { id: this.#nextId++, kind, refs, body };
    this.#rows.set(row.id, row);
    return row;
  }

  /** @param {any} object @param {number} kind @param {number[]} refs @param {any} body */
  #add(object, kind, refs, body) {
    const row = this.#row(kind, refs, body);
    this.#ids.set(object, row.id);
    return row;
  }

  /** @param {any} descriptor @param {any} buffer */
  #createBuffer(descriptor, buffer) {
    const body = this.#body("createBuffer", descriptor);
    // What is written through a map is a WriteBuffer in the stream.
    if (descriptor.mappedAtCreation || (body.usage & MAP_WRITE) !== 0) {
      body.usage = (body.usage & ~MAP_WRITE) | COPY_DST;
    }
    const { id } = this.#add(buffer, KIND.buffer, [], body);
    if (descriptor.mappedAtCreation) this.#mapped.set(buffer, { stream: null, ranges: [] });
    this.#patch(buffer, "GPUBuffer", {
      mapAsync: ([mode], promise) => {
        const stream = (mode & MODE_READ) !== 0 ? this.#last() : null;
        this.#later(promise, () => this.#mapped.set(buffer, { stream, ranges: [] }));
      },
      getMappedRange: ([offset = 0], range) => this.#range(buffer, id, offset, new Uint8Array(range)),
    }, { unmap: () => this.#unmap(buffer, id) });
  }

  /** @param {any} texture @param {any} body */
  #addTexture(texture, body) {
    const row = this.#row(KIND.texture, [], body);
    this.#watchTexture(texture, row);
    return row;
  }

  /** @param {any} texture @param {Row} row what it is in the recording */
  #watchTexture(texture, row) {
    this.#ids.set(texture, row.id);
    this.#patch(texture, "GPUTexture", {
      createView: ([descriptor = {}], view) => {
        this.#add(view, KIND.view, [this.#id(texture)], this.#body("createView", descriptor));
      },
    });
  }

  /** Makes a texture what a new one is: zeros. @param {Row} view */
  #clear({ id }) {
    this.#write(
      OP.beginRenderPass,
      1,
      ...[id, 0, LOAD_OPS.indexOf("clear"), STORE_OPS.indexOf("store"), 0, 0, 0, 0],
      0,
    );
    this.#write(OP.endPass);
  }

  /** The id of a view; a texture in its place is the view of the whole. @param {any} object */
  #viewId(object) {
    const id = this.#id(object);
    return this.#rows.get(id)?.kind === KIND.texture ? this.#row(KIND.view, [id], {}).id : id;
  }

  /** @param {any} descriptor @param {any} bindGroup */
  #createBindGroup({ layout, entries }, bindGroup) {
    /** @type {number[]} */
    const refs = [this.#id(layout)];
    const members = Array.from(entries, ({ binding, resource }) => {
      // A buffer may stand for itself.
      const { buffer = resource, offset, size } = resource;
      const kind = this.#rows.get(this.#id(buffer))?.kind;
      refs.push(kind === KIND.texture ? this.#viewId(buffer) : this.#id(buffer));
      return kind === KIND.buffer && buffer !== resource ? { binding, offset, size } : { binding };
    });
    this.#add(bindGroup, KIND.bindGroup, refs, { entries: members });
    const group = this.#groups.get(/** @type {Row} */ (this.#rows.get(refs[0])));
    group?.uses.push(members.map(({ binding }, i) => this.#use(binding, refs[i + 1])));
  }

  /** What an automatic layout must know of a resource. @param {number} binding @param {number} ref */
  #use(binding, ref) {
    const { kind, refs, body } = /** @type {Row} */ (this.#rows.get(ref));
    if (kind === KIND.view) return { binding, format: this.#rows.get(refs[0])?.body.format };
    const filters = [body.magFilter, body.minFilter, body.mipmapFilter].includes("linear");
    return kind === KIND.sampler ? { binding, filters } : { binding };
  }

  /** @param {any} layout */
  #layoutRef(layout) {
    return layout === "auto" ? 0 : this.#id(layout);
  }

  /** @param {any} pipeline @param {number} kind @param {number[]} refs @param {any} body */
  #addPipeline(pipeline, kind, refs, body) {
    const row = this.#add(pipeline, kind, refs, body);
    const automatic = refs[0] === 0;
    this.#patch(pipeline, "GPUPipeline", {
      getBindGroupLayout: ([index], layout) => {
        const id = automatic ? this.#group(row, index).row.id : this.#rows.get(refs[0])?.refs[index];
        if (id === undefined || id === 0) throw new NotCarried("the layout of a group that a pipeline does not have");
        this.#ids.set(layout, id);
      },
    });
  }

  /** @param {Row} pipeline @param {number} index */
  #group(pipeline, index) {
    const groups = this.#automatic.get(pipeline) ?? new Map();
    this.#automatic.set(pipeline, groups);
    const known = groups.get(index);
    if (known !== undefined) return known;
    const group = { row: this.#row(KIND.bindGroupLayout, [], { entries: [] }), uses: [] };
    groups.set(index, group);
    this.#groups.set(group.row, group);
    return group;
  }

  /** Writes out the automatic layouts that the program has made bind groups for so far. */
  #writeLayouts() {
    for (const [pipeline, groups] of this.#automatic) {
      const used = [...groups.keys()].filter((index) => (groups.get(index)?.uses.length ?? 0) > 0);
      const written = used.length === 0 || this.#attempt(() => this.#writeLayout(pipeline, used));
      // Named once, however often the files are asked for.
      if (!written) this.#automatic.delete(pipeline);
    }
  }

  /** @param {Row} pipeline @param {number[]} used */
  #writeLayout(pipeline, used) {
    const [, first, second] = pipeline.refs.map((ref) => this.#rows.get(ref)?.body.code ?? null);
    const { compute, vertex, fragment } = pipeline.body;
    const stages = pipeline.kind === KIND.computePipeline
      ? computeStages(first, compute.entryPoint)
      : renderStages(first, vertex.entryPoint, second, fragment?.entryPoint);
    const refs = [];
    for (let index = 0; index <= Math.max(...used); index++) {
      const { row, uses } = this.#group(pipeline, index);
      row.body.entries = automaticEntries(stages, index, uses);
      refs.push(row.id);
    }
    const layout = this.#rows.get(pipeline.refs[0]) ?? this.#row(KIND.pipelineLayout, refs, {});
    layout.refs = refs;
    pipeline.refs[0] = layout.id;
  }

  /** The rows in an order in which a reference stands after what it names. */
  #orderedRows() {
    this.#writeLayouts();
    /** @type {Set<Row>} */
    const ordered = new Set();
    const place = (/** @type {number} */ id) => {
      const row = this.#rows.get(id);
      if (row === undefined || ordered.has(row)) return;
      row.refs.forEach(place);
      ordered.add(row);
    };
    [...this.#rows.keys()].forEach(place);
    return [...ordered];
  }

  // -------------------------------------------------------------------------------------------------------------
  // The queue and maps
  // -------------------------------------------------------------------------------------------------------------

  /** The stream that takes what comes next. */
  #open() {
    const last = this.#streams.at(-1);
    if (last !== undefined && !last.closed) return last;
    const stream = emptyStream();
    this.#streams.push(stream);
    return stream;
  }

  /** The stream that ends with what is done now; its reads see that. */
  #last() {
    const stream = this.#streams.at(-1) ?? this.#open();
    stream.closed = true;
    return stream;
  }

  /** @param {Uint8Array} bytes */
  #data(bytes) {
    const stream = this.#open();
    const at = stream.dataLength;
    stream.data.push(bytes);
    stream.dataLength += bytes.length;
    return at;
  }

  /** @param {number[]} words */
  #write(...words) {
    const stream = this.#open();
    for (const word of words) stream.words.push(word >>> 0);
  }

  /** @param {number} id @param {number} offset @param {Uint8Array} bytes a copy */
  #writeBuffer(id, offset, bytes) {
    if (bytes.length % 4 !== 0) throw new NotCarried("writeBuffer of a length that is no multiple of 4");
    this.#write(OP.writeBuffer, id, ...u64(offset), this.#data(bytes), bytes.length);
  }

  /** @param {any} buffer @param {number} id @param {number} offset @param {Uint8Array} bytes */
  #range(buffer, id, offset, bytes) {
    const mapped = this.#mapped.get(buffer);
    if (mapped === undefined || bytes.length === 0) return;
    const { stream, ranges } = mapped;
    if (stream === null) {
      ranges.push({ offset, bytes });
      return;
    }
    if (stream.windowLength + bytes.length > MAX_READ_WINDOW) throw new NotCarried("reads past a window of 64 MiB");
    stream.words.push(OP.readBuffer, id, ...u64(offset), bytes.length, stream.windowLength);
    stream.window.push(bytes.slice());
    stream.windowLength += bytes.length;
  }

  /** @param {any} buffer @param {number} id */
  #unmap(buffer, id) {
    const ranges = this.#mapped.get(buffer)?.ranges ?? [];
    this.#mapped.delete(buffer);
    for (const { offset, bytes } of ranges) this.#writeBuffer(id, offset, bytes.slice());
  }

  /** @param {any} queue */
  #watchQueue(queue) {
    this.#patch(queue, "GPUQueue", {
      writeBuffer: ([buffer, offset, source, sourceOffset, size]) => {
        this.#writeBuffer(this.#id(buffer), offset, written(source, sourceOffset, size));
      },
      writeTexture: ([destination, source, layout, size]) => this.#writeTexture(destination, source, layout, size),
      submit: ([commandBuffers]) => {
        this.#submits++;
        for (const commands of commandBuffers) this.#attempt(() => this.#submit(commands));
        this.#endSubmit();
      },
    });
  }

  /** @param {any} destination @param {any} source @param {any} layout @param {any} size */
  #writeTexture(destination, source, { offset = 0, bytesPerRow, rowsPerImage }, size) {
    const { width, height, depthOrArrayLayers } = extent(size);
    const all = bytesOf(source).subarray(offset);
    // The source may be a whole heap: no more than the rows can take.
    const most = bytesPerRow === undefined ? all.length : bytesPerRow * (rowsPerImage ?? height) * depthOrArrayLayers;
    const bytes = all.slice(0, most);
    const strides = [bytesPerRow ?? NO_STRIDE, rowsPerImage ?? NO_STRIDE];
    const at = this.#textureWords(destination);
    const size3 = [width, height, depthOrArrayLayers];
    this.#write(OP.writeTexture, ...at, this.#data(bytes), bytes.length, ...u64(0), ...strides, ...size3);
  }

  /** texture mip x y z aspect @param {any} copy */
  #textureWords({ texture, mipLevel = 0, origin: at, aspect = "" }) {
    const { x, y, z } = origin(at);
    return [this.#id(texture), mipLevel, x, y, z, ASPECTS.indexOf(aspect)];
  }

  /** @param {any} commands */
  #submit(commands) {
    const pieces = this.#encoded.get(commands);
    if (pieces === undefined) throw new NotCarried("a command buffer that is not carried");
    this.#encoded.delete(commands);
    for (const { words, copies } of pieces) {
      const stream = this.#open();
      for (const word of words) stream.words.push(word);
      if (copies.length === 0) continue;
      this.#endSubmit();
      stream.copies = copies;
    }
  }

  /** Ends the stream that has commands of this submit. */
  #endSubmit() {
    const stream = this.#streams.at(-1);
    if (stream === undefined || stream.closed) return;
    stream.words.push(OP.submit);
    stream.closed = true;
  }

  // -------------------------------------------------------------------------------------------------------------
  // Encoders
  // -------------------------------------------------------------------------------------------------------------

  /** @param {any} encoder */
  #watchEncoder(encoder) {
    /** @type {Pick<Stream, "words" | "copies">[]} */
    const pieces = [{ words: [], copies: [] }];
    /** @type {Write} */
    const write = (...words) => {
      if (pieces[pieces.length - 1].copies.length > 0) pieces.push({ words: [], copies: [] });
      for (const word of words) pieces[pieces.length - 1].words.push(word >>> 0);
    };
    const copy = (/** @type {string} */ method, /** @type {any[]} */ args) => {
      pieces[pieces.length - 1].copies.push({ method, args });
      this.#lose(`GPUCommandEncoder.${method}`);
    };
    this.#patch(encoder, "GPUCommandEncoder", {
      beginRenderPass: ([descriptor], pass) => this.#watchRenderPass(pass, descriptor, write),
      beginComputePass: ([descriptor], pass) => {
        this.#loseOthers("beginComputePass", descriptor, []);
        write(OP.beginComputePass);
        this.#watchComputePass(pass, write);
      },
      copyBufferToBuffer: (args) => this.#copyBufferToBuffer(args, write),
      copyTextureToTexture: ([source, destination, size]) => {
        const { width, height, depthOrArrayLayers } = extent(size);
        const [from, to] = [this.#textureWords(source), this.#textureWords(destination)];
        write(OP.copyTextureToTexture, ...from, ...to, width, height, depthOrArrayLayers);
      },
      clearBuffer: ([buffer, offset = 0, size]) => {
        copy("clearBuffer", [{ "@": this.#id(buffer) }, offset, size ?? buffer.size - offset]);
      },
      copyBufferToTexture: ([source, destination, size]) => {
        copy("copyBufferToTexture", [this.#bufferSide(source), this.#textureSide(destination), extent(size)]);
      },
      copyTextureToBuffer: ([source, destination, size]) => {
        copy("copyTextureToBuffer", [this.#textureSide(source), this.#bufferSide(destination), extent(size)]);
      },
      finish: (_args, commands) => {
        for (const { words } of pieces) {
          const { refusal } = decode(Uint32Array.from(words), 0);
          if (refusal !== null) throw new NotCarried(`a command buffer whose words are refused: ${refusal.reason}`);
        }
        this.#encoded.set(commands, pieces);
      },
    });
  }

  /** @param {any} side */
  #bufferSide({ buffer, offset = 0, bytesPerRow, rowsPerImage }) {
    return { buffer: { "@": this.#id(buffer) }, offset, bytesPerRow, rowsPerImage };
  }

  /** @param {any} side */
  #textureSide({ texture, mipLevel = 0, origin: at, aspect = "all" }) {
    return { texture: { "@": this.#id(texture) }, mipLevel, origin: origin(at), aspect };
  }

  /** Both forms: (source, destination, size) too. @param {any[]} args @param {Write} write */
  #copyBufferToBuffer(args, write) {
    const short = typeof args[1] === "object";
    const [source, sourceOffset, destination, destinationOffset, size] = short
      ? [args[0], 0, args[1], 0, args[2]]
      : args;
    const bytes = size ?? source.size - sourceOffset;
    write(
      OP.copyBufferToBuffer,
      this.#id(source),
      ...u64(sourceOffset),
      this.#id(destination),
      ...u64(destinationOffset),
      ...u64(bytes),
    );
  }

  /** @param {any} pass @param {any} descriptor @param {Write} write */
  #watchRenderPass(pass, descriptor, write) {
    const { colorAttachments, depthStencilAttachment } = descriptor;
    this.#loseOthers("beginRenderPass", descriptor, ["colorAttachments", "depthStencilAttachment", "maxDrawCount"]);
    let writePass = write;
    this.#attempt(() => {
      // A pass that cannot begin is left out whole.
      writePass = () => {};
      const colors = Array.from(colorAttachments, (color) => this.#colorAttachment(color));
      const depth = depthStencilAttachment ? [1, ...this.#depthAttachment(depthStencilAttachment)] : [0];
      write(OP.beginRenderPass, colors.length, ...colors.flat(), ...depth);
      writePass = write;
    });
    this.#patch(pass, "GPURenderPassEncoder", {
      ...this.#drawing(writePass, (object) => this.#id(object)),
      setViewport: (values) => writePass(OP.setViewport, ...values.slice(0, 6).map(f32)),
      setScissorRect: ([x, y, width, height]) => writePass(OP.setScissorRect, x, y, width, height),
      setBlendConstant: ([color]) => writePass(OP.setBlendConstant, ...colorValues(color)),
      setStencilReference: ([reference]) => writePass(OP.setStencilReference, reference),
      executeBundles: ([bundles]) => {
        const ids = Array.from(bundles, (bundle) => this.#id(bundle));
        writePass(OP.executeBundles, ids.length, ...ids);
      },
      end: () => writePass(OP.endPass),
    });
  }

  /** @param {any} attachment */
  #colorAttachment(attachment) {
    // A hole: its operations are words that must be there.
    if (!attachment) return [0, 0, 1, 1, 0, 0, 0, 0];
    const { view, depthSlice, resolveTarget, clearValue = [0, 0, 0, 0], loadOp, storeOp } = attachment;
    if (depthSlice !== undefined) throw new NotCarried("a render pass with a depthSlice");
    const ids = [this.#viewId(view), resolveTarget ? this.#viewId(resolveTarget) : 0];
    return [...ids, LOAD_OPS.indexOf(loadOp), STORE_OPS.indexOf(storeOp), ...colorValues(clearValue)];
  }

  /** @param {any} attachment */
  #depthAttachment(attachment) {
    const { view, depthLoadOp = "", depthStoreOp = "", depthClearValue = 0, depthReadOnly = false } = attachment;
    const { stencilLoadOp = "", stencilStoreOp = "", stencilClearValue = 0, stencilReadOnly = false } = attachment;
    return [
      ...[this.#viewId(view), LOAD_OPS.indexOf(depthLoadOp), STORE_OPS.indexOf(depthStoreOp), f32(depthClearValue)],
      ...[Number(depthReadOnly), LOAD_OPS.indexOf(stencilLoadOp), STORE_OPS.indexOf(stencilStoreOp)],
      ...[stencilClearValue, Number(stencilReadOnly)],
    ];
  }

  /** @param {any} pass @param {Write} write */
  #watchComputePass(pass, write) {
    const { setPipeline, setBindGroup } = this.#drawing(write, (object) => this.#id(object));
    this.#patch(pass, "GPUComputePassEncoder", {
      setPipeline,
      setBindGroup,
      dispatchWorkgroups: ([x, y = 1, z = 1]) => write(OP.dispatch, x, y, z),
      dispatchWorkgroupsIndirect: ([buffer, offset]) => write(OP.dispatchIndirect, this.#id(buffer), ...u64(offset)),
      end: () => write(OP.endPass),
    });
  }

  /**
   * The commands that render passes and bundles share.
   * @param {Write} write
   * @param {(object: any) => number} id
   * @returns {Record<string, Note>}
   */
  #drawing(write, id) {
    const rest = (/** @type {number | undefined} */ size) => {
      if (size === 0) throw new NotCarried("a vertex or index buffer of 0 bytes");
      return u64(size ?? 0);
    };
    return {
      setPipeline: ([pipeline]) => write(OP.setPipeline, id(pipeline)),
      setBindGroup: ([index, bindGroup, offsets = [], start = 0, length = offsets.length]) => {
        // Start and length are there with a Uint32Array alone.
        const dynamic = Array.from(offsets).slice(start, start + length);
        write(OP.setBindGroup, index, bindGroup ? id(bindGroup) : 0, dynamic.length, ...dynamic);
      },
      draw: ([vertexCount, instanceCount = 1, firstVertex = 0, firstInstance = 0]) => {
        write(OP.draw, vertexCount, instanceCount, firstVertex, firstInstance);
      },
      drawIndexed: ([indexCount, instanceCount = 1, firstIndex = 0, baseVertex = 0, firstInstance = 0]) => {
        write(OP.drawIndexed, indexCount, instanceCount, firstIndex, baseVertex, firstInstance);
      },
      setVertexBuffer: ([slot, buffer, offset = 0, size]) => {
        if (buffer) write(OP.setVertexBuffer, slot, id(buffer), ...u64(offset), ...rest(size));
        else write(OP.setVertexBuffer, slot, 0, ...u64(offset), ...u64(size ?? 0));
      },
      setIndexBuffer: ([buffer, format, offset = 0, size]) => {
        write(OP.setIndexBuffer, id(buffer), INDEX_FORMATS.indexOf(format), ...u64(offset), ...rest(size));
      },
      drawIndirect: ([buffer, offset]) => write(OP.drawIndirect, id(buffer), ...u64(offset)),
      drawIndexedIndirect: ([buffer, offset]) => write(OP.drawIndexedIndirect, id(buffer), ...u64(offset)),
    };
  }

  /** @param {any} encoder @param {any} descriptor */
  #watchBundleEncoder(encoder, descriptor) {
    const body = this.#body("createRenderBundleEncoder", descriptor);
    /** @type {number[]} */
    const words = [];
    /** @type {number[]} */
    const refs = [];
    // In a bundle's words an id is a position in the references, from 1.
    const position = (/** @type {any} */ object) => {
      const id = this.#id(object);
      if (!refs.includes(id)) refs.push(id);
      return refs.indexOf(id) + 1;
    };
    const write = (/** @type {number[]} */ ...more) => {
      for (const word of more) words.push(word >>> 0);
    };
    this.#patch(encoder, "GPURenderBundleEncoder", {
      ...this.#drawing(write, position),
      finish: (_args, bundle) => {
        const { refusal } = decodeBundle(Uint32Array.from(words));
        if (refusal !== null) throw new NotCarried(`a bundle whose words are refused: ${refusal.reason}`);
        if (refs.length > MAX_REFS) throw new NotCarried("a bundle that names more than 4096 objects");
        this.#add(bundle, KIND.bundle, refs, { ...body, words });
      },
    });
  }

  // -------------------------------------------------------------------------------------------------------------
  // The recording
  // -------------------------------------------------------------------------------------------------------------

  /**
   * What was recorded so far, as the files of RECORDING.md.
   * @param {Record<string, unknown>} about the manifest's `program`
   * @returns {{ name: string, bytes: Uint8Array }[]}
   */
  files(about) {
    const objects = this.#orderedRows().map(({ id, kind, refs, body }) => ({
      id,
      kind: KIND_NAMES[kind],
      refs,
      body: JSON.stringify(body),
    }));
    const files = [{ name: "objects.json", bytes: json(objects) }];
    const streams = this.#streams.filter(({ words, copies }) => words.length > 0 || copies.length > 0);
    const rows = streams.map((stream, index) => {
      const name = String(index).padStart(5, "0");
      files.push({ name: `${name}.wire`, bytes: blob(stream) });
      const reads = stream.windowLength === 0 ? undefined : `${name}.read`;
      if (reads !== undefined) files.push({ name: reads, bytes: joined(stream.window, stream.windowLength) });
      const copies = stream.copies.length === 0 ? undefined : stream.copies;
      return { blob: `${name}.wire`, copies, window: stream.windowLength, reads };
    });
    files.push({ name: "recording.json", bytes: json(this.#manifest(about, streams, rows)) });
    return files;
  }

  /** @param {Record<string, unknown>} program @param {Stream[]} streams @param {any[]} rows */
  #manifest(program, streams, rows) {
    const sum = (/** @type {(stream: Stream) => number} */ of) =>
      streams.reduce((total, stream) => total + of(stream), 0);
    return {
      recording: RECORDING_VERSION,
      wire: VERSION,
      program,
      adapter: this.#adapter,
      device: this.#device,
      objects: "objects.json",
      counts: {
        objects: this.#rows.size,
        submits: this.#submits,
        commands: sum(({ words, dataLength }) => decode(Uint32Array.from(words), dataLength).starts.length),
        words: sum(({ words }) => words.length),
        data: sum(({ dataLength }) => dataLength),
        read: sum(({ windowLength }) => windowLength),
      },
      notCarried: Object.fromEntries([...this.#notCarried].sort()),
      streams: rows,
    };
  }
}

/** @param {unknown} value */
function json(value) {
  return new TextEncoder().encode(JSON.stringify(value, null, 1) + "\n");
}

/** An object table's row for replay.js, null where it has too many references. @param {any} row */
export function objectRow({ id, kind, refs = [], body }) {
  const appended = appendDescriptor(new Uint8Array(0), refs, new TextEncoder().encode(body));
  return "bytes" in appended ? { id, kind: KIND_NAMES.indexOf(kind), descriptor: appended.bytes } : null;
}
