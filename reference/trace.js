/**
 * The calls of an object table and a stream as the canonical text of PROTOCOL.md: a JSON array a line. It is written
 * piece by piece, because strings put together would cost more than the replay.
 */

import { makeObjects, parseBlob, replay } from "./replay.js";
import { makeRecordingDevice, Recorded } from "./recording_device.js";

/** Takes the text. @typedef {{ text: (piece: string) => void }} Sink */

const bits = new DataView(new ArrayBuffer(8));

/** A whole number in decimal; any other, and -0, as the bits of a double. @param {number} value */
function number(value) {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
  bits.setFloat64(0, value);
  return `{"f64":"${bits.getBigUint64(0).toString(16).padStart(16, "0")}"}`;
}

const WORD = /^[\w-]*$/;

/** @param {Sink} to @param {string} text */
function writeString(to, text) {
  if (!WORD.test(text)) return to.text(JSON.stringify(text));
  to.text('"');
  to.text(text);
  to.text('"');
}

/** @param {Sink} to @param {Recorded} object */
function writeName(to, { name }) {
  if (typeof name === "number") to.text(String(name));
  else writeString(to, name);
}

/**
 * The canonical form of a call's argument: members in the order of their names, bytes as their place in the data.
 * @param {Sink} to
 * @param {any} value
 * @param {Uint8Array} data
 */
function write(to, value, data) {
  if (typeof value === "number") to.text(number(value));
  else if (typeof value === "string") writeString(to, value);
  // A property that is there with no value is not left out, so it has a form of its own.
  else if (value === undefined) to.text('{"undefined":true}');
  else if (typeof value !== "object" || value === null) to.text(String(value));
  else if (Array.isArray(value)) writeArray(to, value, data);
  else writeObject(to, value, data);
}

/** @param {Sink} to @param {any[]} values @param {Uint8Array} data */
function writeArray(to, values, data) {
  to.text("[");
  for (let i = 0; i < values.length; i++) {
    if (i > 0) to.text(",");
    write(to, values[i], data);
  }
  to.text("]");
}

/** @param {Sink} to @param {Record<string, any>} value @param {Uint8Array} data */
function writeObject(to, value, data) {
  if (value instanceof Recorded) {
    to.text('{"@":');
    writeName(to, value);
    to.text("}");
  } else if (value instanceof Uint8Array) {
    writeBytes(to, value, data);
  } else {
    writeMembers(to, value, data);
  }
}

/** @param {Sink} to @param {Record<string, any>} value @param {Uint8Array} data */
function writeMembers(to, value, data) {
  const names = Object.keys(value).sort();
  to.text("{");
  for (let i = 0; i < names.length; i++) {
    if (i > 0) to.text(",");
    writeString(to, names[i]);
    to.text(":");
    write(to, value[names[i]], data);
  }
  to.text("}");
}

/** @param {Sink} to @param {Uint8Array} value @param {Uint8Array} data */
function writeBytes(to, value, data) {
  // Bytes from elsewhere would have no place there.
  if (value.buffer !== data.buffer) return writeArray(to, Array.from(value), data);
  to.text(`{"data":[${value.byteOffset - data.byteOffset},${value.length}]}`);
}

/** @param {Sink} to @param {Recorded} object @param {string} method @param {any[]} args @param {Uint8Array} data */
function writeCall(to, object, method, args, data) {
  to.text("[");
  writeName(to, object);
  to.text(',"');
  to.text(method);
  to.text('"');
  for (let i = 0; i < args.length; i++) {
    to.text(",");
    write(to, args[i], data);
  }
  to.text("]\n");
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
 * Writes the lines of a table's objects and of the stream over them.
 * @param {Sink} to
 * @param {import("./replay.js").ObjectRow[]} rows
 * @param {Uint8Array} bytes the stream's blob
 */
export function trace(to, rows, bytes) {
  const blob = parseBlob(bytes);
  const data = blob.reason === null ? blob.data : new Uint8Array(0);
  const { device } = makeRecordingDevice(null, (object, method, args) => writeCall(to, object, method, args, data));
  /** @type {import("./replay.js").Table} */
  const table = new Map();
  for (const row of rows) {
    const { refused } = makeObjects(device, [row], table);
    const made = table.get(row.id);
    // From here on the object goes by its id.
    if (made !== undefined) made.object.name = row.id;
    writeArray(to, ["object", row.id, ...rowEnd(refused[0])], data);
    to.text("\n");
  }
  writeArray(to, ["stream", ...streamEnd(device, table, blob)], data);
  to.text("\n");
}
