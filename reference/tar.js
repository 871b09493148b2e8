/** Tar archives of plain files, as POSIX's ustar has them: what a page downloads and `tar` unpacks. */

const BLOCK = 512;
const NAME = [0, 100];
const MODE = [100, 8];
const SIZE = [124, 12];
const TIME = [136, 12];
const CHECKSUM = [148, 8];
const TYPE = 156;
const MAGIC = [257, 8];
const PREFIX = [345, 155];

/**
 * A file's name, folders before it with slashes, and its contents.
 * @typedef {{ name: string, bytes: Uint8Array }} File
 */

/** @param {number} length */
function padded(length) {
  return Math.ceil(length / BLOCK) * BLOCK;
}

/** The sum of a header's bytes, those of the checksum itself as spaces. @param {Uint8Array} header */
function checksum(header) {
  const [at, length] = CHECKSUM;
  return header.reduce((sum, byte, i) => sum + (i >= at && i < at + length ? 0x20 : byte), 0);
}

/** @param {File} file */
function header({ name, bytes }) {
  const block = new Uint8Array(BLOCK);
  const put = (/** @type {number[]} */ [at, length], /** @type {string} */ text) => {
    const coded = new TextEncoder().encode(text);
    if (coded.length > length) throw new RangeError(`${text}: too long for a tar archive`);
    block.set(coded, at);
  };
  const octal = (/** @type {number[]} */ [, length], /** @type {number} */ value) =>
    value.toString(8).padStart(length - 1, "0");
  put(NAME, name);
  put(MODE, octal(MODE, 0o644));
  put(SIZE, octal(SIZE, bytes.length));
  put(TIME, octal(TIME, 0));
  put([TYPE, 1], "0");
  put(MAGIC, "ustar\x0000");
  put(CHECKSUM, `${checksum(block).toString(8).padStart(6, "0")}\0 `);
  return block;
}

/**
 * An archive of the files. Names have at most 100 bytes, a RangeError is thrown for a longer one.
 * @param {File[]} files
 */
export function writeTar(files) {
  const length = files.reduce((sum, { bytes }) => sum + BLOCK + padded(bytes.length), 2 * BLOCK);
  const archive = new Uint8Array(length);
  let at = 0;
  for (const file of files) {
    archive.set(header(file), at);
    archive.set(file.bytes, at + BLOCK);
    at += BLOCK + padded(file.bytes.length);
  }
  return archive;
}

/** @param {Uint8Array} block @param {number[]} field */
function text(block, [at, length]) {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}

/** @param {Uint8Array} block @param {number[]} field */
function number(block, field) {
  const digits = text(block, field).trim();
  return /^[0-7]+$/.test(digits) ? parseInt(digits, 8) : NaN;
}

/**
 * The plain files of an archive, as views of it. Folders and pax's attributes are passed over; anything else that is not
 * a plain file is refused, and so are an archive that ends early and one whose checksums are wrong: an Error says which.
 * @param {Uint8Array} archive
 * @returns {File[]}
 */
export function readTar(archive) {
  const files = [];
  for (let at = 0; at + BLOCK <= archive.length;) {
    const block = archive.subarray(at, at + BLOCK);
    if (block.every((byte) => byte === 0)) return files;
    const [size, type] = [number(block, SIZE), String.fromCharCode(block[TYPE])];
    if (checksum(block) !== number(block, CHECKSUM) || Number.isNaN(size)) throw new Error(`no header at byte ${at}`);
    const name = [text(block, PREFIX), text(block, NAME)].filter((part) => part !== "").join("/");
    const bytes = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (bytes.length !== size) break;
    if (type === "0" || type === "\0") files.push({ name, bytes });
    else if (!"5xg".includes(type)) throw new Error(`${name}: not a plain file`);
    at += BLOCK + padded(size);
  }
  throw new Error("the archive ends early");
}
