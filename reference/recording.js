/**
 * Reads a recording (RECORDING.md), a folder or a tar archive of one, and checks all that can be known without a device:
 * types, ranges, members that nobody knows, versions, names, lengths, the streams' words and reads. Whatever is wrong is one
 * Broken, whose message is a line: the file, the member, what is wrong and how to mend it.
 */

import { checkReads, decode, KIND, listReads, MAX_READ_WINDOW, MAX_REFS, parseBlob, VERSION } from "./replay.js";
import { KIND_NAMES, RECORDING_VERSION } from "./record.js";
import { readTar } from "./tar.js";

/**
 * A recording's files by name; throws Broken.
 * @typedef {(name: string) => Uint8Array} Files
 *
 * Throws Broken where a value is not what it must be; `at` says where it stands.
 * @typedef {(value: any, at: string) => void} Check
 *
 * A stream with all that is beside it; `seen` is what the program saw of its reads, the whole window.
 * @typedef {{ name: string, words: Uint32Array, data: Uint8Array, starts: number[], copies: import("./record.js").Copy[],
 *   seen: Uint8Array }} RecordedStream
 *
 * A row of the object table as it stands in its file; `body` is JSON.
 * @typedef {{ id: number, kind: string, refs: number[], body: string }} RecordedRow
 *
 * @typedef {{ requiredFeatures: string[], requiredLimits: Record<string, number> }} RecordedDevice
 *
 * @typedef {{ adapter: import("./record.js").AdapterInfo | null, device: RecordedDevice | null, objects: RecordedRow[], streams: RecordedStream[] }} Recording
 */

/** What is wrong with a recording, as one line. */
export class Broken extends Error {}

const ANEW = "record the program again, or mend it by RECORDING.md";
const COPIES = ["clearBuffer", "copyBufferToTexture", "copyTextureToBuffer"];

/** @param {string} at @param {string} what @param {string} mend @returns {never} */
function broken(at, what, mend = ANEW) {
  // What a file says stays on the line.
  throw new Broken(`${at}: ${what}; ${mend}`.replace(/\p{Cc}+/gu, " "));
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

// ---------------------------------------------------------------------------------------------------------------
// Files
// ---------------------------------------------------------------------------------------------------------------

/** A name in the recording itself: what leads elsewhere has a slash, a colon or no letter. @param {any} name */
function isFileName(name) {
  return typeof name === "string" && /^\w[\w.-]{0,99}$/.test(name);
}

/** @param {string} folder @returns {Files} */
function folderFiles(folder) {
  return (name) => {
    const path = `${folder}/${name}`;
    try {
      // A link may lead out of the folder.
      if (Deno.lstatSync(path).isFile) return Deno.readFileSync(path);
    } catch (error) {
      broken(path, messageOf(error), "give the folder or the archive of a whole recording");
    }
    return broken(path, "not a plain file", "put the file itself there");
  };
}

/** @param {string} archive @returns {Files} */
function archiveFiles(archive) {
  /** @type {Map<string, Uint8Array>} */
  const files = new Map();
  try {
    // Below one folder, as it is downloaded, or below none.
    for (const { name, bytes } of readTar(Deno.readFileSync(archive))) {
      if (name.startsWith("/") || name.split("/").includes("..")) throw new Error(`${name}: leads out of the archive`);
      const inside = name.replace(/^(\.\/)?([^/]+\/)?/, "");
      if (files.has(inside)) throw new Error(`two files ${inside}`);
      files.set(inside, bytes);
    }
  } catch (error) {
    broken(archive, messageOf(error), "give the archive as it was downloaded, or unpack it and give the folder");
  }
  return (name) => files.get(name) ?? broken(`${archive}/${name}`, "no such file in the archive", ANEW);
}

/** The files of a folder or of a tar archive. @param {string} path @returns {Files} */
export function recordingFiles(path) {
  let stat;
  try {
    stat = Deno.statSync(path);
  } catch (error) {
    return broken(path, messageOf(error), "give the folder or the archive of a recording");
  }
  if (stat.isDirectory) return folderFiles(path);
  if (stat.isFile) return archiveFiles(path);
  return broken(path, "neither a folder nor a plain file", "give the folder or the archive of a recording");
}

// ---------------------------------------------------------------------------------------------------------------
// What each member must be
// ---------------------------------------------------------------------------------------------------------------

/** @param {string} words @param {(value: any) => boolean} holds @returns {Check} */
function must(words, holds) {
  return (value, at) => {
    if (!holds(value)) broken(at, `must be ${words}`);
  };
}

/** @param {number} least @param {number} most */
function whole(least, most) {
  return must(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && value >= least && value <= most,
  );
}

/** @param {any} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const anObject = must("an object", isObject);

/** Exactly these members; those of `optional` may be missing. @param {Record<string, Check>} members @param {string[]} optional @returns {Check} */
function object(members, optional = []) {
  return (value, at) => {
    anObject(value, at);
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(members, name)) broken(`${at}.${name}`, "no such member", "leave it out");
    }
    for (const [name, check] of Object.entries(members)) {
      if (Object.hasOwn(value, name)) check(value[name], `${at}.${name}`);
      else if (!optional.includes(name)) broken(`${at}.${name}`, "missing");
    }
  };
}

/** Members of any name. @param {Check} each @returns {Check} */
function record(each) {
  return (value, at) => {
    anObject(value, at);
    for (const [name, member] of Object.entries(value)) each(member, `${at}.${name}`);
  };
}

/** @param {Check} each @param {number} most @returns {Check} */
function list(each, most = Infinity) {
  return (value, at) => {
    if (!Array.isArray(value) || value.length > most) {
      broken(at, `must be a list${most < Infinity ? ` of at most ${most}` : ""}`);
    }
    value.forEach((/** @type {any} */ member, /** @type {number} */ i) => each(member, `${at}[${i}]`));
  };
}

/** @param {number} version @returns {Check} */
function version(version) {
  return (value, at) => {
    if (value !== version) {
      broken(at, `must be ${version}`, "replay it with the lockstep that wrote it, or record the program again");
    }
  };
}

const anything = () => {};
const text = must("a text", (value) => typeof value === "string");
const count = whole(0, Number.MAX_SAFE_INTEGER);
const word = whole(0, 0xffffffff);
const fileName = must("the name of a file in the recording, without folders", isFileName);

/** @param {Check} check @returns {Check} */
function orNull(check) {
  return (value, at) => value === null || check(value, at);
}

const ADAPTER = object({ vendor: text, architecture: text, device: text, description: text });
const DEVICE = object({ requiredFeatures: list(text), requiredLimits: record(count) });

const MANIFEST = object({
  recording: version(RECORDING_VERSION),
  wire: version(VERSION),
  program: object({ name: text, args: list(text) }, ["args"]),
  adapter: orNull(ADAPTER),
  device: orNull(DEVICE),
  objects: fileName,
  counts: object({ objects: count, submits: count, commands: count, words: count, data: count, read: count }),
  notCarried: record(count),
  streams: list(object({
    blob: fileName,
    window: whole(0, MAX_READ_WINDOW),
    reads: fileName,
    copies: list(object({
      method: must(`one of ${COPIES.join(", ")}`, (value) => COPIES.includes(value)),
      args: list(anything),
    })),
  }, ["reads", "copies"])),
});

const ROWS = list(object({
  id: whole(1, 0xffffffff),
  kind: must("the name of a kind", (value) => value !== "" && KIND_NAMES.includes(value)),
  refs: list(word, MAX_REFS),
  body: (value, at) => {
    text(value, at);
    anObject(parseJson(value, at), at);
  },
}));

/** @param {string} json @param {string} at */
function parseJson(json, at) {
  try {
    return JSON.parse(json);
  } catch (error) {
    return broken(at, `no JSON: ${messageOf(error)}`);
  }
}

/** @param {Files} files @param {string} name @param {Check} check */
function checkedJson(files, name, check) {
  const value = parseJson(new TextDecoder().decode(files(name)), name);
  check(value, name);
  return value;
}

// ---------------------------------------------------------------------------------------------------------------
// What lies behind the members
// ---------------------------------------------------------------------------------------------------------------

/** Ids are used once, and a row stands after those that it names. @param {RecordedRow[]} rows @param {string} name */
function checkOrder(rows, name) {
  const known = new Set([0]);
  rows.forEach(({ id, refs }, i) => {
    const unknown = refs.findIndex((ref) => !known.has(ref));
    if (unknown >= 0) broken(`${name}[${i}].refs[${unknown}]`, `no earlier row has id ${refs[unknown]}`);
    if (known.has(id)) broken(`${name}[${i}].id`, `an earlier row has id ${id} too`);
    known.add(id);
  });
}

/** The sizes and usages of the table's buffers, by id. @param {RecordedRow[]} rows */
function buffersOf(rows) {
  const buffers = rows.filter(({ kind }) => kind === KIND_NAMES[KIND.buffer]);
  return new Map(buffers.map(({ id, body }) => {
    const { size, usage } = JSON.parse(body);
    return [id, { size: Number.isSafeInteger(size) ? size : 0, usage: Number(usage) }];
  }));
}

/**
 * @param {Files} files
 * @param {any} stream the manifest's
 * @param {string} at
 * @param {ReturnType<typeof buffersOf>} buffers
 * @returns {RecordedStream}
 */
function readStream(files, { blob: name, window, reads, copies = [] }, at, buffers) {
  const blob = parseBlob(files(name));
  if (blob.reason !== null) return broken(name, `not a blob of wire.md, section 1: ${blob.reason}`);
  const { words, data } = blob;
  const { starts, refusal } = decode(words, data.length);
  if (refusal !== null) broken(name, `word ${refusal.word} is refused: ${refusal.reason}`);
  const wanted = listReads(words, starts);
  const bad = checkReads(wanted, (id) => buffers.get(id), window);
  if (bad !== null) broken(name, `its read of buffer ${wanted[bad.read].id} is refused: ${bad.reason}`);
  if ((reads === undefined) !== (window === 0)) broken(`${at}.reads`, "must be there exactly where window is not 0");
  const seen = reads === undefined ? new Uint8Array(0) : files(reads);
  if (seen.length !== window) broken(reads, `has ${seen.length} bytes, and ${at}.window says ${window}`);
  return { name, words, data, starts, copies, seen };
}

/**
 * The whole of a recording, checked; throws Broken.
 * @param {Files} files
 * @returns {Recording}
 */
export function readRecording(files) {
  const name = "recording.json";
  const { adapter, device, objects: table, streams } = checkedJson(files, name, MANIFEST);
  const objects = checkedJson(files, table, ROWS);
  checkOrder(objects, table);
  const buffers = buffersOf(objects);
  return {
    adapter,
    device,
    objects,
    streams: streams.map((/** @type {any} */ stream, /** @type {number} */ i) =>
      readStream(files, stream, `${name}.streams[${i}]`, buffers)
    ),
  };
}
