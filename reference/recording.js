/**
 * Reads a recording (RECORDING.md), a folder or a tar archive of one, and checks all that can be known without a device:
 * types, ranges, members that nobody knows, versions, names, lengths, the streams' words and reads. Whatever is wrong is one
 * Broken, whose message is a line: the file, the member, what is wrong and how to mend it.
 */

import { checkReads, decode, KIND, listReads, MAX_READ_WINDOW, MAX_REFS, parseBlob, VERSION } from "./replay.js";
import { KIND_NAMES, RECORDING_VERSION } from "./record.js";
import { readTar } from "./tar.js";

/**
 * A recording's files by name, each at most so long; throws Broken.
 * @typedef {(name: string, most?: number) => Uint8Array} Files
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
/** The longest archive, and the most that the files of a folder hold together: all of it is held in memory. */
const MAX_RECORDING = 1 << 30;
/** The longest manifest and the longest table. */
const MAX_JSON = 128 << 20;

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

/** @param {string} path @param {number} length @param {number} most */
function mustFit(path, length, most) {
  if (length > most) broken(path, `more than ${most} bytes, the most that fits`);
}

/** @param {string} folder @returns {Files} */
function folderFiles(folder) {
  let left = MAX_RECORDING;
  /** @type {<T>(path: string, work: () => T) => T} */
  const tried = (path, work) => {
    try {
      return work();
    } catch (error) {
      return broken(path, messageOf(error), "give the folder or the archive of a whole recording");
    }
  };
  return (name, most = MAX_RECORDING) => {
    const path = `${folder}/${name}`;
    // A link may lead out of the folder.
    const { isFile, size } = tried(path, () => Deno.lstatSync(path));
    if (!isFile) return broken(path, "not a plain file", "put the file itself there");
    mustFit(path, size, most);
    if (size > left) {
      broken(path, `with it the recording's files hold more than ${MAX_RECORDING} bytes, the most that fits`);
    }
    left -= size;
    return tried(path, () => Deno.readFileSync(path));
  };
}

/** @param {string} archive @returns {Files} */
function archiveFiles(archive) {
  /** @type {Map<string, Uint8Array>} */
  const files = new Map();
  mustFit(archive, Deno.statSync(archive).size, MAX_RECORDING);
  try {
    // Below one folder, as it is downloaded, or below none.
    let folder;
    for (const { name, bytes } of readTar(Deno.readFileSync(archive))) {
      if (name.startsWith("/") || name.split("/").includes("..")) throw new Error(`${name}: leads out of the archive`);
      const path = name.replace(/^\.\//, "");
      const inside = path.slice(path.lastIndexOf("/") + 1);
      folder ??= path.slice(0, -inside.length);
      if (folder + inside !== path) throw new Error(`${name}: in another folder than the files before it`);
      if (files.has(inside)) throw new Error(`two files ${inside}`);
      files.set(inside, bytes);
    }
  } catch (error) {
    broken(archive, messageOf(error), "give the archive as it was downloaded, or unpack it and give the folder");
  }
  return (name, most = MAX_RECORDING) => {
    const bytes = files.get(name) ?? broken(`${archive}/${name}`, "no such file in the archive", ANEW);
    mustFit(`${archive}/${name}`, bytes.length, most);
    return bytes;
  };
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

const ID = object({ "@": word });
const BUFFER_SIDE = object(
  { buffer: ID, offset: count, bytesPerRow: word, rowsPerImage: word },
  ["bytesPerRow", "rowsPerImage"],
);
const TEXTURE_SIDE = object({
  texture: ID,
  mipLevel: word,
  origin: object({ x: word, y: word, z: word }),
  aspect: must("a GPUTextureAspect", (value) => ["all", "stencil-only", "depth-only"].includes(value)),
});
const EXTENT = object({ width: word, height: word, depthOrArrayLayers: word });

/** What each method takes. @type {Record<string, Check[]>} */
const COPIES = {
  clearBuffer: [ID, count, count],
  copyBufferToTexture: [BUFFER_SIDE, TEXTURE_SIDE, EXTENT],
  copyTextureToBuffer: [TEXTURE_SIDE, BUFFER_SIDE, EXTENT],
};

const COPY = object({
  method: must(`one of ${Object.keys(COPIES).join(", ")}`, (value) => Object.hasOwn(COPIES, value)),
  args: must("a list", Array.isArray),
});

/** @type {Check} */
function copy(value, at) {
  COPY(value, at);
  const due = COPIES[value.method];
  if (value.args.length !== due.length) broken(`${at}.args`, `must be a list of ${due.length}`);
  due.forEach((check, i) => check(value.args[i], `${at}.args[${i}]`));
}

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
    copies: list(copy),
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
  const value = parseJson(new TextDecoder().decode(files(name, MAX_JSON)), name);
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
 * What copies name are objects of the table.
 * @param {any[]} copies
 * @param {Map<number, string>} kinds
 * @param {string} at
 */
function checkCopies(copies, kinds, at) {
  copies.forEach(({ method, args }, i) => {
    const sides = method === "clearBuffer" ? [{ buffer: args[0] }] : args;
    for (const kind of ["buffer", "texture"]) {
      const ids = sides.map((/** @type {any} */ side) => side[kind]?.["@"]);
      const missing = ids.find((/** @type {number | undefined} */ id) => id !== undefined && kinds.get(id) !== kind);
      if (missing !== undefined) broken(`${at}[${i}]`, `no ${kind} ${missing} in the table`);
    }
  });
}

/**
 * @param {Files} files
 * @param {any} stream the manifest's
 * @param {string} at
 * @param {Map<number, string>} kinds the table's
 * @param {ReturnType<typeof buffersOf>} buffers
 * @returns {RecordedStream}
 */
function readStream(files, { blob: name, window, reads, copies = [] }, at, kinds, buffers) {
  checkCopies(copies, kinds, `${at}.copies`);
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
  if (device === null && streams.length > 0) broken(`${name}.device`, "null, and there are streams");
  const objects = checkedJson(files, table, ROWS);
  checkOrder(objects, table);
  const buffers = buffersOf(objects);
  const kinds = new Map(objects.map((/** @type {RecordedRow} */ { id, kind }) => [id, kind]));
  return {
    adapter,
    device,
    objects,
    streams: streams.map((/** @type {any} */ stream, /** @type {number} */ i) =>
      readStream(files, stream, `${name}.streams[${i}]`, kinds, buffers)
    ),
  };
}
