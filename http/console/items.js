// Items of a table: a page of a scan or a query, one item's editor, PartiQL. Whatever is done shows the call that does it.
import {
  badge,
  button,
  choice,
  confirmed,
  counted,
  dialog,
  element,
  failure,
  fill,
  grid,
  labelled,
  moment,
  select,
  sized,
  spanned,
  tell,
} from "./elements.js";
import { show_call } from "./calls.js";
import { control, dynamodb, now } from "./server.js";
import { attribute, brief, cell, fits_form, form, key_of, key_text, typed } from "./values.js";

/** @typedef {import("./values.js").Item} Item */

const columns_max = 8;
const comparisons = /** @type {[string, string][]} */ ([
  ["=", "="],
  ["<>", "≠"],
  ["<", "<"],
  ["<=", "≤"],
  [">", ">"],
  [">=", "≥"],
  ["between", "between"],
  ["begins_with", "begins with"],
  ["contains", "contains"],
  ["attribute_exists", "is there"],
  ["attribute_not_exists", "is not there"],
]);
const sort_comparisons = comparisons.filter(([own]) =>
  ["=", "<", "<=", ">", ">=", "between", "begins_with"].includes(own),
);

/** @param {any} table */
const keys_of = (table) => /** @type {string[]} */ (table.KeySchema.map((/** @type {any} */ key) => key.AttributeName));

// --- what is asked

/** Names and values of an expression: "#0", ":0". */
class Placeholders {
  /** @type {Record<string, string>} */
  names = {};
  /** @type {Record<string, any>} */
  values = {};
  /** A path, "address.city[0]". @param {string} path */
  name(path) {
    return path
      .split(".")
      .map((part) => {
        const [, name, places] = /** @type {RegExpExecArray} */ (/^(.*?)((?:\[\d+\])*)$/s.exec(part));
        const known = Object.entries(this.names).find(([, own]) => own === name)?.[0];
        const sign = known ?? "#" + Object.keys(this.names).length;
        this.names[sign] = name;
        return sign + places;
      })
      .join(".");
  }
  /** @param {any} value */
  value(value) {
    const sign = ":" + Object.keys(this.values).length;
    this.values[sign] = value;
    return sign;
  }
  /** @param {string} path @param {string} comparison @param {any[]} values */
  condition(path, comparison, values) {
    const name = this.name(path);
    if (comparison.startsWith("attribute_")) return `${comparison}(${name})`;
    if (comparison === "between") return `${name} BETWEEN ${this.value(values[0])} AND ${this.value(values[1])}`;
    if (comparison === "begins_with" || comparison === "contains")
      return `${comparison}(${name}, ${this.value(values[0])})`;
    return `${name} ${comparison} ${this.value(values[0])}`;
  }
  members() {
    return {
      ...(Object.keys(this.names).length ? { ExpressionAttributeNames: this.names } : {}),
      ...(Object.keys(this.values).length ? { ExpressionAttributeValues: this.values } : {}),
    };
  }
}

/** A comparison with one value, two, or none. @param {[string, string][]} offered @param {string | null} type nothing: it is chosen, too @param {string} about */
function comparison_form(offered, type, about) {
  const kind = type ? null : select(["S", "N", "B", "BOOL", "NULL"], "S", { "aria-label": "Type of " + about });
  const first = element("input", {
    "aria-label": "Value of " + about,
    placeholder: "value",
    class: "mono grow",
    spellcheck: "false",
  });
  const second = element("input", {
    "aria-label": "Up to, of " + about,
    placeholder: "and",
    class: "mono grow",
    spellcheck: "false",
    hidden: true,
  });
  const comparison = select(offered, "=", {
    "aria-label": "Comparison of " + about,
    onchange: () => {
      second.hidden = comparison.value !== "between";
      first.hidden = comparison.value.startsWith("attribute_");
      if (kind) kind.hidden = first.hidden;
    },
  });
  return {
    nodes: [comparison, kind, first, second],
    comparison: () => comparison.value,
    empty: () => first.value === "" && !first.hidden,
    values: () => [first, second].map((control) => typed(type ?? kind?.value ?? "S", control.value)),
  };
}

/**
 * The form of a query or a scan: `input()` is what the operation takes, without where a page begins.
 * @param {any} table
 */
function search_form(table) {
  let operation = "Scan";
  const indexes = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
  const index = select(
    [["", "the table"], ...indexes.map((one) => /** @type {[string, string]} */ ([one.IndexName, one.IndexName]))],
    "",
    { onchange: () => draw() },
  );
  const limit = select(["25", "50", "100", "250"], "50");
  const order = select([
    ["up", "ascending"],
    ["down", "descending"],
  ]);
  const consistent = element("input", { type: "checkbox" });
  const keys = element("div", { class: "stack" });
  const filters = element("div", { class: "stack" });
  /** @type {{ name: HTMLInputElement, of: ReturnType<typeof comparison_form>, row: HTMLElement }[]} */
  let conditions = [];
  /** @type {{ partition: [string, string, HTMLInputElement], sort: [string, ReturnType<typeof comparison_form>] | null }} */
  let asked;
  const type_of_key = (/** @type {string} */ name) =>
    table.AttributeDefinitions.find((/** @type {any} */ one) => one.AttributeName === name).AttributeType;
  const ordered = labelled("Order", order);
  const draw = () => {
    const own = indexes.find((one) => one.IndexName === index.value) ?? table;
    const [partition, sort] = keys_of(own);
    const value = element("input", {
      "aria-label": "Value of " + partition,
      placeholder: "value",
      class: "mono grow",
      spellcheck: "false",
    });
    const sorted = sort ? comparison_form(sort_comparisons, type_of_key(sort), sort) : null;
    asked = { partition: [partition, type_of_key(partition), value], sort: sort && sorted ? [sort, sorted] : null };
    const line = (/** @type {string} */ name, /** @type {any[]} */ nodes) =>
      element(
        "div",
        { class: "condition" },
        element("code", {}, name),
        element("span", { class: "type" }, type_of_key(name)),
        nodes,
      );
    fill(keys, line(partition, [element("span", {}, "="), value]), sort && sorted ? line(sort, sorted.nodes) : null);
    keys.hidden = ordered.hidden = operation !== "Query";
  };
  const add_filter = () => {
    const name = element("input", {
      "aria-label": "Attribute to filter by",
      placeholder: "attribute",
      class: "mono",
      spellcheck: "false",
    });
    const of = comparison_form(comparisons, null, "the filter");
    const row = element(
      "div",
      { class: "condition" },
      name,
      of.nodes,
      button(
        "✕",
        () => {
          conditions = conditions.filter((one) => one.row !== row);
          row.remove();
        },
        { class: "quiet small", "aria-label": "Remove the filter" },
      ),
    );
    conditions.push({ name, of, row });
    filters.append(row);
    name.focus();
  };
  draw();
  return {
    node: element(
      "div",
      { class: "stack" },
      element(
        "div",
        { class: "row" },
        choice(
          "Operation",
          [
            ["Scan", "Scan"],
            ["Query", "Query"],
          ],
          operation,
          (chosen) => {
            operation = chosen;
            draw();
          },
        ),
        labelled("Of", index),
        ordered,
        labelled("On a page", limit),
        labelled("Consistent read", consistent),
      ),
      keys,
      filters,
    ),
    add_filter,
    operation: () => operation,
    input: () => {
      const names = new Placeholders();
      /** @type {Record<string, any>} */
      const input = { TableName: table.TableName, Limit: Number(limit.value) };
      if (index.value) input.IndexName = index.value;
      if (consistent.checked) input.ConsistentRead = true;
      if (operation === "Query") {
        const [partition, type, value] = asked.partition;
        input.KeyConditionExpression = names.condition(partition, "=", [typed(type, value.value)]);
        if (asked.sort && !asked.sort[1].empty())
          input.KeyConditionExpression +=
            " AND " + names.condition(asked.sort[0], asked.sort[1].comparison(), asked.sort[1].values());
        if (order.value === "down") input.ScanIndexForward = false;
      }
      if (conditions.length)
        input.FilterExpression = conditions
          .map(({ name, of }) => names.condition(name.value, of.comparison(), of.values()))
          .join(" AND ");
      return { ...input, ...names.members() };
    },
  };
}

// --- what is found

/**
 * @param {Item[]} items
 * @param {string[]} keys
 * @param {((item: Item) => void) | null} open
 * @param {string | null} ttl the attribute by which they expire
 */
function items_grid(items, keys, open, ttl) {
  /** @type {Map<string, number>} */
  const uses = new Map();
  for (const item of items) for (const name of Object.keys(item)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const others = [...uses.keys()]
    .filter((name) => !keys.includes(name))
    .sort((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0) || (a < b ? -1 : 1));
  if (ttl && others.includes(ttl)) others.unshift(...others.splice(others.indexOf(ttl), 1));
  const names = [...keys.filter((name) => uses.has(name)), ...others].slice(0, columns_max);
  const left_out = uses.size - names.length;
  const rows = items.map((item) => {
    const cells = names.map((name, at) => {
      const value = attribute(item, name);
      if (at === 0 && open && value) {
        const text = brief(value, 60);
        return element(
          "td",
          { class: "value" },
          element(
            "button",
            { type: "button", class: "link mono", title: "Open the item", onclick: () => open(item) },
            text === "" ? "(empty)" : text,
          ),
        );
      }
      if (name === ttl && value?.N)
        return element(
          "td",
          { class: "value N", title: moment(Number(value.N) * 1000) },
          value.N,
          " ",
          element("span", { class: "type" }, spanned(Number(value.N) * 1000 - now())),
        );
      return cell(value);
    });
    return left_out > 0
      ? [
          ...cells,
          element(
            "td",
            { class: "dim small" },
            String(
              Math.max(0, Object.keys(item).length - names.filter((name) => Object.hasOwn(item, name)).length) || "",
            ),
          ),
        ]
      : cells;
  });
  return grid("Items", left_out > 0 ? [...names, `${left_out} more attributes`] : names, rows);
}

/**
 * Runs what `next` asks, page by page.
 * @param {HTMLElement} place
 * @param {(from: any) => Promise<{ answer: any, next: any }>} ask
 * @param {(items: Item[]) => HTMLElement} draw
 */
function pager(place, ask, draw) {
  /** @type {any[]} */
  let begins = [undefined];
  let at = 0;
  const turn = async (/** @type {number} */ to) => {
    place.setAttribute("aria-busy", "true");
    let answer, next;
    const began = performance.now();
    try {
      ({ answer, next } = await ask(begins[to]));
    } catch (error) {
      return fill(place, failure(error));
    } finally {
      place.removeAttribute("aria-busy");
    }
    at = to;
    begins = begins.slice(0, at + 1);
    if (next) begins.push(next);
    const items = answer.Items ?? [];
    const looked =
      answer.ScannedCount !== undefined && answer.ScannedCount !== items.length
        ? ` of ${counted(answer.ScannedCount)} looked at`
        : "";
    fill(
      place,
      element(
        "div",
        { class: "row middle between" },
        element(
          "span",
          { class: "dim small", role: "status" },
          `Page ${at + 1}: ${counted(items.length)} items${looked}, ${Math.round(performance.now() - began)} ms`,
        ),
        element(
          "div",
          { class: "row" },
          button("← Back", () => turn(at - 1), { class: "small", disabled: at === 0 }),
          button("Next →", () => turn(at + 1), { class: "small", disabled: !next }),
        ),
      ),
      items.length
        ? draw(items)
        : element("div", { class: "empty" }, next ? "Nothing on this page; there are more." : "Nothing."),
    );
  };
  return { first: () => ((begins = [undefined]), turn(0)), again: () => turn(at) };
}

/** @param {HTMLElement} place @param {any} table @param {any} ttl @param {AbortSignal} signal */
export async function items_pane(place, table, ttl, signal) {
  const keys = keys_of(table);
  const expires_by = ttl.status === "ENABLED" ? ttl.attribute : null;
  const search = search_form(table);
  const found = element("section", { class: "card stack", "aria-label": "What was found" });
  let operation = "Scan";
  /** @type {any} */
  let input = search.input();
  const pages = pager(
    found,
    async (from) => {
      const answer = await dynamodb(operation, { ...input, ExclusiveStartKey: from }, signal);
      return { answer, next: answer.LastEvaluatedKey };
    },
    (items) => items_grid(items, keys, (item) => open_item(item), expires_by),
  );
  const open_item = async (/** @type {Item} */ item) => {
    // An index may have less of it, and it may have changed.
    const answer = await dynamodb("GetItem", {
      TableName: table.TableName,
      Key: key_of(item, keys),
      ConsistentRead: true,
    }).catch((error) => tell(error));
    if (!answer) return;
    if (!answer.Item) {
      tell(new Error("The item is not there any more."));
      return pages.again();
    }
    edit_item(table, expires_by, answer.Item, () => pages.again());
  };
  const run = async () => {
    operation = search.operation();
    input = search.input();
    await pages.first();
  };
  const asked = element(
    "section",
    { class: "card stack", "aria-label": "What is asked" },
    search.node,
    element(
      "div",
      { class: "row middle" },
      button("Run", run, { class: "primary" }),
      button("Add a filter", search.add_filter),
      button("Copy as a call", () => show_call(search.operation(), search.input())),
      element("span", { class: "grow" }),
      button("New item", () => edit_item(table, expires_by, null, () => pages.again())),
    ),
  );
  asked.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement && event.target.type !== "radio")
      run().catch(tell);
  });
  place.append(asked, found);
  await run();
}

// --- one item

/** @param {Item} item @param {string[]} keys */
function keys_first(item, keys) {
  const names = [...keys, ...Object.keys(item).filter((name) => !keys.includes(name))];
  return Object.fromEntries(names.map((name) => [name, item[name]]));
}

/** @param {any} table @param {Item} key */
export async function explain(table, key) {
  const answer = await control("POST", `/ttl/${encodeURIComponent(table)}/explain`, { key });
  return element(
    "div",
    { class: "told" },
    badge(answer.reason, "time"),
    " ",
    answer.message,
    answer.expires_at
      ? element(
          "div",
          {},
          "Expires at ",
          element("b", {}, answer.expires_at),
          ` (${spanned(Date.parse(answer.expires_at) - now())}).`,
        )
      : null,
  );
}

/**
 * Only what differs, as UpdateItem takes it.
 * @param {any} table @param {Item} before @param {Item} after
 */
export function update_of(table, before, after) {
  const keys = keys_of(table),
    names = new Placeholders();
  const sign = (/** @type {string} */ name) => {
    const made = "#" + Object.keys(names.names).length;
    names.names[made] = name;
    return made;
  };
  const differs = (/** @type {string} */ name) =>
    !Object.hasOwn(before, name) || JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const set = Object.keys(after)
    .filter((name) => !keys.includes(name) && differs(name))
    .map((name) => `${sign(name)} = ${names.value(after[name])}`);
  const remove = Object.keys(before)
    .filter((name) => !Object.hasOwn(after, name))
    .map(sign);
  if (!set.length && !remove.length) return null;
  const UpdateExpression = [
    set.length ? "SET " + set.join(", ") : "",
    remove.length ? "REMOVE " + remove.join(", ") : "",
  ]
    .filter(Boolean)
    .join(" ");
  return { TableName: table.TableName, Key: key_of(before, keys), UpdateExpression, ...names.members() };
}

/**
 * @param {any} table
 * @param {string | null} ttl
 * @param {Item | null} before nothing: a new one
 * @param {() => void} done
 */
export function edit_item(table, ttl, before, done) {
  const keys = keys_of(table);
  const type = (/** @type {string} */ name) =>
    table.AttributeDefinitions.find((/** @type {any} */ one) => one.AttributeName === name).AttributeType;
  /** @type {Item} */
  const begun = before
    ? keys_first(before, keys)
    : Object.fromEntries(keys.map((name) => [name, { [type(name)]: "" }]));
  if (!before && ttl) begun[ttl] = { N: String(Math.floor(now() / 1000) + 3600) };
  const size = JSON.stringify(begun).length;
  let way = fits_form(begun) ? "form" : "json";
  /** @type {() => Item} */
  let read = () => begun;
  const place = element("div", {}),
    said = element("div", { class: "stack" });
  const draw = (/** @type {Item} */ item) => {
    if (way === "form") {
      const made = form(item, before ? keys : []);
      read = made.read;
      fill(place, made.node);
    } else {
      const text = element("textarea", {
        "aria-label": "The item as DynamoDB's JSON",
        rows: Math.min(24, Math.max(8, JSON.stringify(item, null, 2).slice(0, 9000).split("\n").length + 1)),
        spellcheck: "false",
      });
      text.value = JSON.stringify(item, null, 2);
      read = () => JSON.parse(text.value);
      fill(place, text);
    }
  };
  const switched = (/** @type {string} */ chosen) => {
    try {
      const item = read();
      if (chosen === "form" && !fits_form(item)) throw new Error("The item has too many attributes for a form.");
      way = chosen;
      draw(item);
      fill(said);
    } catch (error) {
      fill(said, failure(error));
      const old = /** @type {HTMLInputElement | null} */ (made.querySelector(`.choice input[value="${way}"]`));
      if (old) old.checked = true;
    }
  };
  const put_input = () => ({ TableName: table.TableName, Item: read() });
  const attempt = async (/** @type {() => Promise<any>} */ act, /** @type {string} */ told) => {
    try {
      await act();
    } catch (error) {
      return fill(said, failure(error));
    }
    made.close();
    tell(told);
    done();
  };
  const save = () =>
    attempt(
      async () => {
        if (!before) {
          return dynamodb("PutItem", {
            ...put_input(),
            ConditionExpression: "attribute_not_exists(#0)",
            ExpressionAttributeNames: { "#0": keys[0] },
          });
        }
        const input = update_of(table, before, read());
        // Who deleted it meanwhile does not get a piece of it back.
        if (input)
          await dynamodb("UpdateItem", {
            ...input,
            ConditionExpression: "attribute_exists(#key)",
            ExpressionAttributeNames: { ...input.ExpressionAttributeNames, "#key": keys[0] },
          });
      },
      before ? "Updated." : "Written.",
    );
  const call = () => {
    const update = before && update_of(table, before, read());
    if (before && !update) return show_call("GetItem", { TableName: table.TableName, Key: key_of(before, keys) });
    show_call(update ? "UpdateItem" : "PutItem", update || put_input());
  };
  const guarded = (/** @type {() => unknown} */ act) => async () => {
    try {
      await act();
    } catch (error) {
      fill(said, failure(error));
    }
  };
  const made = dialog(
    before ? key_text(key_of(before, keys)) : "New item in " + table.TableName,
    [
      element(
        "div",
        { class: "row middle between" },
        choice(
          "Show it as",
          [
            ["form", "Form"],
            ["json", "JSON"],
          ],
          way,
          switched,
        ),
        element("span", { class: "dim small" }, before ? "about " + sized(size) : ""),
      ),
      said,
      place,
    ],
    [
      before
        ? button(
            "Delete",
            async () => {
              if (await confirmed("The item " + key_text(key_of(before, keys)) + " is deleted.", "Delete the item"))
                await attempt(
                  () => dynamodb("DeleteItem", { TableName: table.TableName, Key: key_of(before, keys) }),
                  "Deleted.",
                );
            },
            { class: "danger left" },
          )
        : null,
      before
        ? button(
            "Explain",
            guarded(async () => fill(said, await explain(table.TableName, key_of(before, keys)))),
            { title: "Why it is still there" },
          )
        : null,
      button("Copy as a call", guarded(call)),
      before
        ? button("Replace", () => attempt(() => dynamodb("PutItem", put_input()), "Replaced."), {
            title: "PutItem: the item becomes what stands here",
          })
        : null,
      button(before ? "Update" : "Put", save, {
        class: "primary",
        title: before ? "UpdateItem: only what was changed" : "PutItem, if there is none of this key",
      }),
    ],
  );
  draw(begun);
}

// --- PartiQL

/** @param {HTMLElement} place @param {any} table @param {AbortSignal} signal */
export async function partiql_pane(place, table, signal) {
  const statement = element("textarea", { rows: 4, spellcheck: "false" });
  statement.value = `SELECT * FROM "${table.TableName}"`;
  const parameters = element("input", { placeholder: '[{"S":"1"}]', class: "mono", spellcheck: "false" });
  const found = element(
    "section",
    { class: "card stack", "aria-label": "What was found" },
    element("div", { class: "empty" }, "Ctrl+Enter runs it."),
  );
  const input = () => ({
    Statement: statement.value,
    ...(parameters.value.trim() ? { Parameters: JSON.parse(parameters.value) } : {}),
  });
  /** @type {any} */
  let asked = {};
  const pages = pager(
    found,
    async (from) => {
      const answer = await dynamodb(
        "ExecuteStatement",
        { ...asked, Limit: /^\s*select/i.test(asked.Statement) ? 50 : undefined, NextToken: from },
        signal,
      );
      return { answer, next: answer.NextToken };
    },
    (items) => items_grid(items, keys_of(table), null, null),
  );
  const run = async () => {
    try {
      asked = input();
    } catch (error) {
      return fill(found, failure(error));
    }
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
      labelled("Parameters, as a JSON list", parameters),
      element(
        "div",
        { class: "row" },
        button("Run", run, { class: "primary" }),
        button("Copy as a call", () => show_call("ExecuteStatement", input())),
      ),
    ),
    found,
  );
}
