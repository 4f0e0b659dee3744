// Requests to the server that this page came from: the control API, DynamoDB's operations, and Lambda's event source mappings.
// A test can make the same requests.
//
// X-Mayfly-Account and X-Mayfly-Region, or the access key id of an Authorization header, name the account and region. The
// Authorization header carries no valid signature unless the server requires signatures (--require-signature). If it does, the
// page signs with a key that the user has typed and that stays in this page's memory.

/** @typedef {{ id: string, secret: string, token: string }} Key */

/** The server's error response. */
export class ServerError extends Error {
  /** The fault rule that caused the error. @type {any} */
  fault = null;
  /** @param {string} type @param {string} message @param {number} status */
  constructor(type, message, status) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

/** The server did not respond. */
export class ServerAway extends Error {
  constructor() {
    super("The server does not respond.");
  }
}

export const world = {
  account: sessionStorage.getItem("account") ?? "000000000000",
  region: sessionStorage.getItem("region") ?? "us-east-1",
  version: "",
  /** @type {Key | null} */
  key: null,
};

/** Events: "here", "away", "locked" (the server requires a signature), "world" (the account or region has changed). */
export const events = new EventTarget();
/** @param {string} name */
const announce = (name) => events.dispatchEvent(new Event(name));

/** @param {string} account @param {string} region */
export function choose(account, region) {
  world.account = account;
  world.region = region;
  sessionStorage.setItem("account", account);
  sessionStorage.setItem("region", region);
  announce("world");
}

// --- signatures

const text = new TextEncoder();
/** @param {ArrayBuffer} bytes */
const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
/** @param {string} data */
const digest = async (data) => hex(await crypto.subtle.digest("SHA-256", text.encode(data)));
/** @param {ArrayBuffer | Uint8Array} key @param {string} data */
async function hmac(key, data) {
  const imported = await crypto.subtle.importKey(
    "raw",
    /** @type {any} */ (key),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return crypto.subtle.sign("HMAC", imported, text.encode(data));
}

/** @param {string} character */
const percent = (character) => "%" + character.charCodeAt(0).toString(16).toUpperCase();
/** @param {string} value */
const encoded = (value) => encodeURIComponent(value).replace(/[!'()*]/g, percent);

/**
 * AWS Signature Version 4.
 * @param {string} service @param {string} method @param {string} path @param {Record<string, string>} headers @param {string} body
 */
async function sign(service, method, path, headers, body) {
  const key = /** @type {Key} */ (world.key);
  const [bare, query = ""] = path.split("?");
  const day = headers["X-Amz-Date"].slice(0, 8);
  if (key.token) headers["X-Amz-Security-Token"] = key.token;
  /** @type {Record<string, string>} */
  const signed = { host: location.host };
  for (const [name, value] of Object.entries(headers)) signed[name.toLowerCase()] = value;
  const names = Object.keys(signed).sort();
  const parameters = query
    .split("&")
    .filter(Boolean)
    .map((one) =>
      one
        .split("=")
        .map((part) => encoded(decodeURIComponent(part)))
        .join("="),
    )
    .sort();
  const canonical = [
    method,
    bare
      .split("/")
      .map((part) => encoded(part))
      .join("/"),
    parameters.join("&"),
    ...names.map((name) => name + ":" + signed[name].trim()),
    "",
    names.join(";"),
    await digest(body),
  ].join("\n");
  const scope = [day, world.region, service, "aws4_request"];
  /** @type {ArrayBuffer | Uint8Array} */
  let derived = text.encode("AWS4" + key.secret);
  for (const part of scope) derived = await hmac(derived, part);
  const toSign = ["AWS4-HMAC-SHA256", headers["X-Amz-Date"], scope.join("/"), await digest(canonical)].join("\n");
  headers.Authorization =
    `AWS4-HMAC-SHA256 Credential=${key.id}/${scope.join("/")}, SignedHeaders=${names.join(";")}, ` +
    `Signature=${hex(await hmac(derived, toSign))}`;
}

// --- asking

/**
 * @param {string} method @param {string} path @param {Record<string, string>} headers @param {string} body
 * @param {AbortSignal} [signal]
 */
async function ask(method, path, headers, body, signal) {
  headers["X-Amz-Date"] = new Date().toISOString().replace(/[-:]|[.]\d+/g, "");
  const service = path === "/" || path.startsWith("/_mayfly/") ? "dynamodb" : "lambda";
  if (world.key) {
    await sign(service, method, path, headers, body);
  } else if (!path.startsWith("/_mayfly/")) {
    const scope = `${world.account}/${headers["X-Amz-Date"].slice(0, 8)}/${world.region}/${service}/aws4_request`;
    headers.Authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`;
  }
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body || undefined,
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    announce("away");
    throw new ServerAway();
  }
  announce("here");
  if (response.ok) return response;
  throw await refusal(response);
}

/** @param {Response} response */
async function refusal(response) {
  const said = await response.text().catch(() => "");
  let error = new ServerError("HTTP " + response.status, said.trim() || "The response has no body.", response.status);
  try {
    const parsed = JSON.parse(said);
    const type =
      String(parsed.__type ?? response.headers.get("x-amzn-ErrorType") ?? error.type)
        .split("#")
        .pop()
        ?.split(":")[0] ?? "";
    error = new ServerError(type, parsed.message ?? parsed.Message ?? said, response.status);
    if (parsed.CancellationReasons) error.message += " " + JSON.stringify(parsed.CancellationReasons);
  } catch {
    // The body is not JSON, so it becomes the message.
  }
  if (/^(MissingAuthenticationToken|UnrecognizedClient|InvalidSignature|IncompleteSignature)/.test(error.type))
    events.dispatchEvent(new CustomEvent("locked", { detail: error }));
  return error;
}

/** @param {any} body */
const printed = (body) => (body === undefined ? "" : JSON.stringify(body));

/**
 * A call to the control API: `control("GET", "/clock")`.
 * @param {string} method @param {string} path @param {any} [body] @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function control(method, path, body, signal) {
  return (await controlled(method, path, body, signal)).json();
}

/** @param {string} method @param {string} path @param {any} [body] @param {AbortSignal} [signal] */
async function controlled(method, path, body, signal) {
  /** @type {Record<string, string>} */
  const headers = { "X-Mayfly-Account": world.account, "X-Mayfly-Region": world.region };
  if (method !== "GET") headers["Content-Type"] = "application/json";
  return ask(method, "/_mayfly" + path, headers, printed(body), signal);
}

/** Asks the server for its version and default region. */
export async function greet() {
  const index = await (await ask("GET", "/_mayfly/", {}, "")).json();
  world.version = index.version;
  if (!sessionStorage.getItem("region")) world.region = index.region;
}

/** @param {AbortSignal} [signal] */
export const metrics = async (signal) => (await controlled("GET", "/metrics", undefined, signal)).text();

/** The errors that each kind of fault rule causes. @type {Record<string, RegExp>} */
const errors_of_faults = {
  throttle: /^(ProvisionedThroughputExceeded|Throttling)Exception$|^RequestLimitExceeded$/,
  internal_server_error: /^InternalServerError$/,
  transaction_conflict: /^Transaction(Canceled|Conflict)Exception$/,
  replicated_write_conflict: /^ReplicatedWriteConflictException$/,
};

/**
 * The fault rule that made an operation fail: a rule that has been applied and matches the error, the operation and the table.
 * @param {ServerError} error @param {string} operation @param {any} input
 */
async function fault_behind(error, operation, input) {
  if (!Object.values(errors_of_faults).some((errors) => errors.test(error.type))) return null;
  const { rules } = await control("GET", "/faults");
  return rules.find(
    (/** @type {any} */ rule) =>
      rule.struck > 0 &&
      errors_of_faults[rule.fault]?.test(error.type) &&
      (!rule.operation || rule.operation === operation) &&
      (!rule.table || rule.table === input.TableName || Object.hasOwn(input.RequestItems ?? {}, rule.table)),
  );
}

/** @param {string} service @param {string} operation @param {any} input @param {AbortSignal} [signal] */
async function operate(service, operation, input, signal) {
  const headers = { "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": service + "." + operation };
  try {
    return await (await ask("POST", "/", headers, printed(input), signal)).json();
  } catch (error) {
    if (error instanceof ServerError) error.fault = await fault_behind(error, operation, input).catch(() => null);
    throw error;
  }
}

/**
 * An operation: `dynamodb("PutItem", {...})`.
 * @param {string} operation @param {any} input @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const dynamodb = (operation, input, signal) => operate("DynamoDB_20120810", operation, input, signal);

/**
 * An operation of DynamoDB Streams: `streams("DescribeStream", {...})`.
 * @param {string} operation @param {any} input @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const streams = (operation, input, signal) => operate("DynamoDBStreams_20120810", operation, input, signal);

/**
 * A call to Lambda's API: `lambda("GET", "/event-source-mappings/" + uuid)`.
 * @param {string} method @param {string} path after the version @param {any} [body]
 * @returns {Promise<Response>}
 */
export async function lambda(method, path, body) {
  return ask(method, "/2015-03-31" + path, body ? { "Content-Type": "application/json" } : {}, printed(body));
}

/**
 * Reads server-sent events until `signal` is aborted. (An EventSource cannot send the headers that name the account.)
 * @param {string} path @param {(event: string, data: any) => void} take @param {() => void} opened @param {AbortSignal} signal
 */
export async function follow(path, take, opened, signal) {
  const response = await controlled("GET", path, undefined, signal);
  opened();
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const pieces = rest.split("\n\n");
    rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      let event = "message",
        data = "";
      for (const line of piece.split("\n")) {
        if (line.startsWith("event: ")) event = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data) take(event, JSON.parse(data));
    }
  }
}

// --- the account's clock

/** The clock as the server last reported it, and the time of that report by this machine's clock. */
export const clock = { mode: "real", now: Date.now(), rate: 1, told: performance.now() };

/** The account's time, extrapolated from the last report. */
export function now() {
  if (clock.mode === "frozen") return clock.now;
  return clock.now + (performance.now() - clock.told) * (clock.mode === "rate" ? clock.rate : 1);
}

/** @param {any} answer of a call about the clock */
export function heard(answer) {
  if (answer.mode) clock.mode = answer.mode;
  if (answer.rate) clock.rate = answer.rate;
  clock.now = Date.parse(answer.now);
  clock.told = performance.now();
  announce("clock");
}
