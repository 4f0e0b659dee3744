// Tests files that another program holds, directories that cannot be created, and how a failed start is explained. The
// errors of Windows and macOS are made here, because these tests run on one platform.

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { ServerError } from "mayfly-dynamodb";

import { internal, node, project } from "./project.mjs";

const { onceFree, onceFreeSync, removeDirectory } = internal("files");
const { launch, withShortPath } = internal("launch");
const { endedEarly } = internal("ended");

const failure = (code) => Object.assign(new Error(`${code}: not now`), { code });

// An action that fails `times` times with an error and then returns "done".
function failing(times, code) {
  const action = () => {
    action.calls += 1;
    if (action.calls <= times) throw failure(code);
    return "done";
  };
  action.calls = 0;
  return action;
}

const soon = { platform: "win32", triesMax: 5, pauseMs: 1 };

for (const code of ["EBUSY", "EPERM", "EACCES", "ENOTEMPTY"]) {
  test(`on Windows, a file that is free after ${code} is used`, async () => {
    assert.equal(await onceFree(failing(4, code), soon), "done");
    assert.equal(onceFreeSync(failing(4, code), soon), "done");
  });
}

test("a file that stays held fails after the last try", async () => {
  const [later, sync] = [failing(100, "EBUSY"), failing(100, "EBUSY")];
  await assert.rejects(onceFree(later, soon), { code: "EBUSY" });
  assert.throws(() => onceFreeSync(sync, soon), { code: "EBUSY" });
  assert.deepEqual([later.calls, sync.calls], [5, 5]);
});

test("other errors, and all errors on other systems, fail at once", async () => {
  const missing = failing(1, "ENOENT");
  await assert.rejects(onceFree(missing, soon), { code: "ENOENT" });
  const denied = failing(1, "EACCES");
  assert.throws(() => onceFreeSync(denied, { ...soon, platform: "linux" }), { code: "EACCES" });
  assert.deepEqual([missing.calls, denied.calls], [1, 1]);
});

test("a temporary directory that is free after a moment is removed", async (t) => {
  const directory = join(project(t, {}), "mayfly-1");
  mkdirSync(directory);
  writeFileSync(join(directory, "server.log"), "a line\n");
  await removeDirectory(directory);
  assert.ok(!existsSync(directory));
});

test("a temporary directory that stays held is named in a warning, and no error is thrown", async () => {
  const warned = new Promise((resolve) => process.once("warning", resolve));
  const held = () => {
    throw failure("EBUSY");
  };
  await removeDirectory("C:\\Temp\\mayfly-1", soon, held);
  assert.equal(
    (await warned).message,
    "Mayfly cannot remove the temporary directory C:\\Temp\\mayfly-1 (EBUSY: not now). Another program, such as a virus " +
      "scanner, may hold a file in the directory. You can remove it later.",
  );
});

test("a missing directory for temporary files is reported with the variable that names it", async (t) => {
  const start = `
    const { Server } = require("mayfly-dynamodb");
    Server.start().catch((error) => console.log(error.name, error.problem, error.message));
  `;
  const directory = project(t, { "start.cjs": start });
  const nowhere = join(directory, "nowhere");
  const { output } = await node(directory, ["start.cjs"], { TMPDIR: nowhere, TEMP: nowhere, TMP: nowhere });
  const variable = process.platform === "win32" ? "TEMP" : "TMPDIR";
  assert.ok(output.startsWith(`ServerError no-directory Mayfly cannot create a directory in ${nowhere} (ENOENT: `), output);
  assert.ok(output.endsWith(`Set ${variable} to an existing directory in which this process can create files.\n`), output);
});

// A start that fails `times` times: spawn throws some errors, and the child emits others.
function starting(times, code) {
  const start = () => {
    start.calls += 1;
    const child = new EventEmitter();
    if (start.calls > times) return Object.assign(child, { pid: 7 });
    if (start.calls % 2 === 0) throw failure(code);
    process.nextTick(() => child.emit("error", failure(code)));
    return child;
  };
  start.calls = 0;
  return start;
}

test("a program that a virus scanner holds is started when the scanner has finished", async () => {
  const start = starting(4, "EBUSY");
  assert.equal((await launch("mayfly.exe", [], {}, soon, start)).pid, 7);
  assert.equal(start.calls, 5);
});

test("a program that stays held is reported with its file and the probable reason", async () => {
  await assert.rejects(launch("C:\\tests\\mayfly.exe", [], {}, soon, starting(5, "EPERM")), (error) => {
    assert.ok(error instanceof ServerError);
    assert.equal(error.problem, "locked");
    assert.equal(
      error.message,
      "C:\\tests\\mayfly.exe cannot be run (EPERM: not now): another program holds the file, or Windows denies access to it. " +
        "Wait until your virus scanner has checked the file, or exclude the file's directory from its checks.",
    );
    return true;
  });
});

test("a program that the system refuses is reported with advice", async () => {
  const refused = (code, platform) => launch("/tests/mayfly", [], {}, { ...soon, platform }, starting(1, code));
  await assert.rejects(refused("EACCES", "linux"), {
    problem: "ended",
    message: "/tests/mayfly cannot be run: EACCES: not now. Its file system may be mounted with noexec.",
  });
  for (const code of ["UNKNOWN", "EFTYPE"]) {
    await assert.rejects(refused(code, "win32"), {
      problem: "ended",
      message: `/tests/mayfly cannot be run: ${code}: not now. The file may be damaged, or a virus scanner may have blocked it.`,
    });
  }
});

test("on Windows, a program whose path is too long to be run is copied to the server's temporary directory", (t) => {
  const directory = project(t, { "mayfly.exe": "a program" });
  const long = join(directory, ...Array(6).fill("a directory that has a name of fifty characters....."), "mayfly.exe");
  mkdirSync(dirname(long), { recursive: true });
  writeFileSync(long, "the program with a long path");
  assert.equal(withShortPath(long, directory, "win32"), join(directory, "mayfly.exe"));
  assert.equal(readFileSync(join(directory, "mayfly.exe"), "utf8"), "the program with a long path");
  assert.equal(withShortPath(long, directory, "linux"), long);
  assert.equal(withShortPath("C:\\mayfly.exe", directory, "win32"), "C:\\mayfly.exe");
});

test("on Windows, the error for a program with a long path says that the path is too long", async () => {
  const long = `C:\\${"d".repeat(280)}\\mayfly.exe`;
  await assert.rejects(launch(long, [], {}, soon, starting(1, "ENOENT")), {
    problem: "ended",
    message:
      `${long} cannot be run: ENOENT: not now. Its path has 294 characters, and Windows may not run a program whose path has ` +
      "260 or more. Set MAYFLY_BINARY to a copy in a directory with a shorter path.",
  });
});

const early = (exit, log, platform) => endedEarly("/tests/mayfly", { exitCode: null, signalCode: null, ...exit }, log, platform);

test("a crash on Windows is reported with the number that names it", () => {
  assert.equal(
    early({ exitCode: 3221225781 }, "", "win32").message,
    "/tests/mayfly exited with status 3221225781 (0xC0000135) before it was ready. Its log is empty.",
  );
});

test("a program that macOS kills at its start is reported with the commands that sign and release it", () => {
  assert.equal(
    early({ signalCode: "SIGKILL" }, "", "darwin").message,
    "/tests/mayfly was killed by SIGKILL before it was ready. macOS kills programs that have no valid signature, and programs " +
      'that a browser downloaded. For a program that you built, run: codesign --force --sign - "/tests/mayfly". For a download ' +
      'that you trust, run: xattr -d com.apple.quarantine "/tests/mayfly". Its log is empty.',
  );
  assert.equal(
    early({ signalCode: "SIGKILL" }, "", "linux").message,
    "/tests/mayfly was killed by SIGKILL before it was ready. Its log is empty.",
  );
});

test("a port that the system reserves is reported with advice", () => {
  const denied = "2031-01-01 error mayfly cannot listen on 127.0.0.1:80: Permission denied";
  const message = (log, platform) => early({ exitCode: 1 }, log, platform).message;
  const begin = "/tests/mayfly exited with status 1 before it was ready. Choose another port (0 for a free one).";
  assert.equal(message(denied, "linux"), `${begin} Its log:\n  ${denied}`);
  const forbidden =
    "cannot listen on 127.0.0.1:8000: An attempt was made to access a socket in a way forbidden by its access permissions.";
  const netsh = 'Windows reserves some ports: "netsh interface ipv4 show excludedportrange protocol=tcp" lists them.';
  assert.equal(message(forbidden, "win32"), `${begin} ${netsh} Its log:\n  ${forbidden}`);
});
