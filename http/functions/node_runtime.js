// Mayfly's client of Lambda's Runtime API for Node.js: node --input-type=module --eval TEXT FILE.HANDLER
import { existsSync } from "node:fs";
import { Agent, request } from "node:http";
import module from "node:module";
import { delimiter, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const agent = new Agent({ keepAlive: true });
// Unlike fetch, waits hours for a response.
const call = (method, path, body, headers = {}) =>
  new Promise((done, fail) => {
    const asked = request(api + path, { agent, method, headers }, async (response) => {
      const pieces = [];
      for await (const piece of response) pieces.push(piece);
      done({ headers: response.headers, text: Buffer.concat(pieces).toString() });
    });
    asked.on("error", fail).end(body);
  });
const failed = (path, error) => {
  const [errorType, errorMessage] = [error?.name ?? "Error", String(error?.message ?? error)];
  const body = { errorType, errorMessage, trace: String(error?.stack ?? "").split("\n") };
  console.error(body.trace.join("\n"));
  return call("POST", path, JSON.stringify(body), { "Lambda-Runtime-Function-Error-Type": `Function.${body.errorType}` });
};

// Lambda's runtime brings the AWS SDK in NODE_PATH, where Node.js looks for packages that are required, but not for those that are
// imported. If one is missing, imports everything again, under another URL, and looks there too.
const parents = (process.env.NODE_PATH ?? "").split(delimiter).map((path) => `${pathToFileURL(dirname(path))}/`);
const hooks = `export const resolve = async (name, context, next) => {
  for (const parentURL of [context.parentURL, ...${JSON.stringify(parents)}])
    try {
      const found = await next(name, { ...context, parentURL });
      return found.url.startsWith("file:") && !found.url.includes("?") ? { ...found, url: found.url + "?again" } : found;
    } catch (error) {
      if (error.code !== "ERR_MODULE_NOT_FOUND" || /^[./]|:/.test(name)) throw error;
    }
  return next(name, context);
};`;
const load = (url) =>
  import(url).catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND" || !module.register) throw error;
    module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
    return import(`${url}?again`);
  });

let handler;
try {
  const named = process.argv.at(-1);
  const dot = named.indexOf(".", named.lastIndexOf("/") + 1);
  const base = resolve(process.env.LAMBDA_TASK_ROOT ?? ".", named.slice(0, dot));
  const file = [".mjs", ".js", ".cjs"].map((end) => base + end).find(existsSync);
  if (!file) throw Object.assign(new Error(`Cannot find module '${named.slice(0, dot)}'`), { name: "Runtime.ImportModuleError" });
  const loaded = await load(pathToFileURL(file));
  const exported = (from) => named.slice(dot + 1).split(".").reduce((at, name) => at?.[name], from);
  handler = exported(loaded) ?? exported(loaded.default);
  if (typeof handler !== "function")
    throw Object.assign(new Error(`${named} is undefined or not exported`), { name: "Runtime.HandlerNotFound" });
} catch (error) {
  await failed("/init/error", error);
  process.exit(1);
}

const context = (headers) => {
  const deadline = Number(headers["lambda-runtime-deadline-ms"]);
  return {
    awsRequestId: headers["lambda-runtime-aws-request-id"],
    callbackWaitsForEmptyEventLoop: true,
    clientContext: JSON.parse(headers["lambda-runtime-client-context"] ?? "null") ?? undefined,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: headers["lambda-runtime-invoked-function-arn"],
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
};
// A handler returns its result or a promise, or calls its third parameter.
const called = (event, about) =>
  new Promise((done, fail) => {
    const result = handler(event, about, (error, value) => (error ? fail(error) : done(value)));
    if (typeof result?.then === "function") result.then(done, fail);
    else if (result !== undefined || handler.length < 3) done(result);
  });

for (;;) {
  const next = await call("GET", "/invocation/next");
  const about = context(next.headers);
  process.env._X_AMZN_TRACE_ID = next.headers["lambda-runtime-trace-id"] ?? "";
  const path = `/invocation/${about.awsRequestId}`;
  try {
    const result = JSON.stringify((await called(JSON.parse(next.text), about)) ?? null);
    await call("POST", `${path}/response`, result, { "Content-Type": "application/json" });
  } catch (error) {
    await failed(`${path}/error`, error);
  }
}
