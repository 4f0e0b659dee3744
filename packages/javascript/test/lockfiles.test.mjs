// Tests the errors for lockfiles that lack this platform's package (npm/cli#4828).

import assert from "node:assert/strict";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { test } from "node:test";

import { internal, platforms, project, version } from "./project.mjs";

const { find } = internal("binary");

const name = "@mayfly-dynamodb/darwin-arm64";
const all = Object.fromEntries(platforms.map((each) => [`@mayfly-dynamodb/${each}`, version]));
const json = (value) => JSON.stringify(value, null, 2);

// Each lockfile's text, with entries for these platforms' packages. The main package depends on all of them in each text.
const npm = (...names) => ({
  name: "project",
  lockfileVersion: 3,
  packages: {
    "": { devDependencies: { "mayfly-dynamodb": version } },
    "node_modules/mayfly-dynamodb": { version, optionalDependencies: all },
    ...Object.fromEntries(names.map((each) => [`node_modules/${each}`, { version, optional: true }])),
  },
});
const lockfiles = {
  "package-lock.json": (...names) => json(npm(...names)),
  "npm-shrinkwrap.json": (...names) => json(npm(...names)),
  "pnpm-lock.yaml": (...names) =>
    `lockfileVersion: '9.0'\n\npackages:\n\n  mayfly-dynamodb@${version}:\n    engines: {node: '>=18'}\n\n` +
    names.map((each) => `  '${each}@${version}':\n    os: [darwin]\n`).join("\n") +
    `\nsnapshots:\n\n  mayfly-dynamodb@${version}:\n    optionalDependencies:\n` +
    platforms.map((each) => `      '@mayfly-dynamodb/${each}': ${version}\n`).join(""),
  "yarn.lock": (...names) =>
    `# yarn lockfile v1\n\n\nmayfly-dynamodb@^${version}:\n  version "${version}"\n  optionalDependencies:\n` +
    platforms.map((each) => `    "@mayfly-dynamodb/${each}" "${version}"\n`).join("") +
    names.map((each) => `\n"${each}@${version}":\n  version "${version}"\n`).join(""),
  "bun.lock": (...names) =>
    `{\n  "lockfileVersion": 1,\n  "packages": {\n    "mayfly-dynamodb": ["mayfly-dynamodb@${version}", "", ` +
    `{ "optionalDependencies": ${JSON.stringify(all)} }, "sha512-"],\n` +
    names.map((each) => `    "${each}": ["${each}@${version}", "", { "os": "darwin" }, "sha512-"],\n`).join("") +
    "  }\n}\n",
};

function message(directory) {
  try {
    find({ host: { os: "darwin", cpu: "arm64" }, environment: {}, packageJson: () => undefined, directories: [directory] });
  } catch (error) {
    assert.equal(error.problem, "no-binary");
    return error.message;
  }
  assert.fail("a program was found");
}

const missing = `No mayfly program found for macOS on arm64: the package ${name} is not installed, and PATH has no mayfly. `;
const otherwise =
  " You can also set MAYFLY_BINARY to a mayfly that you have built, or set MAYFLY_URL to the address of a running server.";

for (const [file, manager, add] of [
  ["package-lock.json", "npm", "npm install --save-optional"],
  ["npm-shrinkwrap.json", "npm", "npm install --save-optional"],
  ["pnpm-lock.yaml", "pnpm", "pnpm add --save-optional"],
  ["yarn.lock", "yarn", "yarn add --optional"],
  ["bun.lock", "bun", "bun add --optional"],
]) {
  test(`a ${file} that lacks the platform's package is named, with the command that repairs it`, (t) => {
    const directory = project(t, { [file]: lockfiles[file]("@mayfly-dynamodb/linux-x64") }, tmpdir());
    const bug = " npm left the package out when it wrote the lockfile on another platform (npm/cli#4828).";
    const why = manager === "npm" ? bug : "";
    assert.equal(
      message(join(directory, "node_modules", "mayfly-dynamodb", "dist")),
      `${missing}The lockfile ${join(directory, file)} does not list the package.${why} Delete ${file} and node_modules, and run ` +
        `"${manager} install". To keep the lockfile, run "${add} ${name}@${version}" instead.${otherwise}`,
    );
  });

  test(`a ${file} that lists the platform's package is not blamed`, (t) => {
    const directory = project(t, { [file]: lockfiles[file]("@mayfly-dynamodb/linux-x64", name) }, tmpdir());
    assert.equal(
      message(directory),
      `${missing}Optional packages were left out, for example by --omit=optional. Delete node_modules, and run ` +
        `"${manager} install" on this machine, with optional packages.${otherwise}`,
    );
  });
}

test("a package-lock.json of version 1 is read", (t) => {
  const lock = { lockfileVersion: 1, dependencies: { "mayfly-dynamodb": { version, dependencies: { [name]: { version } } } } };
  const directory = project(t, { "package-lock.json": json(lock) }, tmpdir());
  assert.doesNotMatch(message(directory), /lockfile/);
  delete lock.dependencies["mayfly-dynamodb"].dependencies;
  const without = project(t, { "package-lock.json": json(lock) }, tmpdir());
  assert.match(message(without), /package-lock\.json does not list the package\./);
});

test("a lockfile of another project, or one that is malformed, is passed over", (t) => {
  const directory = project(
    t,
    {
      "package-lock.json": lockfiles["package-lock.json"](),
      "a/package-lock.json": json({ packages: { "node_modules/another": {} } }),
      "a/b/package-lock.json": "<<<<<<< HEAD",
      "a/b/c/package-lock.json/file": "the lockfile is a directory",
    },
    tmpdir(),
  );
  const found = message(join(directory, "a", "b", "c"));
  assert.ok(found.includes(`The lockfile ${join(directory, "package-lock.json")} does not list the package.`), found);
});
