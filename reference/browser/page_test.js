/// <reference lib="dom" />
/**
 * The recorder in a page, in headless Chromium with WebGPU on SwiftShader: a click on Download gives an archive that replays.
 * These tests fail where there is no Chromium.
 */
import assert from "node:assert/strict";
import { openChromium } from "../chromium.js";

const REFERENCE = new URL("..", import.meta.url).pathname;
const TYPES = new Map([["html", "text/html"], ["js", "text/javascript"]]);

/** @param {Request} request */
function serveFile({ url }) {
  const { pathname } = new URL(url);
  const type = TYPES.get(pathname.split(".").at(-1) ?? "");
  try {
    // The packages that `cargo lockstep` has brought stand below /npm/.
    const path = pathname.replace(/^\/npm\//, "../.lockstep/npm/node_modules/");
    const bytes = Deno.readFileSync(`${REFERENCE}${path}`);
    return new Response(bytes, { headers: { "content-type": type ?? "application/octet-stream" } });
  } catch {
    return new Response(null, { status: 404 });
  }
}

/**
 * Opens the page and ends the browser after the work. A page that asks for anything but the server's files, or says anything
 * on its console, fails.
 * @param {string} path
 * @param {(page: any, panel: any) => Promise<void>} work on Playwright's page, and on the recorder's panel in it
 * @param {{ colorScheme?: "light" | "dark", before?: string }} options `before` is a script that runs before the page's own
 */
async function withPage(path, work, { colorScheme = "light", before = "" } = {}) {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, serveFile);
  const browser = await openChromium();
  /** @type {string[]} */
  const said = [];
  try {
    const page = await browser.newPage({ colorScheme });
    const origin = `http://127.0.0.1:${server.addr.port}/`;
    page.on("console", (/** @type {any} */ message) => said.push(message.text()));
    page.on("pageerror", (/** @type {any} */ error) => said.push(String(error)));
    page.on("request", (/** @type {any} */ request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin)) said.push(request.url());
    });
    await page.addInitScript(before);
    await page.goto(`${origin}${path}`);
    await work(page, page.getByRole("region", { name: "Recorder" }));
    assert.deepEqual(said, []);
  } finally {
    await browser.close();
    await server.shutdown();
  }
}

const PAGE = "page/index.html";
const DONE = "12 generations: 800 cells are alive, 800 pixels are yellow";
const DOWNLOAD = ["button", { name: "Download the recording" }];

/** The download that follows what is done. @param {any} page @param {string} path where it is put @param {() => Promise<void>} act */
async function downloaded(page, path, act) {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  await download.saveAs(path);
  return download.suggestedFilename();
}

/** @param {string} folder @param {string} program @param {string[]} args */
async function run(folder, program, ...args) {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd: folder }).output();
  const [printed, said] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, said);
  return printed;
}

/** @param {string[]} args */
async function replay(...args) {
  const printed = await run(REFERENCE, Deno.execPath(), "run", "--allow-all", "replay_recording.js", ...args);
  const { streams, commands, reads, compared, refused, differences } = JSON.parse(printed);
  return { streams, commands, reads, compared, refused, differences };
}

/** @param {(folder: string) => Promise<void>} work */
async function inFolder(work) {
  const folder = Deno.makeTempDirSync();
  try {
    await work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

// 12 generations of 5 commands and a submit, a texture and 3 frames of 5 and a submit, a write of a board, 2 passes of 2 that
// clear the canvas again; then a copy with a submit and a read, and a submit and a read, where the copy stands beside.
const REPLAYED = { streams: 18, commands: 12 * 6 + 4 * 6 + 1 + 4 + 3 + 2, reads: 2, refused: [], differences: [] };

Deno.test("a page's recording is downloaded by a click and replays with the page's own results", async () => {
  await inFolder(async (folder) => {
    await withPage(PAGE, async (page, panel) => {
      await page.getByText(DONE).waitFor();
      await panel.getByText(/^Recording: 18 submits, \d+ objects, \d+\.\d kB$/).waitFor();
      const name = await downloaded(page, `${folder}/recording.tar`, () => panel.getByRole(...DOWNLOAD).click());
      assert.equal(name, "recording-page.tar");
      await panel.getByRole("status").getByText(/^Downloaded recording-page\.tar, \d+\.\d kB$/).waitFor();
    });
    assert.deepEqual(await replay(`${folder}/recording.tar`), { ...REPLAYED, compared: 2 * 64 * 64 * 4 });
    assert.deepEqual(await replay(`${folder}/recording.tar`, "dawn-null"), { ...REPLAYED, compared: 0 });
    await run(folder, "tar", "xf", "recording.tar");
    const { program, adapter, notCarried } = JSON.parse(
      Deno.readTextFileSync(`${folder}/recording-page/recording.json`),
    );
    assert.deepEqual([program, adapter.architecture], [{ name: "page", args: [] }, "swiftshader"]);
    assert.deepEqual(notCarried, { "GPUCommandEncoder.copyTextureToBuffer": 1 });
    assert.deepEqual(await replay(`${folder}/recording-page`), { ...REPLAYED, compared: 2 * 64 * 64 * 4 });
  });
});

Deno.test("the panel by keyboard, twice, and what it says of calls that are not carried", async () => {
  await inFolder(async (folder) => {
    await withPage(PAGE, async (page, panel) => {
      await page.getByText(DONE).waitFor();
      await page.keyboard.press("Tab");
      await downloaded(page, `${folder}/first.tar`, () => page.keyboard.press("Enter"));
      const losses = panel.getByText("Version 4 cannot carry 1 kind of call");
      await losses.waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await panel.getByText("GPUCommandEncoder.copyTextureToBuffer: 1").waitFor();
      await downloaded(page, `${folder}/second.tar`, () => panel.getByRole(...DOWNLOAD).click());
    });
    assert.deepEqual(Deno.readFileSync(`${folder}/first.tar`), Deno.readFileSync(`${folder}/second.tar`));
  });
});

/** The contrast of WCAG 2.2 of two computed colors. @param {string} a @param {string} b */
function contrast(a, b) {
  const [low, high] = [a, b].map((color) => {
    const [red, green, blue] = (color.match(/\d+/g) ?? []).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }).sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

for (const [scheme, background] of [["light", "rgb(255, 255, 255)"], ["dark", "rgb(30, 30, 30)"]]) {
  Deno.test(`the panel is readable in a ${scheme} page`, async () => {
    await withPage(
      PAGE,
      async (page, panel) => {
        await page.getByText(DONE).waitFor();
        const colors = await panel.evaluate((/** @type {Element} */ section) => {
          const { color, backgroundColor, borderTopColor } = getComputedStyle(section);
          return { color, backgroundColor, borderTopColor };
        });
        assert.equal(colors.backgroundColor, background);
        assert.ok(contrast(colors.color, background) >= 7, colors.color);
        assert.ok(contrast(colors.borderTopColor, background) >= 3, colors.borderTopColor);
      },
      { colorScheme: /** @type {"light" | "dark"} */ (scheme) },
    );
  });
}

Deno.test("a page without WebGPU says so", async () => {
  const before = "Object.defineProperty(Navigator.prototype, 'gpu', { value: undefined })";
  await withPage(
    PAGE,
    async (page, panel) => {
      await page.getByText("No WebGPU adapter in this browser").waitFor();
      await panel.getByText("No WebGPU in this page: it needs https or localhost, and a browser that has it").waitFor();
      assert.equal(await panel.getByRole(...DOWNLOAD).isDisabled(), true);
    },
    { before },
  );
});

Deno.test("an unmodified program, three.js on a canvas over 5 frames, is recorded in a page and replays", async () => {
  await inFolder(async (folder) => {
    await withPage("browser/three.html", async (page, panel) => {
      await page.waitForFunction(() => document.title === "5 frames");
      const name = await downloaded(page, `${folder}/recording.tar`, () => panel.getByRole(...DOWNLOAD).click());
      assert.equal(name, "recording-three.tar");
    });
    await run(folder, "tar", "xf", "recording.tar");
    const read = (/** @type {string} */ file) => JSON.parse(Deno.readTextFileSync(`${folder}/recording-three/${file}`));
    const { notCarried, counts, streams } = read("recording.json");
    assert.deepEqual(notCarried, {});
    // RENDER_ATTACHMENT | COPY_SRC, as three.js asks of its canvas and of nothing else: one texture for all frames.
    const canvas = read("objects.json").filter((/** @type {any} */ { kind, body }) =>
      kind === "texture" && JSON.parse(body).usage === 17
    );
    assert.equal(canvas.length, 1);
    for (const engine of ["deno", "dawn-null"]) {
      const { refused, commands, streams: played } = await replay(`${folder}/recording.tar`, engine);
      assert.deepEqual([refused, commands, played], [[], counts.commands, streams.length]);
    }
  });
});
