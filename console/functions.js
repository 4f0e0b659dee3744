// An account's functions: their URLs, and a dialog that invokes one.
import { badge, button, element, empty, failure, fill, grid, labelled, tell } from "./elements.js";
import { confirmed, dialog, form_dialog } from "./dialogs.js";
import { control, lambda, now } from "./server.js";
import { parsed } from "./values.js";

/** An event as a trigger sends it, with the record of an item that TTL deleted. */
const sample_event = () => ({
  Records: [
    {
      eventID: "1",
      eventName: "REMOVE",
      eventVersion: "1.1",
      eventSource: "aws:dynamodb",
      awsRegion: "us-east-1",
      userIdentity: { type: "Service", principalId: "dynamodb.amazonaws.com" },
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(now() / 1000),
        Keys: { id: { S: "1" } },
        OldImage: { id: { S: "1" }, ttl: { N: String(Math.floor(now() / 1000)) } },
        SequenceNumber: "100000000000000000001",
        SizeBytes: 26,
        StreamViewType: "NEW_AND_OLD_IMAGES",
      },
    },
  ],
});

/** A function's error as text: its status, type and message. Any of them can be missing. @param {any} failure */
export const failure_text = ({ status, error, type, message }) =>
  [status || "no answer", error, [type, message].filter(Boolean).join(": ")].filter(Boolean).join(" ");

/** @param {HTMLElement} place @param {AbortSignal} signal */
export async function draw_functions(place, signal) {
  const { functions } = await control("GET", "/functions", undefined, signal);
  const again = () => draw_functions(place, signal);
  const remove = async (/** @type {string} */ name) => {
    const question = `Triggers of ${name} wait with “Function not found” until you register it again.`;
    if (!(await confirmed(question, "Remove the function"))) return;
    await control("DELETE", "/functions/" + encodeURIComponent(name), {});
    await again();
  };
  fill(
    place,
    element(
      "div",
      { class: "row middle between" },
      element("h2", { id: "functions" }, "Functions"),
      button("Register a function", () => register(again), { class: "small" }),
    ),
    functions.length
      ? grid(
          "Functions",
          ["Name", "URL", ["Timeout", "right"], ""],
          functions.map((/** @type {any} */ one) => [
            element("b", {}, one.name),
            element("code", {}, one.url),
            one.timeout_seconds + " s",
            element(
              "span",
              { class: "row" },
              button("Invoke", () => invoke(one.name), { class: "small", "aria-label": "Invoke " + one.name }),
              button("Remove", () => remove(one.name), {
                class: "small danger",
                "aria-label": "Remove the function " + one.name,
              }),
            ),
          ]),
        )
      : empty(
          "No functions yet. A function is any HTTP endpoint that takes a POST with the event: ",
          "a Lambda runtime emulator, or a few lines in your test.",
        ),
  );
}

/** @param {() => Promise<unknown>} done */
function register(done) {
  const name = element("input", { spellcheck: "false", placeholder: "reminder", autofocus: true });
  const url = element("input", { spellcheck: "false", class: "mono", placeholder: "http://127.0.0.1:9000/" });
  const timeout = element("input", { type: "number", min: 0.001, step: "any", placeholder: "60" });
  form_dialog(
    "Register a function",
    [labelled("Name", name), labelled("URL", url), labelled("Timeout in seconds", timeout)],
    "Register",
    async () => {
      if (!name.value.trim()) throw new Error("Name is required, for example reminder.");
      await control("PUT", "/functions/" + encodeURIComponent(name.value.trim()), {
        url: url.value.trim(),
        timeout_seconds: timeout.value ? Number(timeout.value) : undefined,
      });
      tell(`${name.value.trim()} is registered.`);
    },
    done,
  );
}

/** @param {string} name */
function invoke(name) {
  const event = element("textarea", { rows: 14, spellcheck: "false" });
  event.value = JSON.stringify(sample_event(), null, 2);
  const answered = element("div", { class: "stack", role: "status" });
  const call = async () => {
    fill(answered);
    try {
      const body = parsed(event.value, "The event", '{"Records": []}');
      const response = await lambda("POST", `/functions/${encodeURIComponent(name)}/invocations`, body);
      const error = response.headers.get("x-amz-function-error");
      const text = await response.text();
      fill(
        answered,
        element(
          "div",
          { class: "row middle" },
          element("b", {}, "Answer"),
          badge(error ? "failed: " + error : "succeeded", error ? "bad" : "good"),
        ),
        element("pre", { class: "mono", tabindex: 0 }, pretty(text) || "(empty)"),
      );
    } catch (error) {
      fill(answered, failure(error));
    }
  };
  dialog(
    "Invoke " + name,
    [labelled("Event", event), answered],
    [
      button("Reset the event", () => void (event.value = JSON.stringify(sample_event(), null, 2))),
      button("Invoke", call, { class: "primary" }),
    ],
  );
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
