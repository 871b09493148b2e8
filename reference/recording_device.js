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

/** An object of the device; its methods are set from METHODS. */
class Recorded {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }
}

/**
 * Makes a device with an empty log. Objects are named by kind and number, `buffer1` first; the device and the queue
 * are `device` and `queue`.
 * @param {(call: string) => boolean} throwsAt whether the call, already logged, throws
 */
export function makeRecordingDevice(throwsAt = () => false) {
  /** @type {Call[]} */
  const log = [];
  /** @type {Map<string, number>} */
  const made = new Map();

  /** @param {string} kind */
  const make = (kind) => {
    const number = (made.get(kind) ?? 0) + 1;
    made.set(kind, number);
    return build(kind, `${kind}${number}`);
  };

  /** @param {string} kind @param {string} name */
  const build = (kind, name) => {
    /** @type {any} */
    const object = new Recorded(name);
    for (const [method, result] of Object.entries(METHODS[kind] ?? {})) {
      object[method] = (/** @type {unknown[]} */ ...args) => {
        const call = `${name}.${method}`;
        log.push({ call, args: args.map(plain) });
        if (throwsAt(call)) throw new TypeError(call);
        return result === null ? undefined : make(result);
      };
    }
    return object;
  };

  const device = build("device", "device");
  device.queue = build("queue", "queue");
  return { device, log, make };
}
