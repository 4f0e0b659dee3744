// Runs the code of the tutorial, docs/tutorial/javascript.md, unchanged. Each block of JavaScript is a file, which the
// block's first line names. Together the files are a project that Vitest runs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { project, root, vitest } from "./project.mjs";

test("Vitest passes all tests of the tutorial", async (t) => {
  const page = readFileSync(join(root, "tutorial.md"), "utf8");
  const blocks = [...page.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code);
  const files = Object.fromEntries(blocks.map((code) => [/^\/\/ (\S+\.mjs)\n/.exec(code)?.[1], code]));
  assert.equal(Object.keys(files).length, blocks.length, "each block names a file");
  assert.ok(!("undefined" in files), "each block names a file");

  const { status, output } = await vitest(project(t, files));
  assert.equal(status, 0, output);
  assert.match(output, /Tests +11 passed/);
  assert.match(page, /All 11 tests pass/);
});
