/**
 * Runs a program under deno with the recorder in place:
 *
 *     deno run --allow-all record_program.js PROGRAM.js OUT [args]
 *
 * The program is a module; it finds its own arguments in `Deno.args`, runs unmodified and to its end. OUT is a new or
 * empty folder, for the files of RECORDING.md. Exit status: the program's, 2 for wrong arguments.
 */

import { Recorder } from "./record.js";

/** @param {string} line @returns {never} */
function fail(line) {
  console.error(`record: ${line}`);
  Deno.exit(2);
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

/** @param {Recorder} recorder @param {string} folder @param {Record<string, unknown>} about */
function writeFiles(recorder, folder, about) {
  for (const { name, bytes } of recorder.files(about)) Deno.writeFileSync(`${folder}/${name}`, bytes);
  for (const [name, count] of recorder.notCarried) console.error(`record: not carried: ${name}, ${count} times`);
}

async function main() {
  const [program, folder, ...args] = Deno.args;
  if (program === undefined || folder === undefined) fail("give PROGRAM.js OUT [args]");
  makeFolder(folder);
  const out = Deno.realPathSync(folder);
  const module = new URL(program, `file://${Deno.cwd()}/`);
  Object.defineProperty(Deno, "args", { value: args });
  const recorder = new Recorder();
  recorder.watch(navigator.gpu);
  // A program is done when nothing is left to run, which may be long after its module, or when it exits.
  const name = module.pathname.split("/").at(-1);
  addEventListener("unload", () => writeFiles(recorder, out, { name, args }));
  await import(module.href);
}

await main();
