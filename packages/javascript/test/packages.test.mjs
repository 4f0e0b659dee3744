// Tests the packages of all platforms: what `package` builds, and what package managers install from a registry. The
// programs of other platforms are files that have only the first bytes of a program.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";

import { binary, node, platform, platformNames, platforms, programFor, project, root, run, version, windows } from "./project.mjs";
import { filesOf, manifestOf, serveRegistry } from "./registry.mjs";

const script = process.env.MAYFLY_TEST_PACKAGE;
const built = process.env.MAYFLY_TEST_TARBALLS;
const main = join(built, `mayfly-dynamodb-${version}.tgz`);
const nameOf = (each) => `@mayfly-dynamodb/${each}`;

// npm's script: Windows has it next to Node; elsewhere, the npm on PATH is a link to it.
const npmScript = windows
  ? join(dirname(process.execPath), "node_modules/npm/bin/npm-cli.js")
  : realpathSync(process.env.PATH.split(delimiter).map((each) => join(each, "npm")).find(existsSync));

const out = mkdtempSync(join(tmpdir(), "mayfly-packages-"));
after(() => rmSync(out, { recursive: true, force: true }));
const tarballOf = (each, directory = out) => join(directory, `mayfly-dynamodb-${each}-${version}.tgz`);

// The bytes of the program in each platform's package. That of this platform is the real one.
const programs = Object.fromEntries(
  platforms.map((each) => {
    const other = Buffer.concat([programFor(each), Buffer.from(each)]);
    return [each, each === platform ? readFileSync(binary) : other];
  }),
);

const noticesOf = (each) => `The notices of the program for ${each}.\n`;

async function build(each, directory = out, verb = "program") {
  const file = join(out, `program-${each}`);
  writeFileSync(file, programs[each], { mode: 0o755 });
  writeFileSync(`${file}.notices`, noticesOf(each));
  const { status, output } = await run(root, "bash", [script, verb, directory, file, version]);
  assert.equal(status, 0, output);
  return output.trim().split("\n");
}

const printed = {};
before(async () => {
  for (const each of platforms) printed[each] = await build(each);
});

test("a build prints its tarball's path, and does not remove the tarballs of other platforms", () => {
  for (const each of platforms) {
    assert.deepEqual(printed[each].map((path) => basename(path)), [basename(tarballOf(each))]);
    assert.ok(existsSync(tarballOf(each)), each);
  }
});

for (const each of platforms) {
  test(`the package for ${each} contains the program with its mode, size, checksum and notices`, () => {
    const files = filesOf(tarballOf(each));
    const program = `package/bin/mayfly${each === "win32-x64" ? ".exe" : ""}`;
    const others = ["LICENSE", "NOTICES", "README.md", "package.json"].map((name) => `package/${name}`);
    assert.deepEqual([...files.keys()].sort(), [...others, program].sort());
    assert.deepEqual(files.get(program).bytes, programs[each]);
    assert.equal(files.get("package/NOTICES").bytes.toString(), noticesOf(each));
    assert.equal(files.get(program).mode, 0o755);
    for (const [path, { mode }] of files) if (path !== program) assert.equal(mode, 0o644, path);
    const [os, cpu] = each.split("-");
    const { description, repository, ...manifest } = manifestOf(tarballOf(each));
    assert.equal(description, `Mayfly's program for ${platformNames[each]}`);
    assert.match(repository.url, /github\.com\/mayfly-dynamodb\/mayfly\.git$/);
    assert.deepEqual(manifest, {
      name: nameOf(each),
      version,
      license: "Apache-2.0",
      preferUnplugged: true,
      os: [os],
      cpu: [cpu],
      files: ["bin", "NOTICES"],
      publishConfig: { access: "public" },
      mayfly: { size: programs[each].length, sha256: createHash("sha256").update(programs[each]).digest("hex") },
    });
    assert.ok(files.get("package/README.md").bytes.includes(`The mayfly program for ${platformNames[each]}.`));
  });
}

test("a package is the same, byte for byte, when it is built again later", async (t) => {
  const again = project(t, {}, tmpdir());
  await build("win32-x64", again);
  assert.deepEqual(readFileSync(tarballOf("win32-x64", again)), readFileSync(tarballOf("win32-x64")));
  for (const { mtime } of filesOf(tarballOf("win32-x64")).values()) assert.equal(mtime, 499162500); // the date that npm writes
});

test("a file that is not a program for one of the platforms is rejected", async (t) => {
  const directory = project(t, { program: "#!/bin/sh\n" }, tmpdir());
  const { status, output } = await run(root, "bash", [script, "program", directory, join(directory, "program"), version]);
  assert.equal(status, 1);
  assert.match(output, /program is not a program for Linux \(x86-64 or arm64\), macOS \(x86-64 or arm64\) or Windows \(x86-64\)/);
  assert.ok(!readdirSync(directory).some((name) => name.endsWith(".tgz")));
});

test("the main package depends on the packages of all platforms, in its own version", () => {
  const { optionalDependencies, dependencies } = manifestOf(main);
  assert.deepEqual(optionalDependencies, Object.fromEntries(platforms.map((each) => [nameOf(each), version])));
  assert.equal(dependencies, undefined);
});

test("a build for the next platform keeps a main package that is newer than its sources", async (t) => {
  const directory = project(t, {}, tmpdir());
  const kept = join(directory, basename(main));
  writeFileSync(kept, "the earlier build");
  assert.deepEqual((await build("win32-x64", directory, "build")).map((path) => basename(path)), [
    basename(tarballOf("win32-x64")),
    basename(main),
  ]);
  assert.equal(readFileSync(kept, "utf8"), "the earlier build");
  assert.deepEqual(readdirSync(directory).sort(), [basename(main), basename(tarballOf("win32-x64")), "package.json"].sort());
});

const described = { private: true, dependencies: { "mayfly-dynamodb": version } };

// Installs from a registry as users do after the release. Each package manager gets its own empty caches.
async function published(t) {
  const url = await serveRegistry(t, [main, ...platforms.map((each) => tarballOf(each))]);
  const caches = project(t, {}, tmpdir());
  const environment = {
    npm_config_registry: url,
    npm_config_cache: join(caches, "npm"),
    npm_config_store_dir: join(caches, "pnpm"),
    npm_config_cache_dir: join(caches, "pnpm-cache"),
    npm_config_userconfig: join(caches, "none"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    YARN_REGISTRY: url,
    YARN_CACHE_FOLDER: join(caches, "yarn"),
    YARN_GLOBAL_FOLDER: join(caches, "yarn-global"),
    YARN_NPM_REGISTRY_SERVER: url.replace(/\/$/, ""),
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    YARN_ENABLE_TELEMETRY: "0",
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
    CI: "",
  };
  const directory = project(
    t,
    {
      "package.json": JSON.stringify(described),
      "start.cjs": `
        const { findBinary, Server } = require("mayfly-dynamodb");
        const say = (error) => console.log("problem: " + error.problem + ": " + error.message);
        (async () => {
          console.log("binary: " + findBinary());
          await (await Server.start()).close();
          console.log("started");
        })().catch(say);
      `,
    },
    tmpdir(),
  );
  const run = async (...command) => {
    const { status, output } = await node(directory, command, { ...environment, PATH: process.env.PATH });
    assert.equal(status, 0, output);
    return output;
  };
  const npm = (...parameters) => run(npmScript, ...parameters);
  const installed = () => {
    const scope = join(directory, "node_modules/@mayfly-dynamodb");
    return existsSync(scope) ? readdirSync(scope).sort() : [];
  };
  const lockfile = join(directory, "package-lock.json");
  const listed = () => Object.keys(JSON.parse(readFileSync(lockfile, "utf8")).packages);
  return { directory, run, npm, installed, lockfile, listed };
}

test("npm installs only this platform's package, and its lockfile lists all", async (t) => {
  const { run, npm, installed, listed } = await published(t);
  await npm("install");
  assert.deepEqual(installed(), [platform]);
  for (const each of platforms) assert.ok(listed().includes(`node_modules/${nameOf(each)}`), each);
  assert.match(await run("start.cjs"), /^binary: .*\nstarted\n$/);
});

test("from one lockfile, npm installs the program for each platform", async (t) => {
  const { directory, npm, installed } = await published(t);
  await npm("install", "--package-lock-only");
  for (const each of platforms) {
    const [os, cpu] = each.split("-");
    await npm("ci", `--os=${os}`, `--cpu=${cpu}`);
    assert.deepEqual(installed(), [each]);
    const file = join(directory, "node_modules", nameOf(each), "bin", os === "win32" ? "mayfly.exe" : "mayfly");
    assert.deepEqual(readFileSync(file), programs[each]);
    if (!windows) assert.equal(statSync(file).mode & 0o777, 0o755);
  }
});

test("the lockfile of an npm with the bug npm/cli#4828 is reported, and the commands in the error repair it", async (t) => {
  const { directory, run, installed, lockfile, listed } = await published(t);
  const npm = (...parameters) => run(join(root, "managers/node_modules/npm/bin/npm-cli.js"), ...parameters);
  // The bug: npm writes a new lockfile for a node_modules that was installed on another platform.
  const other = platform === "darwin-arm64" ? "linux-x64" : "darwin-arm64";
  const elsewhere = ["install", `--os=${other.split("-")[0]}`, `--cpu=${other.split("-")[1]}`];
  await npm(...elsewhere);
  rmSync(lockfile);
  await npm(...elsewhere);
  assert.ok(!listed().includes(`node_modules/${nameOf(platform)}`));
  const broken = readFileSync(lockfile);

  rmSync(join(directory, "node_modules"), { recursive: true });
  await npm("ci");
  assert.deepEqual(installed(), []);
  const { output } = await node(directory, ["start.cjs"], { PATH: "/not/there" });
  assert.ok(output.startsWith("problem: no-binary: No mayfly program found"), output);
  assert.ok(output.includes(`The lockfile ${lockfile} does not list the package.`), output);

  const [, keeping] = /To keep the lockfile, run "npm ([^"]+)" instead/.exec(output);
  await npm(...keeping.split(" "));
  assert.match(await run("start.cjs"), /started/);

  writeFileSync(join(directory, "package.json"), JSON.stringify(described));
  writeFileSync(lockfile, broken);
  assert.match(output, /Delete package-lock\.json and node_modules, and run "npm install"\./);
  for (const each of [lockfile, join(directory, "node_modules")]) rmSync(each, { recursive: true });
  await npm("install");
  assert.match(await run("start.cjs"), /started/);
});

test("an installation without optional packages, or for another platform, is reported", async (t) => {
  const { directory, npm } = await published(t);
  const start = async () => (await node(directory, ["start.cjs"], { PATH: "/not/there" })).output;
  await npm("install", "--omit=optional");
  assert.match(await start(), /PATH has no mayfly\. Optional packages were left out, for example by --omit=optional\./);
  const other = platform === "darwin-arm64" ? "linux-x64" : "darwin-arm64";
  await npm("ci", `--os=${other.split("-")[0]}`, `--cpu=${other.split("-")[1]}`);
  assert.ok((await start()).includes(`The package ${nameOf(other)} is installed instead, so node_modules was installed on another`));
});

const managers = {
  pnpm: "pnpm/bin/pnpm.cjs",
  "Yarn 1": "yarn/bin/yarn.js",
  "Yarn 4": "@yarnpkg/cli-dist/bin/yarn.js",
};
for (const [name, program] of Object.entries(managers)) {
  test(`${name} installs this platform's package from a registry`, { timeout: 300_000 }, async (t) => {
    const { directory, run } = await published(t);
    if (name === "Yarn 4") {
      writeFileSync(join(directory, ".yarnrc.yml"), "nodeLinker: node-modules\n");
      writeFileSync(join(directory, "yarn.lock"), "");
    }
    await run(join(root, "managers/node_modules", program), "install");
    assert.match(await run("start.cjs"), /^binary: .*\nstarted\n$/);
  });
}
