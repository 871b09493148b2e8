/// <reference lib="dom" />
/**
 * The recorder for a page: it records all that the page does with WebGPU from here on, and shows a small panel with what it
 * has and a button that downloads the recording, one tar archive (RECORDING.md). A page includes it before its own scripts:
 *
 *     <script type="module" src="record_page.js"></script>
 *
 * It needs record.js and what that imports beside it, and nothing from elsewhere.
 */

import { Recorder } from "./record.js";
import { writeTar } from "./tar.js";

/** What records. */
export const recorder = new Recorder();

/** Watches the page's WebGPU and each canvas that gets a "webgpu" context. */
function watchPage() {
  if (navigator.gpu) recorder.watch(navigator.gpu);
  for (const { prototype } of [HTMLCanvasElement, OffscreenCanvas]) {
    const native = /** @type {any} */ (prototype).getContext;
    /** @this {any} @param {any[]} args */
    const getContext = function (...args) {
      const context = native.apply(this, args);
      if (args[0] === "webgpu" && context !== null) recorder.watchContext(context);
      return context;
    };
    Object.defineProperty(prototype, "getContext", { configurable: true, writable: true, value: getContext });
  }
}

/** The page's own name, for files: the last of its path that says something, else its host. */
function pageName() {
  const parts = decodeURIComponent(location.pathname).split("/").filter((part) => !/^(index\.\w+)?$/.test(part));
  const name = (parts.at(-1) ?? location.hostname).replace(/\.html?$/, "");
  return name.replace(/[^\w.-]+/g, "-").slice(0, 60) || "page";
}

/** Downloads what is recorded so far: a folder of files in one archive. Gives the archive's name and length in bytes. */
export function download() {
  const folder = `recording-${pageName()}`;
  const files = recorder.files({ name: pageName(), args: [] });
  const archive = writeTar(files.map(({ name, bytes }) => ({ name: `${folder}/${name}`, bytes })));
  const link = document.createElement("a");
  link.download = `${folder}.tar`;
  link.href = URL.createObjectURL(new Blob([archive], { type: "application/x-tar" }));
  link.click();
  // The browser has taken the bytes by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return { name: link.download, length: archive.length };
}

// -----------------------------------------------------------------------------------------------------------------
// The panel
// -----------------------------------------------------------------------------------------------------------------

const STYLE = `
  :host { all: initial; position: fixed; right: 12px; bottom: 12px; z-index: 2147483647; color-scheme: light dark; }
  section {
    box-sizing: border-box; max-width: min(28rem, calc(100vw - 24px)); padding: 6px 8px; border-radius: 6px;
    font: 13px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums;
    color: light-dark(#1b1b1b, #f2f2f2); background: light-dark(#fff, #1e1e1e); border: 1px solid light-dark(#767676, #8c8c8c);
  }
  .bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; }
  p, ul { margin: 0; }
  button { font: inherit; padding: 2px 10px; }
  summary { cursor: default; }
  :focus-visible { outline: 2px solid light-dark(#0050c8, #8ab8ff); outline-offset: 2px; }
  ul { max-height: 30vh; overflow: auto; padding-left: 1.2em; overflow-wrap: anywhere; }
`;

/** @param {number} count @param {string} what */
function counted(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function countsText() {
  if (!navigator.gpu) return "No WebGPU in this page: it needs https or localhost, and a browser that has it";
  const { submits, objects, bytes } = recorder.progress;
  return `Recording: ${counted(submits, "submit")}, ${counted(objects, "object")}, ${size(bytes)}`;
}

/** Sets a text, where it is another: assistive technology is told of nothing that stays. @param {Element} element @param {string} text */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * An element with a text and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} text
 * @param {Node[]} children
 */
function element(tag, text, ...children) {
  const made = document.createElement(tag);
  made.textContent = text;
  made.append(...children);
  return made;
}

/** What is not carried, as a list that can be opened. */
function lossList() {
  const [summary, list] = [element("summary", ""), element("ul", "")];
  const details = element("details", "", summary, list);
  const show = () => {
    const lost = [...recorder.notCarried];
    details.hidden = lost.length === 0;
    say(summary, `Version 4 cannot carry ${counted(lost.length, "kind")} of call`);
    const lines = lost.map(([name, count]) => `${name}: ${count}`);
    if (lines.join() !== Array.from(list.children, (item) => item.textContent).join()) {
      list.replaceChildren(...lines.map((line) => element("li", line)));
    }
  };
  return { details, show };
}

/** Shows the panel and keeps it up to date. In a shadow tree, so that neither page nor panel styles the other. */
function showPanel() {
  const [counts, button, status] = [element("p", ""), element("button", "Download"), element("p", "")];
  const { details, show } = lossList();
  button.type = "button";
  button.setAttribute("aria-label", "Download the recording");
  button.disabled = !navigator.gpu;
  status.setAttribute("role", "status");
  button.addEventListener("click", () => {
    try {
      const { name, length } = download();
      say(status, `Downloaded ${name}, ${size(length)}`);
    } catch (error) {
      say(status, `Cannot write the recording: ${error}`);
    }
  });
  const bar = element("div", "", counts, button);
  bar.className = "bar";
  const section = element("section", "", bar, details, status);
  section.setAttribute("aria-label", "Recorder");

  const host = document.createElement("lockstep-recorder");
  const style = new CSSStyleSheet();
  style.replaceSync(STYLE);
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [style];
  shadow.append(section);
  document.body.append(host);
  const update = () => {
    say(counts, countsText());
    show();
  };
  update();
  setInterval(update, 500);
}

watchPage();
showPanel();
