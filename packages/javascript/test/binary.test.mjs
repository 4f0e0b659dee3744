// Tests how the program is found on every platform, and the errors if it cannot be found or run.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";

import { findBinary, Server, ServerError } from "mayfly-dynamodb";

import { binary, internal, node, project, root, run, version, windows } from "./project.mjs";
import { platform, platformNames as names, platforms, programFor } from "./project.mjs";

const { find } = internal("binary");

const problem = (name, message) => (error) => {
  assert.ok(error instanceof ServerError, error.stack);
  assert.equal(error.problem, name);
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

const host = (platform) => ({ os: platform.split("-")[0], cpu: platform.split("-")[1] });
const program = windows ? "mayfly.exe" : "mayfly";
const noMode = { skip: windows && "Windows has no such permission" };

test("the program in the platform's package is found", () => {
  const found = findBinary(undefined, { PATH: "" });
  assert.equal(found, join(root, "node_modules/@mayfly-dynamodb", platform, "bin", program));
});

test("MAYFLY_BINARY overrides the platform's package, and an argument overrides both", () => {
  assert.equal(findBinary(undefined, { MAYFLY_BINARY: binary }), binary);
  assert.equal(findBinary(binary, { MAYFLY_BINARY: "/not/there" }), binary);
});

test("no other program is tried if a configured program does not exist", () => {
  assert.throws(
    () => findBinary(undefined, { MAYFLY_BINARY: "/not/there/mayfly", PATH: process.env.PATH }),
    problem("binary-missing", /^MAYFLY_BINARY is set to \/not\/there\/mayfly, but there is no such file\.$/),
  );
  assert.throws(
    () => findBinary("/not/there/mayfly"),
    problem("binary-missing", /^The option binary is set to \/not\/there\/mayfly, but there is no such file\.$/),
  );
});

test("a file that is not executable is rejected", noMode, (t) => {
  const path = join(project(t, { mayfly: "a program, one day" }), "mayfly");
  assert.throws(() => findBinary(path), problem("binary-missing", /which is not executable: chmod \+x .*mayfly$/));
});

// Creates a directory whose path has a space and letters beyond ASCII, with a package for each platform in `bytes`.
function packages(t, bytes) {
  const directory = join(project(t, {}, tmpdir()), "my projects", "Zürich 時計", "node_modules");
  const scope = join(directory, "@mayfly-dynamodb");
  const file = (name) => join(scope, name, "bin", name.startsWith("win32") ? "mayfly.exe" : "mayfly");
  for (const [name, content] of Object.entries(bytes)) {
    mkdirSync(join(scope, name, "bin"), { recursive: true });
    writeFileSync(file(name), content, { mode: 0o755 });
    const mayfly = { size: content.length, sha256: createHash("sha256").update(content).digest("hex") };
    writeFileSync(join(scope, name, "package.json"), JSON.stringify({ name: `@mayfly-dynamodb/${name}`, mayfly }));
  }
  const path = (name) => join(directory, name, "package.json");
  const packageJson = (name) => (statSync(path(name), { throwIfNoEntry: false }) ? path(name) : undefined);
  return { directory, packageJson, file };
}

// Finds the program as if this process ran on another platform.
const findOn = (platform, { packageJson, directory }, more = {}) =>
  find({ host: host(platform), packageJson, environment: {}, directories: [directory], ...more });

for (const each of platforms) {
  test(`on ${each}, the program in that platform's package is found`, (t) => {
    const bytes = Object.fromEntries(platforms.map((name) => [name, programFor(name)]));
    const installed = packages(t, bytes);
    assert.equal(findOn(each, installed), installed.file(each));
  });

  test(`on ${each}, a program for any other platform is rejected`, (t) => {
    for (const other of platforms.filter((name) => name !== each)) {
      const path = join(project(t, {}), "mayfly");
      writeFileSync(path, programFor(other), { mode: 0o755 });
      const attempt = () => find({ named: path, host: host(each), environment: {} });
      if (each.startsWith("darwin") && other.startsWith("darwin")) {
        assert.equal(attempt(), path, "Rosetta may run it");
        continue;
      }
      const message =
        `${path} is a program for ${names[other]}, not for ${names[each]}. Set the option binary to a program for this ` +
        "platform, or remove the setting to use the package's own program.";
      assert.throws(attempt, problem("wrong-platform", message));
    }
  });
}

test("a universal program for macOS is accepted on both architectures", (t) => {
  const path = join(project(t, {}), "mayfly");
  const bytes = Buffer.alloc(4096);
  bytes.write("cafebabe00000002", "hex");
  bytes.writeUInt32BE(0x01000007, 8);
  bytes.writeUInt32BE(0x0100000c, 28);
  writeFileSync(path, bytes, { mode: 0o755 });
  for (const each of ["darwin-arm64", "darwin-x64"]) assert.equal(find({ named: path, host: host(each) }), path);
  assert.throws(
    () => find({ named: path, host: host("linux-x64") }),
    problem("wrong-platform", / is a program for macOS on x64 and arm64, not for Linux on x64\. /),
  );
});

test("a file that is not a program is rejected, whatever its bytes are", (t) => {
  const path = join(project(t, {}), "mayfly");
  const mz = Buffer.alloc(64);
  mz.write("MZ");
  mz.writeUInt32LE(0xfffffff0, 60); // the PE header would be far beyond the end of the file
  const universal = Buffer.from("cafebabeffffffff" + "00".repeat(40), "hex");
  const compressed = Buffer.from("\x1f\x8b".padEnd(4096, "gzip"), "latin1");
  for (const bytes of [Buffer.alloc(0), Buffer.from("MZ"), mz, universal, compressed]) {
    writeFileSync(path, bytes, { mode: 0o755 });
    for (const each of platforms) {
      const what = each === "win32-x64" ? "a program for Windows" : `a program for ${names[each].split(" ")[0]} or a script`;
      assert.throws(
        () => find({ named: path, host: host(each) }),
        problem("wrong-platform", new RegExp(`mayfly is not ${what}\\. It may be incomplete, damaged or still compressed\\. `)),
      );
    }
  }
});

test("a script is accepted where the system runs scripts", (t) => {
  const path = join(project(t, { mayfly: "#!/bin/sh\nexec mayfly-debug \"$@\"\n" }), "mayfly");
  assert.equal(find({ named: path, host: host("linux-x64") }), path);
  const onWindows = () => find({ named: path, host: host("win32-x64") });
  assert.throws(onWindows, problem("wrong-platform", /is not a program for Windows\./));
});

test("on Windows, the extension .exe can be left out of MAYFLY_BINARY", (t) => {
  const directory = project(t, {});
  writeFileSync(join(directory, "mayfly.exe"), programFor("win32-x64"), { mode: 0o755 });
  const environment = { MAYFLY_BINARY: join(directory, "mayfly") };
  assert.equal(find({ environment, host: host("win32-x64") }), join(directory, "mayfly.exe"));
});

test("on Windows, mayfly.exe is looked for on PATH, whose directories may be quoted", (t) => {
  const directory = project(t, {});
  for (const name of ["mayfly", "mayfly.cmd", "mayfly.ps1"]) writeFileSync(join(directory, name), "npm's script", { mode: 0o755 });
  const path = (text) => findOn("win32-x64", packages(t, {}), { environment: { PATH: text } });
  assert.throws(() => path(directory), problem("no-binary", /^No mayfly program found for Windows on x64: /));
  writeFileSync(join(directory, "mayfly.exe"), programFor("win32-x64"), { mode: 0o755 });
  assert.equal(path(`${delimiter}"${directory}"${delimiter}`), join(directory, "mayfly.exe"));
});

test("a platform without a program is named, with other ways to get a server", (t) => {
  for (const [without, name] of [
    ["freebsd-x64", "freebsd on x64"],
    ["win32-arm64", "Windows on arm64"],
    ["linux-riscv64", "Linux on riscv64"],
  ]) {
    assert.throws(
      () => findOn(without, packages(t, { "linux-x64": programFor("linux-x64") })),
      problem(
        "no-binary",
        `Mayfly has no program for ${name}, and PATH has no mayfly. Build Mayfly from source ` +
          "(https://github.com/mayfly-dynamodb/mayfly) and set MAYFLY_BINARY to the program. You can also run a server on " +
          "another machine or from Mayfly's container image, and set MAYFLY_URL to its address.",
      ),
    );
  }
});

test("a program of the wrong size is reported as damaged", (t) => {
  const installed = packages(t, { "darwin-arm64": programFor("darwin-arm64") });
  const file = installed.file("darwin-arm64");
  truncateSync(file, 300);
  assert.throws(
    () => findOn("darwin-arm64", installed),
    problem(
      "damaged",
      `The program ${file} is damaged: it has 300 bytes instead of 512. Delete ${dirname(dirname(file))} and install your ` +
        "packages again. If that does not help, check whether the disk is full, or whether a virus scanner has changed the file.",
    ),
  );
});

test("a program that a virus scanner has removed is reported", (t) => {
  const installed = packages(t, { "win32-x64": programFor("win32-x64") });
  const file = installed.file("win32-x64");
  truncateSync(file, 0);
  assert.throws(() => findOn("win32-x64", installed), problem("damaged", /it has 0 bytes instead of 512\./));
  rmSync(file);
  assert.throws(() => findOn("win32-x64", installed), problem("damaged", /mayfly\.exe is damaged: it is missing\. /));
});

// Creates a project with this platform's real packages, as npm installs them.
function installedProject(t) {
  const directory = project(t, { "start.cjs": starter }, tmpdir());
  for (const name of ["mayfly-dynamodb", `@mayfly-dynamodb/${platform}`]) {
    cpSync(join(root, "node_modules", name), join(directory, "node_modules", name), { recursive: true });
  }
  return { directory, file: join(directory, "node_modules/@mayfly-dynamodb", platform, "bin", program) };
}
const starter = `
  const { Server } = require("mayfly-dynamodb");
  Server.start().then(
    (server) => { console.log("started"); return server.close(); },
    (error) => console.log(error.problem, error.message),
  );
`;

test("a program whose bytes have changed is reported as damaged when it does not start", async (t) => {
  const { directory, file } = installedProject(t);
  assert.equal((await node(directory, ["start.cjs"])).output, "started\n");
  const { size } = statSync(file);
  truncateSync(file, 4096);
  truncateSync(file, size); // the rest of the file is zeros
  const { output } = await node(directory, ["start.cjs"]);
  assert.ok(
    output.startsWith(
      `damaged The program ${file} is damaged: its SHA-256 checksum differs from the one that its package names. Delete ` +
        `${dirname(dirname(file))} and install your packages again. `,
    ),
    output,
  );
});

test("a program that lost its permission to be executed is given it again", noMode, async (t) => {
  const { directory, file } = installedProject(t);
  chmodSync(file, 0o644);
  assert.equal((await node(directory, ["start.cjs"])).output, "started\n");
  assert.equal(statSync(file).mode & 0o777, 0o755);
});

const linuxOnly = { skip: process.platform !== "linux" && "only Linux has this error" };
test("a program that cannot be executed is reported with the reason", linuxOnly, async (t) => {
  // An ELF file whose loader does not exist, as a program for glibc has on Alpine.
  const path = join(project(t, {}), "mayfly");
  const bytes = readFileSync(process.execPath).subarray(0, 4096);
  const loader = bytes.indexOf("/lib");
  assert.ok(loader > 0, "Node is linked dynamically");
  bytes.write("/not", loader);
  writeFileSync(path, bytes, { mode: 0o755 });
  await assert.rejects(
    Server.start({ binary: path }),
    problem(
      "ended",
      `${path} cannot be run: spawn ${path} ENOENT. The file exists, but its loader or interpreter does not. A program that was ` +
        "built for glibc does not run on Alpine.",
    ),
  );
});

// Creates a project that has only the main package, as if the platform's package could not be installed.
function withoutPlatform(t) {
  const directory = project(t, { "find.cjs": 'console.log(require("mayfly-dynamodb").findBinary());' }, tmpdir());
  cpSync(join(root, "node_modules/mayfly-dynamodb"), join(directory, "node_modules/mayfly-dynamodb"), { recursive: true });
  return directory;
}

test("without the platform's package, the mayfly on PATH is found", async (t) => {
  const directory = withoutPlatform(t);
  cpSync(binary, join(directory, program));
  const { output } = await node(directory, ["find.cjs"], { PATH: `/not/there${delimiter}${directory}` });
  assert.equal(output.trim(), join(directory, program));
});

test("if no program is found, the error says how to get one", async (t) => {
  const { status, output } = await node(withoutPlatform(t), ["find.cjs"], { PATH: "/not/there" });
  assert.equal(status, 1);
  const message =
    `No mayfly program found for ${names[platform]}: the package @mayfly-dynamodb/${platform} is not installed, and PATH has ` +
    "no mayfly. Optional packages were left out, for example by --omit=optional. Delete node_modules, and run \"npm install\" " +
    "on this machine, with optional packages. You can also set MAYFLY_BINARY to a mayfly that you have built, or set MAYFLY_URL " +
    "to the address of a running server.";
  assert.ok(output.includes(message), output);
});

test("if node_modules was installed on another platform, the error says so", (t) => {
  const installed = packages(t, { "linux-x64": programFor("linux-x64") });
  assert.throws(
    () => findOn("darwin-arm64", installed),
    problem(
      "no-binary",
      "No mayfly program found for macOS on arm64: the package @mayfly-dynamodb/darwin-arm64 is not installed, and PATH has no " +
        "mayfly. The package @mayfly-dynamodb/linux-x64 is installed instead, so node_modules was installed on another platform, " +
        'or by a Node for another architecture. Delete node_modules, and run "npm install" on this machine. You can also set ' +
        "MAYFLY_BINARY to a mayfly that you have built, or set MAYFLY_URL to the address of a running server.",
    ),
  );
});

test("an entry of PATH that cannot be read is passed over", (t) => {
  const directory = project(t, {});
  writeFileSync(join(directory, "mayfly"), programFor("linux-x64"), { mode: 0o755 });
  const unreadable = join(directory, "d".repeat(300)); // a name that is too long for the file system
  const environment = { PATH: `${unreadable}${delimiter}${directory}` };
  assert.equal(findOn("linux-x64", packages(t, {}), { environment }), join(directory, "mayfly"));
});

// The command of the package, as package managers put it on PATH.
const command = ["node_modules/mayfly-dynamodb/bin/mayfly.js"];

const links = { skip: windows && "package managers put mayfly.cmd there" };
test("the command mayfly skips itself when it searches PATH for the program", links, async (t) => {
  const directory = withoutPlatform(t);
  symlinkSync("node_modules/mayfly-dynamodb/bin/mayfly.js", join(directory, "mayfly"));
  const path = `${directory}${delimiter}${dirname(process.execPath)}`;
  const { status, output } = await run(directory, join(directory, "mayfly"), ["--version"], { PATH: path });
  assert.equal(status, 1);
  assert.match(output, /^mayfly: No mayfly program found for /);
});

test("the command mayfly runs the program and exits with its status", async () => {
  const shown = await node(root, [...command, "--version"]);
  assert.equal(shown.status, 0);
  assert.ok(shown.output.includes(version), shown.output);
  const wrong = await node(root, [...command, "--no-such-option"]);
  assert.notEqual(wrong.status, 0);
  assert.equal(wrong.status, (await run(root, binary, ["--no-such-option"])).status);
});
