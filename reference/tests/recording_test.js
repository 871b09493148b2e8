/** What is read of a recording and what is refused, without a device; then what the command says, as a line and a status. */
import assert from "node:assert/strict";
import { Broken, readRecording, recordingFiles } from "../recording.js";
import { readTar, writeTar } from "../tar.js";
import { blob, u64 } from "./helpers.js";

const REFERENCE = new URL("..", import.meta.url).pathname;
const MAP_READ_COPY_DST = 9;
const WRITE_BUFFER = 30;
const READ_BUFFER = 34;
const ANEW = "record the program again, or mend it by RECORDING.md";

/** @typedef {Map<string, Uint8Array>} Folder */

/** @param {unknown} value */
function json(value) {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** @param {Folder} folder @param {string} name */
function parsed(folder, name) {
  return JSON.parse(new TextDecoder().decode(folder.get(name)));
}

/** A recording of one buffer of 16 bytes: 8 are written, all are read. @returns {Folder} */
function whole() {
  const words = [[WRITE_BUFFER, 5, u64(4), 0, 8], [READ_BUFFER, 5, u64(0), 16, 0]].flat(2);
  const manifest = {
    recording: 1,
    wire: 4,
    program: { name: "by hand", args: [] },
    adapter: { vendor: "", architecture: "", device: "", description: "none" },
    device: { requiredFeatures: [], requiredLimits: {} },
    objects: "objects.json",
    counts: { objects: 1, submits: 0, commands: 2, words: words.length, data: 8, read: 16 },
    notCarried: {},
    streams: [{ blob: "00000.wire", window: 16, reads: "00000.read" }],
  };
  return new Map([
    ["recording.json", json(manifest)],
    ["objects.json", json([{ id: 5, kind: "buffer", refs: [], body: `{"size":16,"usage":${MAP_READ_COPY_DST}}` }])],
    ["00000.wire", blob(words, [1, 2, 3, 4, 5, 6, 7, 8])],
    ["00000.read", Uint8Array.of(0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0)],
  ]);
}

/** @param {Folder} folder */
function files(folder) {
  return (/** @type {string} */ name) => folder.get(name) ?? assert.fail(`no file ${name}`);
}

/** @param {Folder} folder */
function archive(folder, below = "recording/") {
  return writeTar([...folder].map(([name, bytes]) => ({ name: `${below}${name}`, bytes })));
}

/** The line with which a recording is refused. @param {() => unknown} work */
function refusal(work) {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Broken, `${error}`);
    assert.ok(!error.message.includes("\n"), error.message);
    return error.message;
  }
  return assert.fail("nothing is refused");
}

/** Writes a folder, gives its path to the work and removes it. @param {Folder} folder @param {(path: string) => unknown} work */
async function inFolder(folder, work) {
  const path = Deno.makeTempDirSync();
  try {
    for (const [name, bytes] of folder) Deno.writeFileSync(`${path}/${name}`, bytes);
    await work(path);
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
}

/**
 * A whole recording whose JSON is changed is refused with the line.
 * @param {string} file
 * @param {(value: any) => unknown} change in place, or the new value
 * @param {string} line
 */
function changed(file, change, line) {
  Deno.test(`refused: ${line}`, () => {
    const folder = whole();
    const value = parsed(folder, file);
    folder.set(file, json(change(value) ?? value));
    assert.equal(refusal(() => readRecording(files(folder))), line);
  });
}

Deno.test("a whole recording is read from a folder and from an archive, with and without a folder in it", async () => {
  const folder = whole();
  const expected = readRecording(files(folder));
  assert.equal(expected.objects[0].id, 5);
  assert.deepEqual(expected.streams.map(({ name, starts, seen }) => [name, starts, seen.length]), [[
    "00000.wire",
    [0, 6],
    16,
  ]]);
  await inFolder(folder, (path) => {
    assert.deepEqual(readRecording(recordingFiles(path)), expected);
    for (const below of ["recording/", "", "./", "./recording/"]) {
      Deno.writeFileSync(`${path}/archive.tar`, archive(folder, below));
      assert.deepEqual(readRecording(recordingFiles(`${path}/archive.tar`)), expected);
    }
  });
});

Deno.test("a program that gets no device and one with no arguments", () => {
  const folder = whole();
  const manifest = parsed(folder, "recording.json");
  manifest.adapter = null;
  manifest.device = null;
  delete manifest.program.args;
  manifest.streams = [];
  folder.set("recording.json", json(manifest));
  const { adapter, device, streams } = readRecording(files(folder));
  assert.deepEqual([adapter, device, streams], [null, null, []]);
});

/** A copy of a texture that the whole recording has not. */
const COPY = {
  method: "copyBufferToTexture",
  args: [
    { buffer: { "@": 5 }, offset: 0, bytesPerRow: 256 },
    { texture: { "@": 77 }, mipLevel: 0, origin: { x: 0, y: 0, z: 0 }, aspect: "all" },
    { width: 1, height: 1, depthOrArrayLayers: 1 },
  ],
};

Deno.test("copies are read with what they name", () => {
  const folder = whole();
  const copies = [{ method: "clearBuffer", args: [{ "@": 5 }, 0, 4] }, COPY];
  const manifest = parsed(folder, "recording.json");
  manifest.streams[0].copies = copies;
  folder.set("recording.json", json(manifest));
  const texture = { id: 77, kind: "texture", refs: [], body: "{}" };
  folder.set("objects.json", json([...parsed(folder, "objects.json"), texture]));
  assert.deepEqual(readRecording(files(folder)).streams[0].copies, copies);
});

/** The manifest with one copy, of which something is changed. @param {(copy: any) => unknown} change */
function copied(change) {
  return (/** @type {any} */ manifest) => {
    const copy = structuredClone(COPY);
    change(copy);
    manifest.streams[0].copies = [copy];
  };
}

const OTHER = "replay it with the lockstep that wrote it, or record the program again";
const NAME = "must be the name of a file in the recording, without folders";
const COUNT = "must be a whole number from 0 to 9007199254740991";

/** @type {[(manifest: any) => unknown, string][]} */
const MANIFESTS = [
  [(manifest) => void (manifest.device = null), `recording.json.device: null, and there are streams; ${ANEW}`],
  [copied(() => {}), `recording.json.streams[0].copies[0]: no texture 77 in the table; ${ANEW}`],
  [
    copied((copy) => copy.args[0].buffer["@"] = 78),
    `recording.json.streams[0].copies[0]: no buffer 78 in the table; ${ANEW}`,
  ],
  [copied((copy) => copy.args.pop()), `recording.json.streams[0].copies[0].args: must be a list of 3; ${ANEW}`],
  [
    copied((copy) => copy.args[1].aspect = "color"),
    `recording.json.streams[0].copies[0].args[1].aspect: must be a GPUTextureAspect; ${ANEW}`,
  ],
  [copied((copy) => copy.args[0].offset = -1), `recording.json.streams[0].copies[0].args[0].offset: ${COUNT}; ${ANEW}`],
  [
    copied((copy) => copy.args[0].stride = 4),
    "recording.json.streams[0].copies[0].args[0].stride: no such member; leave it out",
  ],
  [() => [], `recording.json: must be an object; ${ANEW}`],
  [(manifest) => (manifest.recording = 2, manifest), `recording.json.recording: must be 1; ${OTHER}`],
  [(manifest) => (manifest.wire = 3, manifest), `recording.json.wire: must be 4; ${OTHER}`],
  [(manifest) => (manifest.wire = "4", manifest), `recording.json.wire: must be 4; ${OTHER}`],
  [(manifest) => void (manifest.more = 1), "recording.json.more: no such member; leave it out"],
  [(manifest) => void delete manifest.streams, `recording.json.streams: missing; ${ANEW}`],
  [(manifest) => void delete manifest.device, `recording.json.device: missing; ${ANEW}`],
  [(manifest) => void (manifest.program.name = 7), `recording.json.program.name: must be a text; ${ANEW}`],
  [(manifest) => void (manifest.program.args = [7]), `recording.json.program.args[0]: must be a text; ${ANEW}`],
  [(manifest) => void delete manifest.adapter.vendor, `recording.json.adapter.vendor: missing; ${ANEW}`],
  [
    (manifest) => void (manifest.device.requiredFeatures = "all"),
    `recording.json.device.requiredFeatures: must be a list; ${ANEW}`,
  ],
  [
    (manifest) => void (manifest.device.requiredLimits.maxBindGroups = -1),
    `recording.json.device.requiredLimits.maxBindGroups: ${COUNT}; ${ANEW}`,
  ],
  [(manifest) => void (manifest.counts.words = 1.5), `recording.json.counts.words: ${COUNT}; ${ANEW}`],
  [(manifest) => void (manifest.counts.frames = 1), "recording.json.counts.frames: no such member; leave it out"],
  [(manifest) => void (manifest.notCarried = []), `recording.json.notCarried: must be an object; ${ANEW}`],
  [
    (manifest) => void (manifest.notCarried["a\nb"] = "x"),
    `recording.json.notCarried.a b: ${COUNT}; ${ANEW}`,
  ],
  [(manifest) => void (manifest.streams = {}), `recording.json.streams: must be a list; ${ANEW}`],
  [(manifest) => void (manifest.streams[0].sort = 1), "recording.json.streams[0].sort: no such member; leave it out"],
  [
    (manifest) => void (manifest.streams[0].window = 2 ** 26 + 1),
    `recording.json.streams[0].window: must be a whole number from 0 to 67108864; ${ANEW}`,
  ],
  [
    (manifest) => void (manifest.streams[0].window = 20),
    `00000.read: has 16 bytes, and recording.json.streams[0].window says 20; ${ANEW}`,
  ],
  [
    (manifest) => void (manifest.streams[0].window = 12),
    `00000.wire: its read of buffer 5 is refused: past-window; ${ANEW}`,
  ],
  [
    (manifest) => void delete manifest.streams[0].reads,
    `recording.json.streams[0].reads: must be there exactly where window is not 0; ${ANEW}`,
  ],
  [
    (manifest) => void (manifest.streams[0].copies = [{ method: "finish", args: [] }]),
    `recording.json.streams[0].copies[0].method: must be one of clearBuffer, copyBufferToTexture, copyTextureToBuffer; ${ANEW}`,
  ],
  [
    (manifest) => void (manifest.streams[0].copies = [{ method: "clearBuffer" }]),
    `recording.json.streams[0].copies[0].args: missing; ${ANEW}`,
  ],
  [(manifest) => void (manifest.objects = "../objects.json"), `recording.json.objects: ${NAME}; ${ANEW}`],
  [(manifest) => void (manifest.streams[0].blob = "/etc/hostname"), `recording.json.streams[0].blob: ${NAME}; ${ANEW}`],
  [(manifest) => void (manifest.streams[0].reads = ".."), `recording.json.streams[0].reads: ${NAME}; ${ANEW}`],
  [(manifest) => void (manifest.streams[0].reads = "..\\x"), `recording.json.streams[0].reads: ${NAME}; ${ANEW}`],
  [(manifest) => void (manifest.streams[0].reads = "c:x"), `recording.json.streams[0].reads: ${NAME}; ${ANEW}`],
];
for (const [change, line] of MANIFESTS) changed("recording.json", change, line);

/** @type {[(rows: any) => unknown, string][]} */
const TABLES = [
  [() => ({}), `objects.json: must be a list; ${ANEW}`],
  [([row]) => void (row.id = 0), `objects.json[0].id: must be a whole number from 1 to 4294967295; ${ANEW}`],
  [([row]) => void (row.kind = "query set"), `objects.json[0].kind: must be the name of a kind; ${ANEW}`],
  [([row]) => void (row.kind = ""), `objects.json[0].kind: must be the name of a kind; ${ANEW}`],
  [([row]) => void (row.refs = [-1]), `objects.json[0].refs[0]: must be a whole number from 0 to 4294967295; ${ANEW}`],
  [([row]) => void (row.refs = Array(4097).fill(0)), `objects.json[0].refs: must be a list of at most 4096; ${ANEW}`],
  [([row]) => void (row.refs = [5]), `objects.json[0].refs[0]: no earlier row has id 5; ${ANEW}`],
  [(rows) => void rows.push(rows[0]), `objects.json[1].id: an earlier row has id 5 too; ${ANEW}`],
  [([row]) => void (row.body = {}), `objects.json[0].body: must be a text; ${ANEW}`],
  [([row]) => void (row.body = "[]"), `objects.json[0].body: must be an object; ${ANEW}`],
  [([row]) => void (row.label = "x"), "objects.json[0].label: no such member; leave it out"],
  [() => [], `00000.wire: its read of buffer 5 is refused: not-a-buffer; ${ANEW}`],
  [
    ([row]) => void (row.body = '{"size":16,"usage":8}'),
    `00000.wire: its read of buffer 5 is refused: no-map-read; ${ANEW}`,
  ],
  [
    ([row]) => void (row.body = '{"size":"16","usage":9}'),
    `00000.wire: its read of buffer 5 is refused: out-of-range; ${ANEW}`,
  ],
];
for (const [change, line] of TABLES) changed("objects.json", change, line);

Deno.test("refused: files that are no JSON, no blob, or whose words are refused", () => {
  const folder = whole();
  folder.set("objects.json", json([]).subarray(1));
  assert.match(
    refusal(() => readRecording(files(folder))),
    /^objects\.json: no JSON: [^\n]+; record the program again/,
  );
  folder.set("recording.json", Uint8Array.of(0xff, 0x0a, 0x7b));
  assert.match(refusal(() => readRecording(files(folder))), /^recording\.json: no JSON: /);

  const other = whole();
  other.set("00000.wire", blob([99]));
  assert.equal(refusal(() => readRecording(files(other))), `00000.wire: word 0 is refused: unknown-op; ${ANEW}`);
  other.set("00000.wire", Uint8Array.of(1, 2, 3));
  assert.equal(
    refusal(() => readRecording(files(other))),
    `00000.wire: not a blob of wire.md, section 1: bad-length; ${ANEW}`,
  );
});

Deno.test("refused: a folder with a file too few, a link in it, a folder for a file", async () => {
  await inFolder(whole(), (path) => {
    Deno.removeSync(`${path}/00000.read`);
    const missing = refusal(() => readRecording(recordingFiles(path)));
    assert.ok(missing.startsWith(`${path}/00000.read: `), missing);
    assert.ok(missing.endsWith("; give the folder or the archive of a whole recording"), missing);
    const link = `${path}/00000.read: not a plain file; put the file itself there`;
    // A link out of the folder, to a file that is there; then a folder.
    Deno.symlinkSync(`${REFERENCE}/deno.json`, `${path}/00000.read`);
    assert.equal(refusal(() => readRecording(recordingFiles(path))), link);
    Deno.removeSync(`${path}/00000.read`);
    Deno.mkdirSync(`${path}/00000.read`);
    assert.equal(refusal(() => readRecording(recordingFiles(path))), link);
  });
});

/** @param {Uint8Array} bytes the archive @param {string} why */
async function archiveRefused(bytes, why) {
  await inFolder(new Map([["a.tar", bytes]]), (path) => {
    const mend = "give the archive as it was downloaded, or unpack it and give the folder";
    assert.equal(refusal(() => readRecording(recordingFiles(`${path}/a.tar`))), `${path}/a.tar: ${why}; ${mend}`);
  });
}

Deno.test("refused: archives that are broken or hold more than plain files", async () => {
  const bytes = archive(whole());
  await archiveRefused(new Uint8Array(0), "the archive ends early");
  await archiveRefused(bytes.subarray(0, 600), "the archive ends early");
  await archiveRefused(bytes.subarray(0, bytes.length - 1024), "the archive ends early");
  const turned = bytes.slice();
  turned[3]++;
  await archiveRefused(turned, "no header at byte 0");
  // A symbolic link in place of the first file; its checksum is larger by 2, the difference of the types.
  const link = bytes.slice();
  link[156] += 2;
  const digits = new TextDecoder().decode(link.subarray(148, 154));
  link.set(new TextEncoder().encode((parseInt(digits, 8) + 2).toString(8).padStart(6, "0")), 148);
  await archiveRefused(link, "recording/recording.json: not a plain file");
  await archiveRefused(archive(whole(), "../"), "../recording.json: leads out of the archive");
  await archiveRefused(archive(whole(), "/"), "/recording.json: leads out of the archive");
  const elsewhere = archive(
    new Map([["a/recording.json", new Uint8Array(0)], ["b/objects.json", new Uint8Array(0)]]),
    "",
  );
  await archiveRefused(elsewhere, "b/objects.json: in another folder than the files before it");
  const twice = whole();
  twice.set("./recording.json", new Uint8Array(0));
  await archiveRefused(archive(twice, ""), "two files recording.json");
});

Deno.test("refused: files that hold more than a GiB, alone or together", async () => {
  const most = 1073741824;
  await inFolder(whole(), (path) => {
    // Sparse.
    Deno.truncateSync(`${path}/00000.read`, most);
    const together = `with it the recording's files hold more than ${most} bytes, the most that fits`;
    assert.equal(refusal(() => readRecording(recordingFiles(path))), `${path}/00000.read: ${together}; ${ANEW}`);
    Deno.truncateSync(`${path}/recording.json`, most);
    const alone = "more than 134217728 bytes, the most that fits";
    assert.equal(refusal(() => readRecording(recordingFiles(path))), `${path}/recording.json: ${alone}; ${ANEW}`);
    Deno.truncateSync(`${path}/00000.read`, most + 1);
    const archive = `${path}/00000.read: more than ${most} bytes, the most that fits; ${ANEW}`;
    assert.equal(refusal(() => recordingFiles(`${path}/00000.read`)), archive);
  });
});

Deno.test("refused: a device in place of an archive", () => {
  const line = "/dev/zero: neither a folder nor a plain file; give the folder or the archive of a recording";
  assert.equal(refusal(() => recordingFiles("/dev/zero")), line);
});

Deno.test("refused: an archive with a file too few", async () => {
  const folder = whole();
  folder.delete("objects.json");
  await inFolder(new Map([["a.tar", archive(folder)]]), (path) => {
    const line = `${path}/a.tar/objects.json: no such file in the archive; ${ANEW}`;
    assert.equal(refusal(() => readRecording(recordingFiles(`${path}/a.tar`))), line);
  });
});

Deno.test("an archive holds what was put in, and tar unpacks it", async () => {
  const contents = [
    { name: "a/empty", bytes: new Uint8Array(0) },
    { name: "a/one", bytes: Uint8Array.of(7) },
    { name: "a/block", bytes: new Uint8Array(512).fill(9) },
    { name: "a/more", bytes: new Uint8Array(513).fill(3) },
  ];
  const bytes = writeTar(contents);
  // Four headers, 0 + 1 + 1 + 2 blocks, two blocks of zeros.
  assert.equal(bytes.length, 512 * (4 + 4 + 2));
  assert.deepEqual(readTar(bytes), contents);
  await inFolder(new Map([["a.tar", bytes]]), async (path) => {
    const { code } = await new Deno.Command("tar", { args: ["xf", "a.tar"], cwd: path }).output();
    assert.equal(code, 0);
    for (const { name, bytes } of contents) assert.deepEqual(Deno.readFileSync(`${path}/${name}`), bytes);
    // What tar itself writes is read too.
    await new Deno.Command("tar", { args: ["cf", "b.tar", "a"], cwd: path }).output();
    const again = readTar(Deno.readFileSync(`${path}/b.tar`));
    const byName = (/** @type {any} */ a, /** @type {any} */ b) => a.name < b.name ? -1 : 1;
    assert.deepEqual(again.sort(byName), contents.sort(byName));
  });
  assert.throws(() => writeTar([{ name: "x".repeat(101), bytes: new Uint8Array(0) }]), RangeError);
});

/** Runs the command. @param {string[]} args */
async function replay(...args) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "replay_recording.js", ...args],
    cwd: REFERENCE,
  }).output();
  const [printed, said] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, printed, said };
}

Deno.test("the command replays a folder and an archive: 0; a difference on the adapter that recorded: 1", async () => {
  const folder = whole();
  const info = (await navigator.gpu.requestAdapter())?.info;
  assert.ok(info, "no WebGPU adapter");
  const { vendor, architecture, device, description } = info;
  const adapter = { vendor, architecture, device, description };
  folder.set("recording.json", json({ ...parsed(folder, "recording.json"), adapter }));
  const outcome = { streams: 1, commands: 2, reads: 1, compared: 16, refused: [], differences: [] };
  const expected = { engine: "deno", adapter, sameDriver: true, lacking: [], ...outcome };
  await inFolder(folder, async (path) => {
    Deno.writeFileSync(`${path}/a.tar`, archive(folder));
    for (const args of [[path], [`${path}/a.tar`, "deno"]]) {
      const { code, printed, said } = await replay(...args);
      assert.deepEqual([code, JSON.parse(printed), said], [0, expected, ""]);
    }
    Deno.writeFileSync(`${path}/00000.read`, new Uint8Array(16));
    const { code, said } = await replay(path);
    assert.equal(said, "replay: 00000.wire: buffer 5 differs from what the program read, from byte 4\n");
    assert.equal(code, 1);
  });
});

Deno.test("the command says one line and ends with 2", async () => {
  const folder = whole();
  folder.set("00000.wire", new Uint8Array(3));
  await inFolder(folder, async (path) => {
    const lines = [
      [[], "give a recording's folder or archive and perhaps deno, dawn or dawn-null"],
      [[path, "metal"], "give a recording's folder or archive and perhaps deno, dawn or dawn-null"],
      [[path], `00000.wire: not a blob of wire.md, section 1: bad-length; ${ANEW}`],
      [
        [`${path}/00000.read`],
        `${path}/00000.read: the archive ends early; give the archive as it was downloaded, or unpack it and give the folder`,
      ],
    ];
    for (const [args, line] of lines) {
      assert.deepEqual(await replay(...args), { code: 2, printed: "", said: `replay: ${line}\n` });
    }
    const { code, said } = await replay(`${path}/nothing`);
    assert.match(said, /^replay: [^\n]*\/nothing: [^\n]*; give the folder or the archive of a recording\n$/);
    assert.equal(code, 2);
  });
});

const RECORDINGS = new URL("../../corpus/recordings/", import.meta.url).pathname;
for (const name of ["browser", "compute-heavy", "render-heavy", "upload-heavy"]) {
  Deno.test(`the corpus's recording ${name} is small and replays`, async () => {
    const files = Array.from(
      Deno.readDirSync(`${RECORDINGS}${name}`),
      ({ name: file }) => `${RECORDINGS}${name}/${file}`,
    );
    const size = files.reduce((sum, file) => sum + Deno.statSync(file).size, 0);
    assert.ok(size < 200_000, `${size} bytes`);
    for (const engine of ["deno", "dawn-null"]) {
      const { code, printed, said } = await replay(`${RECORDINGS}${name}`, engine);
      assert.equal(code, 0, said);
      assert.deepEqual(JSON.parse(printed).refused, []);
    }
  });
}
