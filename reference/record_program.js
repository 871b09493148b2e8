/**
 * Runs a program under deno with the recorder in place:
 *
 *     deno run --allow-all record_program.js [--quiet] PROGRAM.js OUT [args]
 *
 * The program is a module; it finds its own arguments in `Deno.args`, runs unmodified and to its end. OUT is a new or
 * empty folder, for the files of RECORDING.md; a program that fails or is ended (SIGINT, SIGTERM) leaves the recording of what it did until then. What
 * version 4 cannot carry is said on standard error, unless quiet. Exit status: the program's, 2 for wrong arguments.
 */

import { pathToFileURL } from "node:url";
import { Recorder } from "./record.js";

/** @param {string} line @returns {never} */
function fail(line) {
  console.error(`record: ${line}`);
  Deno.exit(2);
}

/** @param {string} path */
function isFile(path) {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** @param {string} folder */
function makeFolder(folder) {
  try {
    Deno.mkdirSync(folder, { recursive: true });
    if (!Deno.readDirSync(folder)[Symbol.iterator]().next().done) fail(`${folder}: not empty; give a new folder`);
  } catch (error) {
    fail(`${folder}: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {Recorder} recorder @param {string} folder @param {Record<string, unknown>} about @param {boolean} quiet */
function writeFiles(recorder, folder, about, quiet) {
  for (const { name, bytes } of recorder.files(about)) Deno.writeFileSync(`${folder}/${name}`, bytes);
  if (quiet) return;
  for (const [name, count] of recorder.notCarried) console.error(`record: not carried: ${name}, ${count} times`);
}

async function main() {
  const quiet = Deno.args[0] === "--quiet";
  const [program, folder, ...args] = quiet ? Deno.args.slice(1) : Deno.args;
  if (program === undefined || folder === undefined) fail("give [--quiet] PROGRAM.js OUT [args]");
  if (!isFile(program)) fail(`${program}: no such file`);
  makeFolder(folder);
  // The program may go elsewhere.
  const out = Deno.realPathSync(folder);
  const { href } = pathToFileURL(program);
  Object.defineProperty(Deno, "args", { value: args });
  const recorder = new Recorder();
  recorder.watch(navigator.gpu);
  // A program is done when nothing is left to run, which may be long after its module, when it exits or when it fails.
  const write = () => writeFiles(recorder, out, { name: href.split("/").at(-1), args }, quiet);
  for (const end of ["unload", "error", "unhandledrejection"]) addEventListener(end, write);
  // A program that goes on for ever, frame by frame, is ended by its user. To exit is to unload.
  Deno.addSignalListener("SIGINT", () => Deno.exit(130));
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", () => Deno.exit(143));
  await import(href);
}

await main();
