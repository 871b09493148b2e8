/**
 * Layouts of pipelines with `layout: "auto"`. Version 4 has no object that stands for `pipeline.getBindGroupLayout()`, so
 * that the recorder writes the layout out: which bindings there are, the program's own bind groups say (an automatic
 * layout takes just those that the shader uses); what each is and which stages use it, the WGSL says.
 */

import { NotCarried } from "./record_bodies.js";

const VERTEX = 1;
const FRAGMENT = 2;
const COMPUTE = 4;

/**
 * A stage of a pipeline: its bit, its code without comments, the words that its entry point reaches.
 * @typedef {{ bit: number, code: string, reached: Set<string> }} Stage
 */

/**
 * What a program put at a binding: nothing more for a buffer, the format of a view's texture, whether a sampler filters.
 * @typedef {{ binding: number, format?: string, filters?: boolean }} Use
 */

/** A resource that WGSL declares. @typedef {{ space: string, type: string }} Declaration */

const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//g;
const DECLARATION = /((?:@\w+\s*\([^)]*\)\s*)+)var\s*(?:<([^>]*)>)?\s*([^\s:]+)\s*:\s*([^;]+);/g;
const FUNCTION = /\bfn\s+([^\s(]+)\s*\(/g;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/gu;
/** The attribute of an entry point, by its stage's bit. @type {Record<number, string>} */
const ATTRIBUTES = { [VERTEX]: "vertex", [FRAGMENT]: "fragment", [COMPUTE]: "compute" };
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

/** What stands between the brace at or after `start` and the one that closes it. @param {string} code @param {number} start */
function braced(code, start) {
  const open = code.indexOf("{", start);
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === "{") depth++;
    else if (code[at] === "}" && --depth === 0) return code.slice(open, at);
  }
  return "";
}

/** The names in a function's body and in those of the functions that it calls. @param {string} code @param {string} entry */
function reachedFrom(code, entry) {
  const starts = new Map(Array.from(code.matchAll(FUNCTION), ({ 1: name, index }) => [name, index]));
  /** @type {Set<string>} */
  const reached = new Set();
  const visit = (/** @type {string} */ name) => {
    if (reached.has(name)) return;
    reached.add(name);
    const start = starts.get(name);
    if (start !== undefined) braced(code, start).match(NAME)?.forEach(visit);
  };
  visit(entry);
  return reached;
}

/**
 * @param {number} bit
 * @param {string} wgsl
 * @param {string | undefined} entryPoint left out, it is the only one of its stage
 * @returns {Stage}
 */
function stage(bit, wgsl, entryPoint) {
  const code = wgsl.replace(COMMENT, " ");
  const only = new RegExp(`@${ATTRIBUTES[bit]}\\b[^]*?\\bfn\\s+([^\\s(]+)`).exec(code)?.[1];
  return { bit, code, reached: reachedFrom(code, entryPoint ?? only ?? "") };
}

/**
 * The resource that a stage uses at a place, or null.
 * @param {Stage} stage
 * @param {number} group
 * @param {number} binding
 * @returns {Declaration | null}
 */
function declaration({ code, reached }, group, binding) {
  for (const [, attributes, space = "", name, type] of code.matchAll(DECLARATION)) {
    const here = attribute(attributes, "group") === group && attribute(attributes, "binding") === binding;
    if (here && reached.has(name)) return { space: space.replace(/\s/g, ""), type: type.replace(/\s/g, "") };
  }
  return null;
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
    const declared = stages.map((stage) => ({ bit: stage.bit, found: declaration(stage, group, binding) }));
    const seen = declared.filter(({ found }) => found !== null);
    if (seen.length === 0) throw new NotCarried("an automatic layout with a binding that its WGSL does not use");
    const entry = resource(/** @type {Declaration} */ (seen[0].found), uses);
    const visibility = seen.reduce((bits, { bit }) => bits | bit, 0);
    const barred = isWritable(entry) && (visibility & ~VERTEX) !== 0 ? VERTEX : 0;
    return { binding, visibility: visibility & ~barred, ...entry };
  });
}

/**
 * @param {string} wgsl
 * @param {string | undefined} entryPoint
 */
export function computeStages(wgsl, entryPoint) {
  return [stage(COMPUTE, wgsl, entryPoint)];
}

/**
 * @param {string} vertex WGSL
 * @param {string | undefined} vertexEntry
 * @param {string | null} fragment WGSL, null for a pipeline without that stage
 * @param {string | undefined} fragmentEntry
 */
export function renderStages(vertex, vertexEntry, fragment, fragmentEntry) {
  const stages = [stage(VERTEX, vertex, vertexEntry)];
  if (fragment !== null) stages.push(stage(FRAGMENT, fragment, fragmentEntry));
  return stages;
}
