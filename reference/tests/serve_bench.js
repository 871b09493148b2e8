/** How many streams of 60 words a second one serve.js decodes, remaps and checks: `deno task bench`. */
import { blob, u64 } from "./helpers.js";

const STREAMS = 400;
const FRAMES = 500;
const ROUNDS = 5;

/** 60 words with most kinds of commands. */
const WORDS = [
  [30, 1, ...u64(0), 0, 16],
  [31, 1, ...u64(0), 2, ...u64(0), ...u64(16)],
  [22, 1, 9, 2, 0, 8, 1, 256, 23, 4, 1, 1, 21],
  [20, 1, 5, 0, 2, 1, 0, 0x3f800000, 0, 0x3f800000, 0],
  [1, 10, 2, 0, 8, 0, 3, 3, 1, 0, 0, 21],
  [34, 1, ...u64(0), 16, 0],
  [40, 40, 40],
].flat();
const IDS = [1, 2, 5, 8, 9, 10].flatMap((id) => [id, id + 100]);
const BUFFERS = [[101, 1, ...u64(64)], [102, 8, ...u64(64)]];

/** @param {ArrayLike<number>} numbers */
const u32s = (numbers) => new Uint8Array(Uint32Array.from(numbers).buffer);

/** @param {number} index streams differ in their data's length, so that they start at every alignment */
function item(index) {
  const stream = blob(WORDS, new Uint8Array(16 + index % 4));
  const rest = [IDS.length / 2, ...IDS, BUFFERS.length, ...BUFFERS.flat(), 0, 1024];
  return [...u32s([stream.length]), ...stream, ...u32s(rest)];
}

/** @param {number} type @param {number[]} payload */
const frame = (type, payload) => Uint8Array.from([...u32s([4 + payload.length, type]), ...payload]);

const child = new Deno.Command(Deno.execPath(), {
  args: ["run", "--quiet", new URL("../serve.js", import.meta.url).href],
  stdin: "piped",
  stdout: "piped",
}).spawn();
const writer = child.stdin.getWriter();
const reader = child.stdout.getReader({ mode: "byob" });

/** @param {number} size */
async function read(size) {
  const { value } = await reader.read(new Uint8Array(size), { min: size });
  if (value?.length !== size) throw new Error("serve.js ended early");
  return value;
}

/** @param {Uint8Array<ArrayBuffer>} request */
async function ask(request) {
  const written = writer.write(request);
  const length = new DataView((await read(4)).buffer).getUint32(0, true);
  await Promise.all([written, read(length)]);
}

await ask(frame(1, [...u32s([1])]));
const request = frame(2, [...u32s([STREAMS]), ...Array.from({ length: STREAMS }, (_, i) => item(i)).flat()]);
for (let round = 0; round < ROUNDS; round++) {
  const start = performance.now();
  for (let i = 0; i < FRAMES; i++) await ask(request);
  const seconds = (performance.now() - start) / 1000;
  console.log(`${Math.round(FRAMES * STREAMS / seconds)} streams of ${WORDS.length} words a second`);
}
await writer.close();
await child.status;
