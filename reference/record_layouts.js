/**
 * Layouts of pipelines with `layout: "auto"`. Version 4 has no object that stands for `pipeline.getBindGroupLayout()`, so
 * that the recorder writes the layout out: which bindings there are, the program's own bind groups say (an automatic
 * layout takes just those that the shader uses); what each is, the declarations in the WGSL say.
 */

import { NotCarried } from "./record_bodies.js";

const VERTEX = 1;
const FRAGMENT = 2;
const COMPUTE = 4;

/** A shader's stages: its code and the stage's bit. @typedef {{ code: string, stage: number }} Stage */

/**
 * What a program put at a binding: nothing more for a buffer, the format of a view's texture, whether a sampler filters.
 * @typedef {{ binding: number, format?: string, filters?: boolean }} Use
 */

/** A resource that WGSL declares. @typedef {{ space: string, type: string }} Declaration */

const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//g;
const DECLARATION = /((?:@\w+\s*\([^)]*\)\s*)+)var\s*(?:<([^>]*)>)?\s*[^\s:]+\s*:\s*([^;]+);/g;
const TEXTURE =
  /^texture_(depth_|storage_)?(multisampled_)?(1d|2d|2d_array|3d|cube|cube_array)(?:<(\w+)(?:,(\w+))?,?>)?$/;
/** Formats that `float` does not take, without a feature. */
const UNFILTERABLE = /^(r|rg|rgba)32float$|^depth/;
/** @type {Record<string, string>} */
const SAMPLE_TYPES = { f32: "float", i32: "sint", u32: "uint" };
/** @type {Record<string, string>} */
const ACCESSES = { write: "write-only", read: "read-only", read_write: "read-write" };

/** @param {string} attributes @param {string} name */
function attribute(attributes, name) {
  return Number(new RegExp(`@${name}\\s*\\(\\s*(\\d+)[iu]?\\s*,?\\s*\\)`).exec(attributes)?.[1] ?? NaN);
}

/**
 * The resource that the code declares at a place, or null.
 * @param {string} code
 * @param {number} group
 * @param {number} binding
 * @returns {Declaration | null}
 */
function declaration(code, group, binding) {
  /** @type {Declaration | null} */
  let found = null;
  for (const [, attributes, space = "", type] of code.replace(COMMENT, " ").matchAll(DECLARATION)) {
    if (attribute(attributes, "group") !== group || attribute(attributes, "binding") !== binding) continue;
    if (found !== null) throw new NotCarried(`an automatic layout whose WGSL declares a binding twice`);
    found = { space: space.replace(/\s/g, ""), type: type.replace(/\s/g, "") };
  }
  return found;
}

/**
 * The members of a bind group layout's entry that say what it is.
 * @param {Declaration} declared
 * @param {Use[]} uses what the program bound there
 */
function resource({ space, type }, uses) {
  if (space === "uniform") return { buffer: { type: "uniform" } };
  if (space !== "") return { buffer: { type: space.includes("write") ? "storage" : "read-only-storage" } };
  if (type === "sampler_comparison") return { sampler: { type: "comparison" } };
  if (type === "sampler") {
    return { sampler: { type: uses.some(({ filters }) => filters) ? "filtering" : "non-filtering" } };
  }
  const [, class_, multisampled, dimension, first, second] = TEXTURE.exec(type) ?? [];
  if (dimension === undefined) throw new NotCarried(`an automatic layout with a binding of type ${type}`);
  const viewDimension = dimension.replace("_", "-");
  if (class_ === "storage_") {
    return { storageTexture: { access: ACCESSES[second], format: first, viewDimension } };
  }
  const unfilterable = multisampled !== undefined || uses.some(({ format }) => UNFILTERABLE.test(format ?? ""));
  const sampleType = class_ === "depth_"
    ? "depth"
    : first === "f32" && unfilterable
    ? "unfilterable-float"
    : SAMPLE_TYPES[first];
  return { texture: { sampleType, viewDimension, multisampled: multisampled !== undefined } };
}

/** Whether a shader may write through it; WebGPU keeps such from vertex stages. @param {any} entry */
function isWritable({ buffer, storageTexture }) {
  return buffer?.type === "storage" || (storageTexture !== undefined && storageTexture.access !== "read-only");
}

/**
 * The entries of one group of an automatic layout.
 * @param {Stage[]} stages
 * @param {number} group
 * @param {Use[][]} bindGroups what the program's bind groups of it hold
 */
export function automaticEntries(stages, group, bindGroups) {
  const bindings = [...new Set(bindGroups.flat().map(({ binding }) => binding))].sort((a, b) => a - b);
  return bindings.map((binding) => {
    const uses = bindGroups.flat().filter((use) => use.binding === binding);
    const declared = stages.map(({ code, stage }) => ({ stage, found: declaration(code, group, binding) }));
    const seen = declared.filter(({ found }) => found !== null);
    if (seen.length === 0) throw new NotCarried("an automatic layout with a binding that its WGSL does not declare");
    const entry = resource(/** @type {Declaration} */ (seen[0].found), uses);
    const visibility = seen.reduce((bits, { stage }) => bits | stage, 0);
    const barred = isWritable(entry) && (visibility & ~VERTEX) !== 0 ? VERTEX : 0;
    return { binding, visibility: visibility & ~barred, ...entry };
  });
}

/** @param {string} code @returns {Stage[]} */
export function computeStages(code) {
  return [{ code, stage: COMPUTE }];
}

/** @param {string} vertex @param {string | null} fragment @returns {Stage[]} */
export function renderStages(vertex, fragment) {
  const stages = [{ code: vertex, stage: VERTEX }];
  if (fragment !== null) stages.push({ code: fragment, stage: FRAGMENT });
  return stages;
}
