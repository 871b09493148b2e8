/// <reference lib="dom" />
/**
 * Holds report pages to what a person needs of them, in headless Chromium: `deno run --allow-all browser/report_page.js PAGE...`.
 * Nothing on the console, no requests, nothing wider than a phone, no empty place among the key numbers, headings in order, no fault
 * that axe-core sees, in light and in dark, and a copy button that copies. Prints a line a fault, and ends with 1 where there is one.
 * `harness/lockstep/tests/report.rs` makes the pages.
 */
import { openChromium } from "../chromium.js";

const AXE = Deno.readTextFileSync(new URL("../../.lockstep/npm/node_modules/axe-core/axe.min.js", import.meta.url));
const VIEWS = [
  { width: 1280, colorScheme: "light" },
  { width: 360, colorScheme: "light" },
  { width: 320, colorScheme: "dark" },
];

/** How the page's headings go down: the levels that are skipped. @param {any} page @returns {Promise<string[]>} */
function skippedHeadings(page) {
  return page.evaluate(() => {
    const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((heading) =>
      Number(heading.tagName[1])
    );
    const skips = levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1).map((level) =>
      `a heading of level ${level} skips one`
    );
    return levels.filter((level) => level === 1).length === 1
      ? skips
      : [...skips, "there is not one heading of level 1"];
  });
}

/** What axe-core finds, a line a fault with the first place. @param {any} page @returns {Promise<string[]>} */
async function axeFaults(page) {
  // Under the page's own rule no script runs but its own; the devtools' do.
  await page.evaluate(AXE);
  return await page.evaluate(async () => {
    const { violations } = await /** @type {any} */ (globalThis).axe.run();
    return violations.map((/** @type {any} */ fault) => `${fault.id}: ${fault.help}, as at ${fault.nodes[0].html}`);
  });
}

/** @param {any} browser @param {string} url @param {{ width: number, colorScheme: string }} view */
async function faultsOf(browser, url, { width, colorScheme }) {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  /** @type {string[]} */
  const faults = [];
  const page = await context.newPage();
  page.on("console", (/** @type {any} */ message) => faults.push(`on the console: ${message.text()}`));
  page.on("pageerror", (/** @type {any} */ error) => faults.push(`an error: ${error}`));
  page.on("request", (/** @type {any} */ request) => {
    if (request.url() !== url) faults.push(`a request for ${request.url()}`);
  });
  await page.goto(url);
  // What is closed is looked at too.
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => details.open = true));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > width) faults.push(`it is ${wide} pixels wide`);
  const empty = await page.evaluate(() => {
    const tiles = document.querySelector(".tiles");
    const last = tiles?.lastElementChild;
    return tiles && last ? Math.round(tiles.getBoundingClientRect().right - last.getBoundingClientRect().right) : 0;
  });
  if (empty > 2) faults.push(`the last row of key numbers ends ${empty} pixels early`);
  faults.push(...await skippedHeadings(page), ...await axeFaults(page));
  const button = page.locator("button.copy").first();
  const command = await page.locator(".command code").first().textContent();
  await button.click();
  await page.getByRole("status").filter({ hasText: "Copied" }).waitFor({ state: "attached" });
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  if (copied !== command) faults.push(`Copy copies ${JSON.stringify(copied)} of ${JSON.stringify(command)}`);
  await context.close();
  return faults;
}

const browser = await openChromium();
let faults = 0;
try {
  for (const file of Deno.args) {
    const url = new URL(file, `file://${Deno.cwd()}/`).href;
    for (const view of VIEWS) {
      for (const fault of await faultsOf(browser, url, view)) {
        console.log(`${file}, ${view.width} pixels, ${view.colorScheme}: ${fault}`);
        faults += 1;
      }
    }
  }
} finally {
  await browser.close();
}
Deno.exit(faults === 0 ? 0 : 1);
