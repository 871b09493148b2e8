/** PROTOCOL.md: serve.js as a process of its own. */
import assert from "node:assert/strict";
import { blob, u64, utf8 } from "./helpers.js";

const SERVE = new URL("../serve.js", import.meta.url).href;
const HELLO_JSON = '{"name":"replay-js","answers":["streams","descriptors","calls"]}';

/** The bytes of u32s, and of byte strings as they are. @param {(number | Uint8Array)[]} parts */
function bytesOf(...parts) {
  const bytes = parts.flatMap((part) =>
    typeof part === "number" ? Array.from(new Uint8Array(Uint32Array.of(part).buffer)) : Array.from(part)
  );
  return Uint8Array.from(bytes);
}

/** `bytes` of PROTOCOL.md. @param {Uint8Array} content */
const block = (content) => bytesOf(content.length, content);

/** @param {number} type @param {(number | Uint8Array)[]} payload */
const frame = (type, ...payload) => block(bytesOf(type, ...payload));

const HELLO = frame(1, 1);

/** @param {Uint8Array[]} parts */
function concat(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Runs serve.js on the whole input.
 * @param {Uint8Array[]} input
 */
async function serve(...input) {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", SERVE],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const child = command.spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  // A process that ends at a malformed frame does not read the rest.
  await writer.write(concat(input)).then(() => writer.close()).catch(() => {});
  const { code, stdout, stderr } = await output;
  return { code, stdout, stderr: new TextDecoder().decode(stderr) };
}

/** The type and the payload of each frame. @param {Uint8Array} bytes */
function framesOf(bytes) {
  const frames = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length;) {
    const length = view.getUint32(at, true);
    frames.push({ type: view.getUint32(at + 4, true), payload: bytes.slice(at + 8, at + 4 + length) });
    at += 4 + length;
  }
  return frames;
}

/** The payload of the answer to one frame after hello. @param {Uint8Array} request */
async function answerTo(request) {
  const { code, stdout, stderr } = await serve(HELLO, request);
  assert.deepEqual([code, stderr], [0, ""]);
  const frames = framesOf(stdout);
  assert.equal(frames.length, 2);
  return frames[1];
}

/**
 * @param {Uint8Array} stream a blob
 * @param {[number, number][]} ids
 * @param {[number, number, number | bigint][]} buffers id, usage, size
 * @param {number} bound
 * @param {number} window
 */
function streamItem(stream, ids = [], buffers = [], bound = 0, window = 0) {
  const rows = buffers.flatMap(([id, usage, size]) => [id, usage, ...u64(size)]);
  return bytesOf(block(stream), ids.length, ...ids.flat(), buffers.length, ...rows, bound, window);
}

/** A stream item, and the words of its answer. @type {[string, Uint8Array, number[]][]} */
const STREAMS = [
  ["an empty stream", streamItem(blob([])), [0, 0, 0, 0, 0, 0, 0, 0]],
  ["bad-length", streamItem(new Uint8Array(3)), [1, 1]],
  ["bad-magic", streamItem(new Uint8Array(16)), [1, 2]],
  ["bad-version", streamItem(blob([]).fill(5, 4, 5)), [1, 3]],
  ["a refusal of Decode, then Remap's", streamItem(blob([40, 99])), [0, 1, 1, 0, 4, 1, 1, 0, 4]],
  ["unknown-id", streamItem(blob([31, 1, 0, 0, 2, 0, 0, 0, 0]), [[1, 5]]), [0, 0, 1, 0, 1, 4, 31, 19]],
  ["a host of 0", streamItem(blob([31, 1, 0, 0, 1, 0, 0, 0, 0]), [[1, 0]]), [0, 0, 1, 0, 1, 1, 31, 19]],
  ["open-pass", streamItem(blob([40, 22])), [0, 1, 1, 22, 20, 1, 1, 22, 20]],
  [
    "reads, ranges and the read check, all accepted",
    streamItem(
      blob([30, 7, 8, 0, 1, 4, 34, 7, 8, 3, 4, 60], [1, 2, 3, 4, 5]),
      [[7, 9]],
      [[9, 1, 2n ** 64n - 1n]],
      0,
      64,
    ),
    [0, 0, 2, 0, 6, 0, 12, 30, 9, 8, 0, 1, 4, 34, 9, 8, 3, 4, 60, 1, 9, 8, 3, 4, 60, 0, 0],
  ],
  [
    "a refusal of the ranges and of the reads",
    streamItem(blob([34, 7, 8, 0, 4, 60, 31, 7, 0, 0, 7, 0, 0, 17, 0]), [[7, 9]], [[9, 9, 16]], 0, 63),
    [0, 0, 2, 0, 6, 0, 15, 34, 9, 8, 0, 4, 60, 31, 9, 0, 0, 9, 0, 0, 17, 0, 1, 9, 8, 0, 4, 60, 1, 1, 31, 22, 1, 0, 25],
  ],
  [
    "too-many-workgroups under a bound",
    streamItem(blob([22, 23, 1, 9, 1, 21]), [], [], 8),
    [0, 0, 3, 0, 1, 5, 0, 6, 22, 23, 1, 9, 1, 21, 0, 1, 1, 23, 23, 0],
  ],
  [
    "not-a-buffer and no-map-read",
    streamItem(blob([30, 1, 0, 0, 0, 0, 34, 2, 0, 0, 4, 0]), [[1, 1], [2, 2]], [[2, 8, 0]]),
    [0, 0, 2, 0, 6, 0, 12, 30, 1, 0, 0, 0, 0, 34, 2, 0, 0, 4, 0, 1, 2, 0, 0, 4, 0, 1, 0, 30, 21, 1, 0, 24],
  ],
];

Deno.test("hello, then the end of the input", async () => {
  const { code, stdout, stderr } = await serve(HELLO);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(framesOf(stdout), [{ type: 1, payload: bytesOf(1, utf8(HELLO_JSON)) }]);
  assert.deepEqual(await serve(), { code: 0, stdout: new Uint8Array(0), stderr: "" });
});

Deno.test("a version that it does not speak: it answers with its own and ends", async () => {
  const { code, stdout, stderr } = await serve(frame(1, 2), frame(2, 0));
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(framesOf(stdout), [{ type: 1, payload: bytesOf(1, utf8(HELLO_JSON)) }]);
});

Deno.test("streams", async () => {
  const answer = await answerTo(frame(2, STREAMS.length, ...STREAMS.map(([, item]) => item)));
  assert.equal(answer.type, 2);
  const expected = STREAMS.map(([, , answer]) => block(bytesOf(...answer)));
  assert.deepEqual(answer.payload, bytesOf(STREAMS.length, ...expected));
});

Deno.test("each stream alone", async () => {
  const { stdout } = await serve(HELLO, ...STREAMS.map(([, item]) => frame(2, 1, item)));
  const frames = framesOf(stdout).slice(1);
  assert.equal(frames.length, STREAMS.length);
  STREAMS.forEach(([name, , answer], i) => {
    assert.deepEqual(frames[i], { type: 2, payload: bytesOf(1, block(bytesOf(...answer))) }, name);
  });
});

Deno.test("a frame of no items", async () => {
  assert.deepEqual(await answerTo(frame(2, 0)), { type: 2, payload: bytesOf(0) });
  assert.deepEqual(await answerTo(frame(3, 0)), { type: 3, payload: bytesOf(0) });
});

Deno.test("a big frame, with a long id map", async () => {
  const count = 20000;
  /** @type {[number, number][]} */
  const ids = Array.from({ length: count }, (_, i) => [i * 65536 + 1, i + 1]);
  const stream = ids.flatMap(([id]) => [30, id, 0, 0, 0, 0]);
  const expected = ids.flatMap(([, host]) => [30, host, 0, 0, 0, 0]);
  const item = streamItem(blob(stream), ids);
  const { payload } = await answerTo(frame(2, 2, item, streamItem(blob([31, 1, 0, 0, 1, 0, 0, 0, 0]))));
  const words = new Uint32Array(payload.buffer);
  const [length, blobPart, decoded, starts] = words.subarray(1);
  assert.deepEqual([length, blobPart, decoded, starts], [4 * (11 + 7 * count), 0, 0, count]);
  const remapped = 5 + count;
  assert.deepEqual(Array.from(words.subarray(remapped, remapped + 2)), [0, 6 * count]);
  assert.deepEqual(Array.from(words.subarray(remapped + 2, remapped + 2 + 6 * count)), expected);
  // The next item's map is empty again.
  assert.deepEqual(Array.from(words.subarray(2 + length / 4)), [32, 0, 0, 1, 0, 1, 1, 31, 19]);
});

Deno.test("descriptors", async () => {
  const body = Uint8Array.of(1, 2, 255);
  const descriptor = (/** @type {number[]} */ ...refs) => bytesOf(refs.length, ...refs, body);
  const map = [2, 5, 50, 6, 0];
  const items = [descriptor(5, 0, 5), descriptor(5, 6), descriptor(), new Uint8Array(2), bytesOf(4097), bytesOf(1)];
  const answer = await answerTo(frame(3, items.length, ...items.flatMap((item) => [block(item), ...map])));
  const expected = [
    bytesOf(0, 3, 5, 0, 5, block(body), 0, block(descriptor(50, 0, 50))),
    bytesOf(0, 2, 5, 6, block(body), 1, 19, 1),
    bytesOf(0, 0, block(body), 0, block(descriptor())),
    bytesOf(1, 6),
    bytesOf(1, 7),
    bytesOf(1, 6),
  ];
  assert.deepEqual(answer, { type: 3, payload: bytesOf(items.length, ...expected.map(block)) });
});

/** A calls item. @param {[number, number, number[], string][]} rows @param {Uint8Array} stream */
function callsItem(rows, stream) {
  const list = rows.map(([id, kind, refs, body]) =>
    bytesOf(id, kind, block(bytesOf(refs.length, ...refs, utf8(body))))
  );
  return bytesOf(rows.length, ...list, block(stream));
}

/** A table and a stream, and the lines of their trace. @type {[Uint8Array, string[]][]} */
const CALLS = [
  [callsItem([], blob([])), ['["stream","done"]']],
  [callsItem([], new Uint8Array(3)), ['["stream","bad-length"]']],
  [callsItem([], blob([40, 21])), ['["stream","wrong-context",1,21]']],
  [
    callsItem(
      [[7, 1, [], '{"usage":12,"size":16}']],
      blob([30, 7, 8, 0, 0, 4, 31, 7, 0, 0, 9, 0, 0, 4, 0, 40], [1, 2, 3, 4]),
    ),
    [
      '["device","createBuffer",{"size":16,"usage":12}]',
      '["object",7,"made"]',
      '["queue","writeBuffer",{"@":7},8,{"data":[0,4]}]',
      '["stream","wrong-kind",1,10]',
    ],
  ],
  [
    callsItem(
      [
        [2, 2, [], '{"size":[1],"format":"r8unorm","usage":16}'],
        [3, 3, [2], '{"b":-0,"a":0.5,"\u00e9":"\\"\\n"}'],
        [2, 4, [1], "{}"],
        [5, 11, [9], '{"colorFormats":[],"words":[3,1,0,0,0,1,1]}'],
        [5, 11, [9], '{"colorFormats":[],"words":[1,2]}'],
        [0, 4, [], "{}"],
        [6, 3, [2], "{}"],
      ],
      blob([20, 1, 3, 0, 2, 1, 0, 0x80000000, 0x3f000000, 0x3f800000, 0, 21, 40]),
    ),
    [
      '["device","createTexture",{"format":"r8unorm","size":[1],"usage":16}]',
      '["object",2,"made"]',
      '[2,"createView",{"a":{"f64":"3fe0000000000000"},"b":{"f64":"8000000000000000"},"é":"\\"\\n"}]',
      '["object",3,"made"]',
      '["object",2,"bad-descriptor"]',
      '["device","createRenderBundleEncoder",{"colorFormats":[]}]',
      '["bundleEncoder1","draw",1,0,0,0]',
      '["object",5,"wrong-kind",1,6]',
      '["object",5,"unknown-id",1,1]',
      '["object",0,"zero-id"]',
      '["object",6,"wrong-kind",0]',
      '["device","createCommandEncoder"]',
      '["encoder1","beginRenderPass",{"colorAttachments":[{"clearValue":{"a":1,"b":{"f64":"3fe0000000000000"},' +
      '"g":{"f64":"8000000000000000"},"r":0},"loadOp":"clear","storeOp":"store","view":{"@":3}}]}]',
      '["renderPass1","end"]',
      '["encoder1","finish"]',
      '["queue","submit",[{"@":"commands1"}]]',
      '["stream","done"]',
    ],
  ],
];

Deno.test("calls", async () => {
  const { type, payload } = await answerTo(frame(4, CALLS.length, ...CALLS.map(([item]) => item)));
  assert.equal(type, 4);
  const expected = CALLS.map(([, lines]) => block(utf8(lines.map((line) => `${line}\n`).join(""))));
  assert.deepEqual(payload, bytesOf(CALLS.length, ...expected));
});

Deno.test("a malformed request: one line on standard error and status 2", async () => {
  const item = streamItem(blob([40]));
  /** @type {[string, Uint8Array[]][]} */
  const malformed = [
    ["the first frame is not hello", [frame(2, 0)]],
    ["a second hello", [HELLO, HELLO]],
    ["unknown type 9", [HELLO, frame(9)]],
    ["length 3", [HELLO, Uint8Array.of(3, 0, 0, 0, 1, 1, 1)]],
    ["length 268435457", [HELLO, bytesOf(2 ** 28 + 1, 2)]],
    ["ends inside a frame", [HELLO, frame(2, 0).subarray(0, 10)]],
    ["ends inside a frame", [HELLO, Uint8Array.of(8)]],
    ["ends inside a number", [HELLO, frame(2, 2, item)]],
    ["ends inside a byte string", [HELLO, frame(2, 1, 100)]],
    ["ends inside a list", [HELLO, frame(2, 1, block(blob([])), 0xffffffff)]],
    ["ends inside a number", [HELLO, frame(4, 1, 0xffffffff)]],
    ["ends inside a byte string", [HELLO, frame(4, 1, 1, 7, 1, 100)]],
    ["left over", [HELLO, frame(2, 1, item, 0)]],
    ["left over", [frame(1, 1, 0)]],
    ["listed twice", [HELLO, frame(2, 1, streamItem(blob([]), [[1, 2], [1, 3]]))]],
    ["listed twice", [HELLO, frame(2, 1, streamItem(blob([]), [], [[1, 2, 0], [1, 3, 0]]))]],
  ];
  for (const [message, input] of malformed) {
    const { code, stderr } = await serve(...input);
    assert.equal(code, 2, message);
    assert.match(stderr, /^serve\.js: malformed request: [^\n]*\n$/);
    assert.ok(stderr.includes(message), `${stderr} does not say: ${message}`);
  }
});
