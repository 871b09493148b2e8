/**
 * The bodies of creation descriptors (wire.md section 7): a WebGPU dictionary as plain JSON, member by member.
 *
 * A member is read by name, as WebGPU's IDL does, so that instances of a program's own classes and getters work. What a
 * dictionary holds beyond the members below is told to `lose`, with its path.
 */

/** What version 4 cannot carry; the message is the name under which it is counted. */
export class NotCarried extends Error {}

/** Gives a value's JSON. @typedef {(value: any, path: string, lose: (path: string) => void) => any} Shape */

/** Members that a reference stands for, and those that say nothing about the object that is made. */
const ELSEWHERE = new Set(["label", "module", "layout", "bindGroupLayouts", "resource"]);
const WITHOUT_EFFECT = new Set(["mappedAtCreation", "compilationHints", "sourceMap"]);

/** A number, a string or a bool. @type {Shape} */
function leaf(value, path) {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new NotCarried(`${path} that is not finite`);
  return value;
}

/** @param {Record<string, Shape>} members @returns {Shape} */
function dictionary(members) {
  return (value, path, lose) => {
    /** @type {Record<string, any>} */
    const body = {};
    for (const name in value ?? {}) {
      const known = Object.hasOwn(members, name) || ELSEWHERE.has(name) || WITHOUT_EFFECT.has(name);
      if (!known && value[name] !== undefined && typeof value[name] !== "function") lose(`${path}.${name}`);
    }
    for (const [name, shape] of Object.entries(members)) {
      const member = value?.[name];
      if (member !== undefined) body[name] = shape(member, `${path}.${name}`, lose);
    }
    return body;
  };
}

/** A sequence; null stands for a place that is left empty. @param {Shape} shape @returns {Shape} */
function list(shape) {
  return (values, path, lose) => Array.from(values, (value) => value == null ? null : shape(value, path, lose));
}

/** @type {Shape} */
function constants(values, path, lose) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, leaf(value, path, lose)]));
}

/** @param {string} names */
function leaves(names) {
  return Object.fromEntries(names.split(" ").map((name) => [name, leaf]));
}

/**
 * A GPUExtent3D.
 * @param {any} size
 * @returns {{ width: number, height: number, depthOrArrayLayers: number }}
 */
export function extent(size) {
  if (Symbol.iterator in size) {
    const [width, height = 1, depthOrArrayLayers = 1] = size;
    return { width, height, depthOrArrayLayers };
  }
  const { width, height = 1, depthOrArrayLayers = 1 } = size;
  return { width, height, depthOrArrayLayers };
}

/** A GPUOrigin3D. @param {any} origin @returns {{ x: number, y: number, z: number }} */
export function origin(origin = {}) {
  if (Symbol.iterator in origin) {
    const [x = 0, y = 0, z = 0] = origin;
    return { x, y, z };
  }
  const { x = 0, y = 0, z = 0 } = origin;
  return { x, y, z };
}

const stage = { entryPoint: leaf, constants };
const stencilFace = dictionary(leaves("compare failOp depthFailOp passOp"));
const blend = dictionary(leaves("operation srcFactor dstFactor"));

/** The bodies, by what makes the object. @type {Record<string, Shape>} */
export const BODY = {
  createBuffer: dictionary(leaves("size usage")),
  createTexture: dictionary({
    size: extent,
    ...leaves("format usage mipLevelCount sampleCount dimension"),
    viewFormats: list(leaf),
  }),
  createView: dictionary(
    leaves("format dimension usage aspect baseMipLevel mipLevelCount baseArrayLayer arrayLayerCount swizzle"),
  ),
  createSampler: dictionary(leaves(
    "addressModeU addressModeV addressModeW magFilter minFilter mipmapFilter lodMinClamp lodMaxClamp compare " +
      "maxAnisotropy",
  )),
  createShaderModule: dictionary(leaves("code")),
  createBindGroupLayout: dictionary({
    entries: list(dictionary({
      ...leaves("binding visibility"),
      buffer: dictionary(leaves("type hasDynamicOffset minBindingSize")),
      sampler: dictionary(leaves("type")),
      texture: dictionary(leaves("sampleType viewDimension multisampled")),
      storageTexture: dictionary(leaves("access format viewDimension")),
    })),
  }),
  createPipelineLayout: dictionary({}),
  createComputePipeline: dictionary({ compute: dictionary(stage) }),
  createRenderPipeline: dictionary({
    vertex: dictionary({
      ...stage,
      buffers: list(dictionary({
        ...leaves("arrayStride stepMode"),
        attributes: list(dictionary(leaves("format offset shaderLocation"))),
      })),
    }),
    primitive: dictionary(leaves("topology stripIndexFormat frontFace cullMode unclippedDepth")),
    depthStencil: dictionary({
      ...leaves("format depthWriteEnabled depthCompare stencilReadMask stencilWriteMask"),
      ...leaves("depthBias depthBiasSlopeScale depthBiasClamp"),
      stencilFront: stencilFace,
      stencilBack: stencilFace,
    }),
    multisample: dictionary(leaves("count mask alphaToCoverageEnabled")),
    fragment: dictionary({
      ...stage,
      targets: list(dictionary({
        ...leaves("format writeMask"),
        blend: dictionary({ color: blend, alpha: blend }),
      })),
    }),
  }),
  createRenderBundleEncoder: dictionary({
    colorFormats: list(leaf),
    ...leaves("depthStencilFormat sampleCount depthReadOnly stencilReadOnly"),
  }),
};
