// The forms that create tables and indexes.
import { button, element, labelled, select } from "./elements.js";
import { form_dialog } from "./dialogs.js";
import { dynamodb } from "./server.js";
import { visit } from "./views.js";

/** @typedef {{ name: string, type: string }} Key */
/** @typedef {{ keys: Key[], schema: any[] }} Keys */

export const stream_views = /** @type {[string, string][]} */ ([
  ["NEW_AND_OLD_IMAGES", "new and old images"],
  ["NEW_IMAGE", "new images"],
  ["OLD_IMAGE", "old images"],
  ["KEYS_ONLY", "keys only"],
]);

/** Fields for a partition key and an optional sort key. @param {string} partition the initial partition key */
export function keys_form(partition = "") {
  const name = element("input", { value: partition, spellcheck: "false" }),
    type = select(["S", "N", "B"]);
  const sort = element("input", { placeholder: "no sort key", spellcheck: "false" }),
    sort_type = select(["S", "N", "B"]);
  return {
    nodes: [
      element("div", { class: "row" }, labelled("Partition key", name, "grow"), labelled("Partition key type", type)),
      element("div", { class: "row" }, labelled("Sort key", sort, "grow"), labelled("Sort key type", sort_type)),
    ],
    /** @returns {Keys} */
    read: () => {
      const keys = [{ name: name.value.trim(), type: type.value }];
      if (sort.value.trim()) keys.push({ name: sort.value.trim(), type: sort_type.value });
      return {
        keys,
        schema: keys.map((key, at) => ({ AttributeName: key.name, KeyType: at ? "RANGE" : "HASH" })),
      };
    },
  };
}

/**
 * The AttributeDefinitions for keys. An attribute that several keys contain is listed only once.
 * @param {Key[]} keys
 */
export function definitions(keys) {
  /** @type {Map<string, string>} */
  const types = new Map();
  for (const { name, type } of keys) {
    const other = types.get(name);
    if (other && other !== type)
      throw new Error(`The key attribute ${name} has the types ${other} and ${type}. Choose one.`);
    types.set(name, type);
  }
  return [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
}

/** Fields for an index: name, keys and projection. @param {boolean} local whether it may be a local index */
export function index_form(local) {
  const name = element("input", { spellcheck: "false" });
  const kind = select(local ? ["global", "local"] : ["global"]);
  const keys = keys_form();
  const projection = select(
    [
      ["ALL", "all attributes"],
      ["KEYS_ONLY", "keys only"],
      ["INCLUDE", "these attributes"],
    ],
    "ALL",
    { onchange: () => fit() },
  );
  const included = element("input", { placeholder: "status, total", spellcheck: "false" });
  const included_label = labelled("Included attributes", included);
  const fit = () => (included_label.hidden = projection.value !== "INCLUDE");
  fit();
  return {
    nodes: [
      element(
        "div",
        { class: "row" },
        labelled("Index name", name, "grow"),
        local ? labelled("Kind", kind) : null,
        labelled("Projection", projection),
      ),
      ...keys.nodes,
      included_label,
    ],
    read: () => {
      const { keys: own, schema } = keys.read();
      return {
        local: kind.value === "local",
        keys: own,
        index: {
          IndexName: name.value.trim(),
          KeySchema: schema,
          Projection: {
            ProjectionType: projection.value,
            NonKeyAttributes:
              projection.value === "INCLUDE"
                ? included.value
                    .split(",")
                    .map((one) => one.trim())
                    .filter(Boolean)
                : undefined,
          },
        },
      };
    },
  };
}

export function create_table() {
  const name = element("input", { required: true, autofocus: true, spellcheck: "false" });
  const keys = keys_form("id");
  const ttl = element("input", { placeholder: "no TTL", spellcheck: "false" });
  const stream = select([["", "no stream"], ...stream_views], "NEW_AND_OLD_IMAGES");
  /** @type {{ form: ReturnType<typeof index_form>, node: HTMLElement }[]} */
  let indexes = [];
  const list = element("div", { class: "stack" });
  const add_index = () => {
    const form = index_form(true);
    const node = element(
      "fieldset",
      { class: "index stack" },
      element("legend", {}, "Index"),
      form.nodes,
      element(
        "div",
        {},
        button(
          "Remove the index",
          () => {
            indexes = indexes.filter((one) => one.node !== node);
            node.remove();
          },
          { class: "small" },
        ),
      ),
    );
    indexes.push({ form, node });
    list.append(node);
    node.querySelector("input")?.focus();
  };
  const make = async () => {
    const own = keys.read();
    const read = indexes.map(({ form }) => form.read());
    const of = (/** @type {boolean} */ local) => {
      const some = read.filter((one) => one.local === local).map((one) => one.index);
      return some.length ? some : undefined;
    };
    await dynamodb("CreateTable", {
      TableName: name.value.trim(),
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: definitions([...own.keys, ...read.flatMap((one) => one.keys)]),
      KeySchema: own.schema,
      GlobalSecondaryIndexes: of(false),
      LocalSecondaryIndexes: of(true),
      StreamSpecification: stream.value ? { StreamEnabled: true, StreamViewType: stream.value } : undefined,
    });
    if (ttl.value.trim()) await enable_ttl(name.value.trim(), ttl.value.trim());
  };
  form_dialog(
    "Create a table",
    [
      labelled("Name", name),
      ...keys.nodes,
      element("div", { class: "row" }, labelled("TTL attribute", ttl, "grow"), labelled("Stream", stream, "grow")),
      list,
      element("div", {}, button("Add an index", add_index, { class: "small" })),
    ],
    "Create",
    make,
    () => visit("#/tables/" + encodeURIComponent(name.value.trim())),
  );
}

/** @param {string} table @param {string} attribute */
export const enable_ttl = (table, attribute) =>
  dynamodb("UpdateTimeToLive", {
    TableName: table,
    TimeToLiveSpecification: { Enabled: true, AttributeName: attribute },
  });

/** @param {any} table @param {() => unknown} done */
export function create_index(table, done) {
  const form = index_form(false);
  const add = async () => {
    const { keys, index } = form.read();
    await dynamodb("UpdateTable", {
      TableName: table.TableName,
      AttributeDefinitions: definitions([
        ...table.AttributeDefinitions.map((/** @type {any} */ one) => ({
          name: one.AttributeName,
          type: one.AttributeType,
        })),
        ...keys,
      ]),
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            ...index,
            ProvisionedThroughput:
              table.BillingModeSummary?.BillingMode === "PAY_PER_REQUEST" ||
              !table.ProvisionedThroughput?.ReadCapacityUnits
                ? undefined
                : { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
          },
        },
      ],
    });
  };
  form_dialog("Add a global index to " + table.TableName, form.nodes, "Add", add, done);
}
