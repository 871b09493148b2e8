// What serve.js answers, in this process: PROTOCOL.md's answers as u32s. `host` and `REASONS` are the oracle's.
import { checkRanges, checkReads, decode, parseBlob, remapDescriptor, remapReads, splitDescriptor } from "replay.js";

const TWO_32 = 2 ** 32;
const hosts = new Map(host.ids);
const buffers = new Map(host.buffers.map(({ id, usage, size }) => [id, { usage, size }]));
const hostOf = (id) => hosts.get(id);
const sizeOf = (id) => buffers.get(id)?.size;
const bufferOf = (id) => buffers.get(id);

// An answer is put together of lists at its end: to copy it word by word here would take as long as to read the stream.
function stream(bytes) {
  const { reason, words, data } = parseBlob(bytes);
  if (reason !== null) return [[1, REASONS[reason]]];
  const out = [[0]];
  const decoded = decode(words, data.length);
  if (decoded.refusal !== null) refuse(out, decoded.refusal.word, decoded.refusal.op, decoded.refusal.reason);
  else list(out, decoded.starts);
  const { starts, refusal, reads } = remapReads(words, data.length, hostOf);
  if (refusal !== null) return refuse(out, refusal.word, refusal.op, refusal.reason);
  list(out, words);
  out.push([reads.length]);
  for (const { id, offset, size, windowOffset } of reads) {
    out.push([id, offset % TWO_32, Math.floor(offset / TWO_32), size, windowOffset]);
  }
  const ranges = checkRanges(words, starts, sizeOf, host.bound);
  if (ranges === null) out.push([0]);
  else refuse(out, ranges.command, ranges.op, ranges.reason);
  const read = checkReads(reads, bufferOf, host.window);
  out.push(read === null ? [0] : [1, read.read, REASONS[read.reason]]);
  return out;
}

function refuse(out, a, b, reason) {
  out.push([1, a, b, REASONS[reason]]);
  return out;
}

function list(out, words) {
  out.push([0, words.length], words);
}

// References, a body's length and its place, then whether Remap takes the bytes; those are rewritten in place.
function descriptor(bytes) {
  const { reason, refs, body } = splitDescriptor(bytes);
  if (reason !== null) return [[1, REASONS[reason]]];
  const out = [];
  list(out, refs);
  out.push([body.length]);
  const refusal = remapDescriptor(bytes, hostOf);
  out.push(refusal === null ? [0] : [1, REASONS[refusal.reason], refusal.index]);
  return out;
}

globalThis.answer = (kind, bytes) => {
  const lists = kind === "stream" ? stream(bytes) : descriptor(bytes);
  const answer = new Uint32Array(lists.reduce((length, list) => length + list.length, 0));
  let at = 0;
  for (const list of lists) {
    answer.set(list, at);
    at += list.length;
  }
  return answer;
};
