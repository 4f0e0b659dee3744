// Tries to use a server of another origin. `settings` is {mayfly, report}. Reports {tried, read}: the names of all
// attempts, and, by the name of the attempt, the text that the page could read.
const read = {};
const tried = [];

const authorization =
  "AWS4-HMAC-SHA256 Credential=test/20240101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0";
const presigned =
  "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=test%2F20240101%2Fus-east-1%2Flambda%2Faws4_request" +
  "&X-Amz-Date=20240101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0";
const mappings = "/2015-03-31/event-source-mappings/";
const mapping = JSON.stringify({
  EventSourceArn: "arn:aws:dynamodb:us-east-1:000000000000:table/secrets/stream/2024-01-01T00:00:00.000",
  FunctionName: "f",
  StartingPosition: "TRIM_HORIZON",
  DestinationConfig: { OnFailure: { Destination: "file:///tmp/mayfly-browser-test" } },
});
const table = JSON.stringify({
  TableName: "theirs",
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
});
const operation = (name, body) => ({
  method: "POST",
  body,
  headers: {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810." + name,
    "X-Amz-Date": "20240101T000000Z",
    Authorization: authorization,
  },
});
const json = (method, body) => ({ method, body, headers: { "Content-Type": "application/json" } });

const soon = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 3000))]);

// A response with status 403 reveals nothing about the server's data.
async function attempt(name, path, options = {}) {
  tried.push(name);
  try {
    const answer = await soon(fetch(settings.mayfly + path, { cache: "no-store", ...options }));
    const text = answer && (await soon(answer.text()));
    if (text && answer.status !== 403) read[name] = text;
  } catch {
    // The browser blocked the request.
  }
}

async function element(name, tag, attributes) {
  tried.push(name);
  const added = document.createElement(tag);
  const done = new Promise((resolve) => {
    added.onload = () => resolve("load");
    added.onerror = () => resolve("error");
  });
  Object.assign(added, attributes);
  document.body.append(added);
  await soon(done);
  return added;
}

async function form(name, path, type, fields) {
  tried.push(name);
  const frame = document.createElement("iframe");
  frame.name = "frame" + tried.length;
  document.body.append(frame);
  const sent = document.createElement("form");
  Object.assign(sent, { method: "POST", action: settings.mayfly + path, enctype: type, target: frame.name });
  for (const [key, value] of Object.entries(fields)) {
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name: key, value });
    sent.append(input);
  }
  document.body.append(sent);
  const loaded = new Promise((resolve) => (frame.onload = resolve));
  sent.submit();
  await soon(loaded);
}

function peek(name, open) {
  tried.push(name);
  return soon(
    new Promise((resolve) => {
      const opened = open();
      opened.onmessage = (event) => {
        read[name] = String(event.data);
        resolve();
      };
      opened.onopen = () => (read[name] = "opened");
      opened.onerror = resolve;
    }),
  );
}

async function sandboxed() {
  tried.push("sandboxed frame");
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-forms";
  const script = `fetch(${JSON.stringify(settings.mayfly + "/_mayfly/clock")}).then(a => a.text().then(t => parent.postMessage(a.status === 403 ? "" : t, "*")), () => parent.postMessage("", "*"));
    fetch(${JSON.stringify(settings.mayfly + mappings + presigned)}, {method: "POST", mode: "no-cors", body: ${JSON.stringify(mapping)}});`;
  const told = new Promise((resolve) => addEventListener("message", (event) => resolve(event.data), { once: true }));
  frame.srcdoc = `<script>${script.replaceAll("</", "<\\/")}</` + `script>`;
  document.body.append(frame);
  const text = await soon(told);
  if (text) read["sandboxed frame"] = text;
}

async function main() {
  // Requests without a preflight, which any page can send anywhere.
  for (const mode of ["no-cors", "cors"]) {
    await attempt(`a mapping as text, ${mode}`, mappings + presigned, { method: "POST", mode, body: mapping });
    await attempt(`a mapping as bytes, ${mode}`, mappings + presigned, { method: "POST", mode, body: new Blob([mapping]) });
    await attempt(`a payload, ${mode}`, "/2015-03-31/functions/f/invocations" + presigned, { method: "POST", mode, body: "{}" });
    await attempt(`a reset as text, ${mode}`, "/_mayfly/reset", { method: "POST", mode, body: "{}" });
    await attempt(`an advance as text, ${mode}`, "/_mayfly/clock/advance", { method: "POST", mode, body: '{"seconds":60}' });
    for (const path of ["/", "/_mayfly/health", "/_mayfly/clock", "/_mayfly/accounts", "/_mayfly/console", "/_mayfly/console/page.js", "/_mayfly/metrics", mappings + presigned]) {
      await attempt(`GET ${path}` + (mode === "cors" ? "" : ", no-cors"), path, { mode });
    }
  }
  await form("a mapping by a form", mappings + presigned, "text/plain", { [mapping.slice(0, -1) + ',"x":"']: '"}' });
  await form("a reset by a form", "/_mayfly/reset", "application/x-www-form-urlencoded", {});
  await form("a table by a form", "/" + presigned, "multipart/form-data", { a: table });
  tried.push("beacon");
  navigator.sendBeacon(settings.mayfly + mappings + presigned, mapping);
  navigator.sendBeacon(settings.mayfly + "/_mayfly/reset", new Blob(["{}"], { type: "application/json" }));

  // Requests with a preflight.
  await attempt("scan", "/", operation("Scan", '{"TableName":"secrets"}'));
  await attempt("create a table", "/", operation("CreateTable", table));
  await attempt("scan without a signature", "/", { ...operation("Scan", '{"TableName":"secrets"}'), credentials: "include" });
  await attempt("clock", "/_mayfly/clock");
  await attempt("freeze", "/_mayfly/clock", json("PUT", '{"mode":"real"}'));
  await attempt("faults", "/_mayfly/faults", json("DELETE"));
  await attempt("a mapping as JSON", mappings, { ...json("POST", mapping), headers: { "Content-Type": "application/json", Authorization: authorization } });

  // Other ways to load a URL.
  await Promise.all(Array.from({ length: 260 }, (_, i) => element("image", "img", { src: settings.mayfly + "/_mayfly/events?" + i })));
  await element("script", "script", { src: settings.mayfly + "/_mayfly/clock" });
  const frame = await element("frame", "iframe", { src: settings.mayfly + "/_mayfly/clock" });
  try {
    const text = frame.contentDocument.body.innerText;
    if (!text.includes("mayfly#Forbidden") && text) read.frame = text;
  } catch {
    // The frame shows another origin's document.
  }
  await peek("events", () => new EventSource(settings.mayfly + "/_mayfly/events"));
  await peek("socket", () => new WebSocket((settings.mayfly || location.origin).replace("http", "ws") + "/_mayfly/events"));
  await sandboxed();

  await fetch(settings.report, { method: "POST", mode: "no-cors", body: JSON.stringify({ tried, read }) });
}
main();
