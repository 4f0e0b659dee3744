// The Triggers pane: event source mappings, their progress, and the functions that they call.
import {
  badge,
  button,
  counted,
  element,
  empty,
  fill,
  grid,
  intro,
  labelled,
  moment,
  panel,
  part,
  repeat,
  select,
  tell,
} from "./elements.js";
import { records } from "./advanced.js";
import { confirmed, dialog, form_dialog } from "./dialogs.js";
import { draw_functions, failure_text } from "./functions.js";
import { control, dynamodb, lambda } from "./server.js";
import { all_names, link_to } from "./names.js";

const look_every_ms = 3000;

/** The filter pattern that matches the records of items that TTL deleted. */
const only_expired = { userIdentity: { type: ["Service"], principalId: ["dynamodb.amazonaws.com"] } };

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  const triggers = panel("triggers", "whole");
  const functions = panel("functions", "whole");
  place.append(
    intro(
      "Triggers",
      "A trigger (event source mapping) sends a table's changes to a function, which is an HTTP endpoint.",
    ),
    element("div", { class: "grid" }, triggers, functions),
  );
  const list = element("div", {});
  fill(
    triggers,
    element(
      "div",
      { class: "row middle between" },
      element("h2", { id: "triggers" }, "Triggers"),
      button("New trigger", () => create_trigger(look), { class: "small" }),
    ),
    list,
  );
  const look = () => draw_triggers(list, signal, look);
  await Promise.all([part(list, signal, look), part(functions, signal, () => draw_functions(functions, signal))]);
  repeat(signal, look_every_ms, async () => list.contains(document.activeElement) || look());
}

const mapping_path = (/** @type {string} */ uuid) => "/event-source-mappings/" + encodeURIComponent(uuid);

/** @param {HTMLElement} place @param {AbortSignal} signal @param {() => Promise<unknown>} again */
async function draw_triggers(place, signal, again) {
  const { triggers } = await control("GET", "/triggers", undefined, signal);
  const change = async (/** @type {any} */ one, /** @type {boolean} */ on) => {
    await lambda("PUT", mapping_path(one.uuid), { Enabled: on });
    await again();
  };
  const rows = triggers.map((/** @type {any} */ one) => {
    const bad = one.last_result.startsWith("PROBLEM");
    const on = one.state === "Enabled" || one.state === "Enabling";
    return [
      button(one.function, () => show_trigger(one), { class: "link", title: "Show the trigger" }),
      element("a", { href: link_to(one.table) }, one.table),
      badge(one.state, on ? "good" : ""),
      element(
        "span",
        {},
        badge(bad ? "problem" : one.last_result, bad ? "bad" : ""),
        bad ? element("div", { class: "small" }, one.last_result.replace("PROBLEM: ", "")) : null,
        one.retrying
          ? element("div", { class: "small dim" }, `retrying, ${counted(one.retrying.attempts)} attempts failed`)
          : null,
      ),
      one.last_batch
        ? element(
            "span",
            {},
            records(one.last_batch.records),
            element("div", { class: "small dim nowrap" }, moment(Date.parse(one.last_batch.at))),
          )
        : "–",
      `${counted(one.batches)} / ${counted(one.records)}`,
      element(
        "span",
        {},
        counted(one.failures),
        one.last_failure ? element("div", { class: "small dim failure" }, failure_text(one.last_failure)) : null,
      ),
      counted(one.retries),
      counted(one.given_up),
      element(
        "span",
        { class: "row" },
        button(on ? "Disable" : "Enable", () => change(one, !on), {
          class: "small",
          "aria-label": `${on ? "Disable" : "Enable"} the trigger of ${one.function} on ${one.table}`,
        }),
        button("Delete", () => delete_trigger(one, again), {
          class: "small danger",
          "aria-label": `Delete the trigger of ${one.function} on ${one.table}`,
        }),
      ),
    ];
  });
  const scrolled = place.querySelector(".scroll")?.scrollLeft ?? 0;
  fill(
    place,
    rows.length
      ? grid(
          "Triggers",
          [
            "Function",
            "Table",
            "State",
            "Last result",
            "Last batch",
            ["Batches / records", "right"],
            ["Failures", "right"],
            ["Retries", "right"],
            ["Given up", "right"],
            "",
          ],
          rows,
        )
      : empty("No triggers yet. Register a function below, then add a trigger on a table with a stream."),
  );
  const scroll = place.querySelector(".scroll");
  if (scroll) scroll.scrollLeft = scrolled;
}

/** @param {any} one @param {() => Promise<unknown>} again */
async function delete_trigger(one, again) {
  const question = `This deletes the trigger of ${one.function} on ${one.table}. Batches in flight are dropped.`;
  if (!(await confirmed(question, "Delete the trigger"))) return;
  await lambda("DELETE", mapping_path(one.uuid));
  await again();
}

/** @param {any} one */
async function show_trigger(one) {
  const mapping = await (await lambda("GET", mapping_path(one.uuid))).json();
  const { last_failure, retrying } = one;
  dialog(
    `Trigger of ${one.function} on ${one.table}`,
    [
      last_failure
        ? element(
            "div",
            { class: "error" },
            element("b", {}, "Last failure"),
            ` at ${moment(Date.parse(last_failure.at))}: ${failure_text(last_failure)}`,
          )
        : null,
      retrying
        ? element(
            "div",
            { class: "told" },
            `Retrying ${records(retrying.records)}: ${counted(retrying.attempts)} attempts failed, the last with ${failure_text(retrying.error ?? {})}.`,
          )
        : null,
      element("pre", { class: "mono", tabindex: 0 }, JSON.stringify(mapping, null, 2)),
    ],
    [],
  );
}

/** @param {() => Promise<unknown>} done */
async function create_trigger(done) {
  const [names, { functions }] = await Promise.all([all_names(), control("GET", "/functions")]);
  if (!names.length) throw new Error("There are no tables yet. Create one with a stream first.");
  const table = select(names);
  const name = element("input", { list: "names-of-functions", spellcheck: "false", placeholder: "reminder" });
  if (functions.length) name.value = functions[0].name;
  const from = select([
    ["TRIM_HORIZON", "from the oldest record"],
    ["LATEST", "new changes only"],
  ]);
  const number = (/** @type {string} */ placeholder, /** @type {number} */ min) =>
    element("input", { type: "number", min, step: 1, placeholder });
  const batch = number("100", 1),
    retries = number("unlimited", 0);
  const expired = element("input", { type: "checkbox" }),
    bisect = element("input", { type: "checkbox" }),
    partial = element("input", { type: "checkbox" });
  const destination = element("input", {
    spellcheck: "false",
    placeholder: "file:///failed/carts.jsonl, an ARN or a URL",
  });
  const make = async () => {
    const { Table } = await dynamodb("DescribeTable", { TableName: table.value });
    if (!Table.StreamSpecification?.StreamEnabled)
      throw new Error(`The table ${table.value} has no stream. Turn it on under Schema.`);
    await lambda("POST", "/event-source-mappings/", {
      EventSourceArn: Table.LatestStreamArn,
      FunctionName: name.value.trim(),
      StartingPosition: from.value,
      BatchSize: batch.value ? Number(batch.value) : undefined,
      MaximumRetryAttempts: retries.value ? Number(retries.value) : undefined,
      BisectBatchOnFunctionError: bisect.checked || undefined,
      FunctionResponseTypes: partial.checked ? ["ReportBatchItemFailures"] : undefined,
      FilterCriteria: expired.checked ? { Filters: [{ Pattern: JSON.stringify(only_expired) }] } : undefined,
      DestinationConfig: destination.value.trim()
        ? { OnFailure: { Destination: destination.value.trim() } }
        : undefined,
    });
    tell(`Changes to ${table.value} trigger ${name.value.trim()}.`);
  };
  form_dialog(
    "New trigger",
    [
      labelled("Table", table),
      labelled("Function", name),
      element(
        "datalist",
        { id: "names-of-functions" },
        functions.map((/** @type {any} */ one) => element("option", { value: one.name })),
      ),
      element(
        "div",
        { class: "fields" },
        labelled("Start", from),
        labelled("Batch size", batch),
        labelled("Retries", retries),
      ),
      labelled("Only items that TTL deleted", expired),
      labelled("Split a failing batch in two", bisect),
      labelled("The function reports which records failed", partial),
      labelled("Destination for batches that are given up", destination),
    ],
    "Create",
    make,
    done,
  );
}
