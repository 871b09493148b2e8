/**
 * Starts a headless Chromium for tests of pages: the system's browser (Debian's package `chromium`), with WebGPU on its own
 * software driver, SwiftShader, driven by Playwright, which `cargo lockstep` brings from npm.
 */

import { createRequire } from "node:module";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];
const ARGUMENTS = [
  ...["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
  "--disable-sync",
  // WebGPU on SwiftShader. The page's own pictures go by Vulkan too: Chromium 156 loses the WebGPU device of a page that
  // shows a "webgpu" canvas otherwise.
  ...["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
  ...["--enable-features=Vulkan", "--use-vulkan=swiftshader", "--use-angle=vulkan"],
];

/** The browser's program on the PATH, null where there is none. */
function program() {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  for (const name of PROGRAMS) {
    for (const folder of folders) {
      try {
        if (Deno.statSync(`${folder}/${name}`).isFile) return `${folder}/${name}`;
      } catch {
        // Not there.
      }
    }
  }
  return null;
}

/**
 * A browser with a new profile in a folder of its own; `close()` ends it and removes the folder. The pages are
 * Playwright's: `newPage()`, `goto`, `getByRole`, `evaluate`, `waitForEvent("download")`.
 * @returns {Promise<any>} Playwright's Browser
 */
export async function openChromium() {
  const executablePath = program();
  if (executablePath === null) throw new Error("no Chromium is on the PATH; run `apt-get install chromium`");
  const require = createRequire(new URL("../.lockstep/npm/", import.meta.url));
  // No sandbox, which a container or root cannot have: only pages of this repository are opened.
  return await require("playwright-core").chromium.launch({
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: ARGUMENTS,
    // Or it leaves a folder of settings, dconf/, where XDG_RUNTIME_DIR is: `cargo` names the repository's root.
    env: { ...Deno.env.toObject(), GSETTINGS_BACKEND: "memory" },
  });
}
