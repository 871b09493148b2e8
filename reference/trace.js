/**
 * The calls of an object table and a stream as the canonical text of PROTOCOL.md: a JSON array a line.
 */

import { makeObjects, parseBlob, replay } from "./replay.js";
import { makeRecordingDevice, Recorded } from "./recording_device.js";

const bits = new DataView(new ArrayBuffer(8));

/** A whole number in decimal; any other, and -0, as the bits of a double. @param {number} value */
function number(value) {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
  bits.setFloat64(0, value);
  return `{"f64":"${bits.getBigUint64(0).toString(16).padStart(16, "0")}"}`;
}

const WORD = /^[\w-]*$/;

/** @param {string} text */
function quoted(text) {
  return WORD.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A property that is there with no value is not left out, so it has a form of its own. */
const UNDEFINED = '{"undefined":true}';

/** @param {Recorded} object */
function nameOf({ name }) {
  return typeof name === "number" ? String(name) : `"${name}"`;
}

/**
 * The canonical form of a call's argument: members in the order of their names, bytes as their place in the data.
 * @param {any} value
 * @param {Uint8Array} data
 * @returns {string}
 */
function canonical(value, data) {
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return quoted(value);
  if (value === undefined) return UNDEFINED;
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Recorded) return `{"@":${nameOf(value)}}`;
  if (Array.isArray(value)) return `[${list(value, data)}]`;
  if (value instanceof Uint8Array) return bytes(value, data);
  return members(value, data);
}

/** @param {Record<string, any>} value @param {Uint8Array} data */
function members(value, data) {
  let text = "";
  for (const name of Object.keys(value).sort()) {
    text += `${text === "" ? "{" : ","}${quoted(name)}:${canonical(value[name], data)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** The values with commas between them. @param {any[]} values @param {Uint8Array} data */
function list(values, data) {
  let text = "";
  for (let i = 0; i < values.length; i++) text += `${i === 0 ? "" : ","}${canonical(values[i], data)}`;
  return text;
}

/** @param {Uint8Array} value @param {Uint8Array} data */
function bytes(value, data) {
  if (value.buffer !== data.buffer) return `[${list(Array.from(value), data)}]`;
  return `{"data":[${value.byteOffset - data.byteOffset},${value.length}]}`;
}

/**
 * How a row came out: its reason and what is known beside it.
 * @param {import("./replay.js").ObjectRefusal | undefined} refused
 */
function rowEnd(refused) {
  if (refused === undefined) return ["made"];
  const { reason, reference, command, word, op } = refused;
  return [reason, reference, command, word, op].filter((part) => part !== undefined);
}

/**
 * How the stream came out.
 * @param {any} device
 * @param {import("./replay.js").Table} table
 * @param {ReturnType<typeof parseBlob>} blob
 */
function streamEnd(device, table, blob) {
  if (blob.reason !== null) return [blob.reason];
  const { refusal, stop } = replay(device, table, blob.words, blob.data);
  if (refusal !== null) return [refusal.reason, refusal.word, refusal.op];
  return stop === null ? ["done"] : [stop.reason, stop.command, stop.word];
}

/**
 * The lines of a table's objects and of the stream over them.
 * @param {import("./replay.js").ObjectRow[]} rows
 * @param {Uint8Array} bytes the stream's blob
 */
export function trace(rows, bytes) {
  const blob = parseBlob(bytes);
  const data = blob.reason === null ? blob.data : new Uint8Array(0);
  const { device, log } = makeRecordingDevice(null, (object, method, args) => {
    const rest = args.length === 0 ? "" : `,${list(args, data)}`;
    return `[${nameOf(object)},"${method}"${rest}]`;
  });
  /** @type {import("./replay.js").Table} */
  const table = new Map();
  for (const row of rows) {
    const { refused } = makeObjects(device, [row], table);
    const made = table.get(row.id);
    // From here on the object goes by its id.
    if (made !== undefined) made.object.name = row.id;
    log.push(JSON.stringify(["object", row.id, ...rowEnd(refused[0])]));
  }
  log.push(JSON.stringify(["stream", ...streamEnd(device, table, blob)]));
  return `${log.join("\n")}\n`;
}
