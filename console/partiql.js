// PartiQL: one statement and its parameters.
import { button, element, failure, fill, labelled, tell } from "./elements.js";
import { show_call } from "./calls.js";
import { items_grid } from "./items.js";
import { pager } from "./pages.js";
import { keys_of } from "./search.js";
import { dynamodb } from "./server.js";
import { parsed } from "./values.js";
import { recalled, remember } from "./views.js";

const page_size = 50;

/** @param {HTMLElement} place @param {any} table @param {AbortSignal} signal */
export async function partiql_pane(place, table, signal) {
  const statement = element("textarea", { rows: 4, spellcheck: "false" });
  const view = recalled();
  statement.value = view.statement ?? `SELECT * FROM "${table.TableName}"`;
  const parameters = element("input", {
    placeholder: '[{"S":"1"}]',
    value: view.parameters,
    class: "mono",
    spellcheck: "false",
  });
  const found = element(
    "section",
    { class: "card stack", "aria-label": "Results" },
    element("div", { class: "empty" }, "Press Ctrl+Enter to run the statement."),
  );
  const input = () => ({
    Statement: statement.value,
    ...(parameters.value.trim()
      ? { Parameters: parsed(parameters.value, "The list of parameters", '[{"S": "1"}]') }
      : {}),
  });
  /** @type {any} */
  let asked = {};
  const reads = () => /^\s*select/i.test(asked.Statement);
  const pages = pager(
    found,
    {
      size: () => page_size,
      filtered: reads,
      total: table.ItemCount,
      ask: async (from, limit) => {
        const answer = await dynamodb(
          "ExecuteStatement",
          { ...asked, Limit: reads() ? limit : undefined, NextToken: from },
          signal,
        );
        const items = answer.Items ?? [];
        return { items, scanned: answer.NextToken ? limit : items.length, next: answer.NextToken };
      },
      after: null,
    },
    (items) => items_grid(items, keys_of(table), null, null),
    () => {},
  );
  const run = async () => {
    try {
      asked = input();
    } catch (error) {
      return fill(found, failure(error));
    }
    remember({ statement: statement.value, parameters: parameters.value });
    await pages.first();
  };
  statement.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run().catch(tell);
  });
  place.append(
    element(
      "section",
      { class: "card stack" },
      labelled("Statement", statement),
      labelled("Parameters (JSON list)", parameters),
      element(
        "div",
        { class: "row" },
        button("Run", run, { class: "primary" }),
        button("Copy as code", () => show_call("ExecuteStatement", input())),
      ),
    ),
    found,
  );
}
