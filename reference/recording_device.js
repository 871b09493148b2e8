/**
 * A device that makes no GPU work: it notes every call as plain data, so that the calls of replay.js can be compared.
 */

/**
 * The methods of each kind of object; the value is the kind that a method gives, null for nothing.
 * @type {Record<string, Record<string, string | null>>}
 */
const METHODS = {
  device: {
    createBuffer: "buffer",
    createTexture: "texture",
    createSampler: "sampler",
    createShaderModule: "module",
    createBindGroupLayout: "bindGroupLayout",
    createPipelineLayout: "pipelineLayout",
    createBindGroup: "bindGroup",
    createComputePipeline: "computePipeline",
    createRenderPipeline: "renderPipeline",
    createRenderBundleEncoder: "bundleEncoder",
    createCommandEncoder: "encoder",
  },
  queue: { submit: null, writeBuffer: null, writeTexture: null },
  texture: { createView: "view" },
  encoder: {
    beginRenderPass: "renderPass",
    beginComputePass: "computePass",
    copyBufferToBuffer: null,
    copyTextureToTexture: null,
    finish: "commands",
  },
  bundleEncoder: {
    setPipeline: null,
    setBindGroup: null,
    draw: null,
    drawIndexed: null,
    setVertexBuffer: null,
    setIndexBuffer: null,
    drawIndirect: null,
    drawIndexedIndirect: null,
    finish: "bundle",
  },
  renderPass: {
    setPipeline: null,
    setBindGroup: null,
    draw: null,
    drawIndexed: null,
    setVertexBuffer: null,
    setIndexBuffer: null,
    setViewport: null,
    setScissorRect: null,
    setBlendConstant: null,
    setStencilReference: null,
    executeBundles: null,
    drawIndirect: null,
    drawIndexedIndirect: null,
    end: null,
  },
  computePass: {
    setPipeline: null,
    setBindGroup: null,
    dispatchWorkgroups: null,
    dispatchWorkgroupsIndirect: null,
    end: null,
  },
};

/** A call: `object.method`, where the object has its name of the form `kind1`, and the arguments as plain data. */
/** @typedef {{ call: string, args: unknown[] }} Call */

/**
 * Objects that the device has made become `@name`, bytes become `{ bytes: [...] }`, everything else is copied.
 * @param {any} value
 * @returns {unknown}
 */
function plain(value) {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Recorded) return `@${value.name}`;
  if (value instanceof Uint8Array) return { bytes: Array.from(value) };
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

/**
 * What the device's objects have in common: the log, how a call is noted, how many objects of a kind were made.
 * @typedef {{ log: any[], note: (object: Recorded, method: string, args: unknown[]) => unknown,
 *   throwsAt: ((call: string) => boolean) | null, made: Map<string, number> }} Recorder
 */

/** An object of the device. Whoever gives it another name finds that one in the calls after. */
export class Recorded {
  /** @param {Recorder} recorder @param {string | number} name */
  constructor(recorder, name) {
    this.recorder = recorder;
    this.name = name;
  }
}

/** A class for each kind of object, with the methods of METHODS. @type {Record<string, typeof Recorded>} */
const CLASSES = {};
for (const [kind, methods] of Object.entries(METHODS)) {
  CLASSES[kind] = class extends Recorded {};
  for (const [method, result] of Object.entries(methods)) {
    const prototype = /** @type {any} */ (CLASSES[kind].prototype);
    prototype[method] = function (/** @type {unknown[]} */ ...args) {
      return record(this, method, result, args);
    };
  }
}

/** @param {Recorded} object @param {string} method @param {string | null} result @param {unknown[]} args */
function record(object, method, result, args) {
  const { recorder } = object;
  recorder.log.push(recorder.note(object, method, args));
  if (recorder.throwsAt?.(`${object.name}.${method}`)) throw new TypeError(`${object.name}.${method}`);
  return result === null ? undefined : makeOne(recorder, result);
}

/** @param {Recorder} recorder @param {string} kind @returns {any} */
function makeOne(recorder, kind) {
  const number = (recorder.made.get(kind) ?? 0) + 1;
  recorder.made.set(kind, number);
  return new (CLASSES[kind] ?? Recorded)(recorder, `${kind}${number}`);
}

/** @param {Recorded} object @param {string} method @param {unknown[]} args @returns {Call} */
function noteCall(object, method, args) {
  return { call: `${object.name}.${method}`, args: args.map(plain) };
}

/**
 * Makes a device with an empty log. Objects are named by kind and number, `buffer1` first; the device and the queue
 * are `device` and `queue`.
 * @param {((call: string) => boolean) | null} throwsAt whether the call, already logged, throws
 * @param {Recorder["note"]} note what the log gets for a call
 */
export function makeRecordingDevice(throwsAt = null, note = noteCall) {
  /** @type {Recorder} */
  const recorder = { log: [], note, throwsAt, made: new Map() };
  /** @type {any} */
  const device = new CLASSES.device(recorder, "device");
  device.queue = new CLASSES.queue(recorder, "queue");
  return { device, log: recorder.log, make: (/** @type {string} */ kind) => makeOne(recorder, kind) };
}
