// Starts a server in the background and sets up the environment of later steps. The runner runs this script for the action's
// step, and stop.mjs at the end of the job.
//
// Inputs are untrusted text. Each one becomes a single argument of a program that is started without a shell, or is checked.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { ownVersion, problemWith, programOf } from "./release.mjs";
import { addPath, fail, flag, input, lines, number, path, printForeign, printLog, say, saveState, setOutput, setVariable,
         words } from "./runner.mjs";
import { end, environmentOfMayfly, launch, untilHealthy } from "./server.mjs";

const endSecondsMax = 12; // the server's own limit for work in progress is 10 s

async function start() {
  const region = regionOfJob();
  const port = number("port", 0, 65535);
  const waitSeconds = number("wait-seconds", 1, 3600);
  const setsEnvironment = flag("set-environment");
  const snapshot = input("snapshot");
  if (snapshot && !input("data")) throw new Error("The input 'snapshot' needs the input 'data', the directory with the snapshot.");
  const options = ["--port", String(port), "--region", region, ...optionsOfInputs()];
  const imports = lines("import").map(importOf);
  const importOptions = words("import-options");
  const environment = environmentOfMayfly({ ...credentials(), AWS_REGION: region, AWS_DEFAULT_REGION: region });

  const program = input("program")
    ? givenProgram(environment)
    : await programOf(input("version") || ownVersion(), input("download-url"), environment);

  const server = launch(program, options, mkdtempSync(join(process.env.RUNNER_TEMP || tmpdir(), "mayfly-")), environment);
  if (server.child.pid !== undefined) saveState("pid", server.child.pid);
  try {
    const url = await untilHealthy(server, waitSeconds);
    saveState("url", url);
    const mayfly = (...command) => run(program, command, { ...environment, MAYFLY_URL: url });
    if (snapshot) restore(mayfly, snapshot);
    for (const { table, source } of imports) {
      say(mayfly("import", ...table, "--from", source, "--journal", "-", "--quiet", ...importOptions).trim());
    }
    const outputs = { url, port: /:(\d+)$/.exec(url)[1], log: server.log, program };
    for (const [name, value] of Object.entries(outputs)) setOutput(name, value);
    if (setsEnvironment) {
      for (const [name, value] of Object.entries(variablesOfLaterSteps(url, region))) setVariable(name, value);
      addPath(dirname(program));
    }
    saveState("log", server.log);
    say(`serves on ${url} and logs to ${server.log}`);
  } catch (problem) {
    printLog(server.log, { isFolded: false });
    if (server.child.pid !== undefined) await end(server.child.pid, endSecondsMax);
    server.child.unref();
    saveState("pid", "");
    throw problem;
  }
}

function variablesOfLaterSteps(url, region) {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: url,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS: url,
    AWS_ENDPOINT_URL_LAMBDA: url,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    MAYFLY_URL: url,
    // A profile can have credentials for AWS, which these variables would override.
    ...(process.env.AWS_PROFILE ? {} : credentials()),
  };
}

function regionOfJob() {
  const { MAYFLY_REGION, AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const region = input("region") || MAYFLY_REGION || AWS_REGION || AWS_DEFAULT_REGION || "us-east-1";
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region)) {
    throw new Error(`The region must consist of letters, digits and dashes, such as eu-west-1, got '${region}'.`);
  }
  return region;
}

function optionsOfInputs() {
  const own = { "--port": "port", "--data": "data", "--region": "region" };
  const given = words("options");
  for (const word of given) {
    const name = word.split("=")[0];
    if (name in own) throw new Error(`Set ${name} with the input '${own[name]}', not in 'options'.`);
    if (name === "--exit-with-parent") throw new Error("--exit-with-parent would end the server at the end of this step.");
  }
  const parameters = lines("schema-parameters");
  for (const parameter of parameters) {
    if (!/^[^=-][^=]*=/.test(parameter)) throw new Error(`The input 'schema-parameters' needs NAME=VALUE, got '${parameter}'.`);
  }
  return [
    ...(input("data") ? ["--data", path(input("data"))] : []),
    ...lines("schema").flatMap((file) => ["--schema", path(file)]),
    ...parameters.flatMap((parameter) => ["--schema-parameter", parameter]),
    ...given,
  ];
}

// A line of the input 'import': PATH or TABLE=PATH. Only files and directories are imported, never a server.
function importOf(line) {
  const [, table, file] = /^([A-Za-z0-9_.-]{3,255})=(.+)$/.exec(line) ?? [];
  for (const [source, tables] of [[line, []], ...(file ? [[file, [table]]] : [])]) {
    if (existsSync(path(source))) return { source: path(source), table: tables };
  }
  throw new Error(`The input 'import' names ${path(file ?? line)}, which does not exist.`);
}

// The dummy credentials to set. Mayfly accepts any credentials, so those that the job has for AWS are kept.
function credentials() {
  return process.env.AWS_ACCESS_KEY_ID ? {} : { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
}

function givenProgram(environment) {
  const program = path(input("program"));
  const problem = existsSync(program) ? problemWith(program, undefined, environment) : "the file does not exist";
  if (problem) throw new Error(`The input 'program' is ${program}, which is not a mayfly for this runner: ${problem}`);
  return program;
}

function restore(mayfly, wanted) {
  const { snapshots } = JSON.parse(mayfly("snapshot", "list", "--json"));
  const byId = snapshots.filter(({ id }) => id === wanted);
  const found = byId.length > 0 ? byId : snapshots.filter(({ name }) => name === wanted);
  if (found.length !== 1) {
    const list = snapshots.map(({ id, name }) => (name ? `${id} (${name})` : id)).join(", ") || "none";
    const problem =
      found.length === 0
        ? `There is no snapshot '${wanted}'.`
        : `${found.length} snapshots have the name '${wanted}'. Set the input 'snapshot' to an id.`;
    throw new Error(`${problem} The account's snapshots: ${list}.`);
  }
  mayfly("snapshot", "restore", found[0].id);
  say(`restored the snapshot ${wanted}`);
}

// Runs a command of the program and returns its standard output. Throws if it fails.
function run(program, command, env) {
  const result = spawnSync(program, command, {
    encoding: "utf8",
    cwd: path("."),
    env,
    maxBuffer: 16 * 1024 * 1024,
    windowsHide: true,
  });
  if (result.error) throw new Error(`mayfly ${command[0]} failed: ${result.error.message}`);
  if (result.stderr.trim()) printForeign(result.stderr);
  if (result.status === 0) return result.stdout;
  const last = result.stderr.trimEnd().split("\n").at(-1).replace(/^mayfly: /, "");
  throw new Error(`mayfly ${command[0]} ended with ${result.signal ?? `status ${result.status}`}: ${last}`);
}

// Node.js uses a proxy for downloads only if this variable is set when it starts. Runners behind a proxy set https_proxy.
const isProxied = process.env.https_proxy || process.env.HTTPS_PROXY;
if (isProxied && !process.env.NODE_USE_ENV_PROXY) {
  const env = { ...process.env, NODE_USE_ENV_PROXY: "1" };
  process.exitCode = spawnSync(process.execPath, [process.argv[1]], { stdio: "inherit", env }).status ?? 1;
} else {
  await start().catch(fail);
}
