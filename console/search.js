// The form for a query or a scan, and the expressions that it builds.
import { button, choice, element, fill, labelled, select } from "./elements.js";
import { typed } from "./values.js";

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
  ["attribute_exists", "exists"],
  ["attribute_not_exists", "does not exist"],
]);
const sort_comparisons = comparisons.filter(([own]) =>
  ["=", "<", "<=", ">", ">=", "between", "begins_with"].includes(own),
);

/** @param {any} table */
export const keys_of = (table) =>
  /** @type {string[]} */ (table.KeySchema.map((/** @type {any} */ key) => key.AttributeName));

/** The names and values that an expression refers to: "#0", ":0". */
export class Placeholders {
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

/** The fields of a comparison with up to two values. @param {[string, string][]} offered @param {string | null} type null: the user chooses it @param {string} about */
function comparison_form(offered, type, about) {
  const kind = type ? null : select(["S", "N", "B", "BOOL", "NULL"], "S", { "aria-label": "Type of " + about });
  const first = element("input", {
    "aria-label": "Value of " + about,
    placeholder: "value",
    class: "mono grow",
    spellcheck: "false",
  });
  const second = element("input", {
    "aria-label": "Upper bound of " + about,
    placeholder: "and",
    class: "mono grow",
    spellcheck: "false",
    hidden: true,
  });
  const comparison = select(offered, "=", {
    "aria-label": "Comparison of " + about,
    onchange: () => fit(),
  });
  const fit = () => {
    second.hidden = comparison.value !== "between";
    first.hidden = comparison.value.startsWith("attribute_");
    if (kind) kind.hidden = first.hidden;
  };
  return {
    nodes: [comparison, kind, first, second],
    state: () => [comparison.value, kind?.value ?? "", first.value, second.value],
    restore: (/** @type {string[]} */ state) => {
      [comparison.value, , first.value, second.value] = state;
      if (kind) kind.value = state[1];
      fit();
    },
    comparison: () => comparison.value,
    empty: () => first.value === "" && !first.hidden,
    values: () => [first, second].map((control) => typed(type ?? kind?.value ?? "S", control.value)),
  };
}

/**
 * The form for a query or a scan. `input()` is the operation's input without ExclusiveStartKey; `state()` is the form's contents, for
 * `restore`.
 * @param {any} table
 */
export function search_form(table) {
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
    const { name } = make_filter();
    name.focus();
  };
  const make_filter = () => {
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
    const made = { name, of, row };
    conditions.push(made);
    filters.append(row);
    return made;
  };
  draw();
  const operations = choice(
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
  );
  return {
    node: element(
      "div",
      { class: "stack" },
      element(
        "div",
        { class: "row" },
        operations,
        labelled("Table or index", index),
        ordered,
        labelled("Items per page", limit),
        labelled("Consistent read", consistent),
      ),
      keys,
      filters,
    ),
    add_filter,
    operation: () => operation,
    page_size: () => Number(limit.value),
    filtered: () => conditions.length > 0,
    /** The attributes of a page's start key. */
    key_names: () => {
      const own = indexes.find((one) => one.IndexName === index.value);
      return [...new Set([...keys_of(table), ...(own ? keys_of(own) : [])])];
    },
    state: () => ({
      operation,
      index: index.value,
      limit: limit.value,
      order: order.value,
      consistent: consistent.checked,
      partition: asked.partition[2].value,
      sort: asked.sort?.[1].state(),
      filters: conditions.map(({ name, of }) => [name.value, ...of.state()]),
    }),
    restore: (/** @type {any} */ state) => {
      operation = state.operation;
      for (const radio of operations.querySelectorAll("input")) radio.checked = radio.value === operation;
      index.value = state.index;
      limit.value = state.limit;
      order.value = state.order;
      consistent.checked = state.consistent;
      draw();
      asked.partition[2].value = state.partition;
      if (state.sort) asked.sort?.[1].restore(state.sort);
      for (const [name, ...values] of state.filters) {
        const made = make_filter();
        made.name.value = name;
        made.of.restore(values);
      }
    },
    input: () => {
      const names = new Placeholders();
      /** @type {Record<string, any>} */
      const input = { TableName: table.TableName };
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
