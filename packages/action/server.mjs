// Starts a server that outlives this process, watches its start, and ends it.

import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { path, tail } from "./runner.mjs";

const pollMs = 20;
const healthMsMax = 5_000;

/**
 * The environment of the mayfly program: the step's environment without the action's inputs, the runner's tokens and the
 * job's profile for AWS, which are not meant for Mayfly. RUNNER_TRACKING_ID remains in it, by which the runner finds and ends
 * processes that are left when the job ends.
 */
export function environmentOfMayfly(added) {
  const isForeign = /^(INPUT_|STATE_|ACTIONS_|(AWS_PROFILE|AWS_DEFAULT_PROFILE|MAYFLY_EXIT_WITH_PARENT)$)/i;
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign.test(name))), ...added };
}

/** Starts a server whose log and standard output are files in `directory`. */
export function launch(program, options, directory, environment) {
  const log = join(directory, "mayfly.log");
  const output = join(directory, "output.txt");
  const descriptors = [openSync(output, "a"), openSync(log, "a")];
  const child = spawn(program, ["serve", ...options], {
    stdio: ["ignore", ...descriptors],
    cwd: path("."),
    detached: true,
    env: environment,
    windowsHide: true,
  });
  descriptors.forEach(closeSync);
  const server = { child, log, output, ended: undefined };
  child.on("error", (problem) => (server.ended = `cannot be started: ${problem.message}`));
  child.on("exit", (code, signal) => (server.ended ??= signal ? `was killed by ${signal}` : `exited with status ${code}`));
  return server;
}

/** Returns the server's URL once the server is healthy. Throws an Error if it ends before, or after `secondsMax`. */
export async function untilHealthy(server, secondsMax) {
  for (const deadline = Date.now() + secondsMax * 1000; ; await pause(pollMs)) {
    if (server.ended) throw new Error(`mayfly serve ${server.ended}: ${lastLine(server.log)}`);
    const url = urlIn(readFileSync(server.output, "utf8"));
    if (url && (await health(url)) === 200) {
      server.child.unref();
      return url;
    }
    if (Date.now() > deadline) throw new Error(`mayfly serve was not healthy within ${secondsMax} s (input 'wait-seconds').`);
  }
}

// docs/contract.md describes the line. A server that listens on all addresses can be reached on this machine's own.
function urlIn(output) {
  const url = /^mayfly listening on (https?:\/\/\S+)\r?\n/m.exec(output)?.[1];
  return url?.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:");
}

function lastLine(log) {
  const last = tail(log).trimEnd().split("\n").at(-1);
  return last.replace(/^mayfly: /, "") || "its log is empty";
}

/** The status of the server's health check: 200, or 503 if the server cannot write. Undefined if no server answers. */
export function health(url) {
  const { Agent, get } = url.startsWith("https:") ? https : http;
  // The agent ignores proxies. The certificate is not checked: the request contains no secret, and the answer is used for
  // nothing else.
  const agent = new Agent({ rejectUnauthorized: false });
  return new Promise((resolve) => {
    const request = get(`${url}/_mayfly/health`, { agent, timeout: healthMsMax }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(undefined));
  });
}

/** Ends a process: with SIGTERM, and with SIGKILL after `secondsMax`. Windows has no signals, so the process ends at once. */
export async function end(pid, secondsMax) {
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    if (!send(pid, signal)) return;
    for (const deadline = Date.now() + secondsMax * 1000; Date.now() < deadline; await pause(pollMs)) {
      if (!send(pid, 0) || isZombie(pid)) return;
    }
  }
}

function send(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

// In a container, no process may collect the exit status of a process whose parent has ended.
function isZombie(pid) {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
