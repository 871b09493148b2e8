/** What the tests share: words written out part by part. */

/** @typedef {number | number[] | (number | number[])[] | (number | number[])[][]} Part */

/**
 * The two words of a u64, low then high.
 * @param {number | bigint} value
 */
export function u64(value) {
  const wide = BigInt(value);
  return [Number(wide & 0xffffffffn), Number(wide >> 32n)];
}

/**
 * The word of a float.
 * @param {number} value
 */
export function f32(value) {
  return new Uint32Array(new Float32Array([value]).buffer)[0];
}

/**
 * Words of numbers and nested lists of them.
 * @param {Part[]} parts
 */
export function words(...parts) {
  return Uint32Array.from(/** @type {number[]} */ (parts.flat(3)));
}

/**
 * A blob of section 1.
 * @param {ArrayLike<number>} wordList
 * @param {ArrayLike<number>} data
 */
export function blob(wordList, data = []) {
  const bytes = new Uint8Array(16 + 4 * wordList.length + data.length);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("WIRE"));
  view.setUint32(4, 4, true);
  view.setUint32(8, wordList.length, true);
  view.setUint32(12, data.length, true);
  for (let i = 0; i < wordList.length; i++) view.setUint32(16 + 4 * i, wordList[i], true);
  bytes.set(data, 16 + 4 * wordList.length);
  return bytes;
}

/** @param {string} text */
export function utf8(text) {
  return new TextEncoder().encode(text);
}

/** The shortest BeginRenderPass: no colours, no depth. */
export const BEGIN_RENDER = [20, 0, 0];
export const BEGIN_COMPUTE = [22];
export const END = [21];
export const SUBMIT = [40];

/** A colour attachment that clears view 5. */
export const COLOR = [5, 0, 2, 1, f32(0), f32(0), f32(0), f32(1)];
/** A depth attachment of view 6. */
export const DEPTH = [6, 2, 1, f32(1), 0, 0, 0, 0, 1];

export const MAX_SAFE = 2 ** 53 - 1;
