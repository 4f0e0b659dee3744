// A table's schema: its keys, and its indexes, TTL and stream, which the user can change here.
import {
  badge,
  button,
  counted,
  element,
  empty,
  grid,
  labelled,
  moment,
  select,
  sized,
  spanned,
  tell,
} from "./elements.js";
import { create_index, enable_ttl, stream_views } from "./create_table.js";
import { confirmed } from "./dialogs.js";
import { dynamodb, now } from "./server.js";
import { visit } from "./views.js";

const look_again_ms = 1000;

/** @param {any[]} keys @param {any[]} definitions */
const keys_text = (keys, definitions) =>
  keys.map(({ AttributeName, KeyType }) => {
    const type = definitions.find((one) => one.AttributeName === AttributeName)?.AttributeType;
    return element(
      "div",
      {},
      element("code", {}, AttributeName),
      " ",
      element("span", { class: "type" }, type),
      element("span", { class: "dim" }, KeyType === "HASH" ? " partition" : " sort"),
    );
  });

/** @param {[string, any][]} members */
export const facts = (members) =>
  element(
    "dl",
    { class: "facts" },
    members.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
  );

/**
 * @param {HTMLElement} place @param {any} table @param {any} ttl @param {AbortSignal} signal
 * @param {() => Promise<unknown>} again describes and draws the table again
 */
export async function schema(place, table, ttl, signal, again) {
  const tags = await dynamodb("ListTagsOfResource", { ResourceArn: table.TableArn }, signal).then(
    (answer) => answer.Tags,
    () => [],
  );
  place.append(
    table_card(table, tags),
    element("div", { class: "grid" }, ttl_card(table, ttl, again), stream_card(table, again)),
    indexes_card(table, again),
    element(
      "details",
      { class: "card" },
      element("summary", {}, "DescribeTable output"),
      element("pre", { class: "mono", tabindex: 0 }, JSON.stringify(table, null, 2)),
    ),
    element(
      "div",
      {},
      button("Delete the table", () => delete_table(table), { class: "danger" }),
    ),
  );
  const busy = [
    table.TableStatus,
    ...(table.GlobalSecondaryIndexes ?? []).map((/** @type {any} */ one) => one.IndexStatus),
  ];
  if (busy.every((status) => !status || status === "ACTIVE")) return;
  const timer = setTimeout(() => again().catch(() => {}), look_again_ms);
  signal.addEventListener("abort", () => clearTimeout(timer));
}

/** @param {any} table */
async function delete_table(table) {
  const question = `This deletes the table ${table.TableName} and its ${counted(table.ItemCount)} items.`;
  if (!(await confirmed(question, "Delete the table"))) return;
  await dynamodb("DeleteTable", { TableName: table.TableName });
  await visit("#/tables");
}

/** @param {any} table @param {any[]} tags */
function table_card(table, tags) {
  const throughput = table.ProvisionedThroughput;
  const created = table.CreationDateTime * 1000;
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "Table"),
    facts([
      ["Keys", keys_text(table.KeySchema, table.AttributeDefinitions)],
      [
        "Billing",
        table.BillingModeSummary?.BillingMode ??
          `PROVISIONED, ${throughput.ReadCapacityUnits} read and ${throughput.WriteCapacityUnits} write units`,
      ],
      ["Created", `${moment(created)} (${spanned(created - now())})`],
      ["ARN", element("code", {}, table.TableArn)],
      ["Deletion protection", table.DeletionProtectionEnabled ? "on" : "off"],
      [
        "Tags",
        tags.length
          ? tags.map((/** @type {any} */ tag) => element("div", {}, element("code", {}, tag.Key), " = ", tag.Value))
          : "no tags",
      ],
    ]),
  );
}

/** @param {any} table @param {any} ttl @param {() => Promise<unknown>} again */
function ttl_card(table, ttl, again) {
  const on = ttl.status === "ENABLED";
  const attribute = element("input", { value: ttl.attribute ?? "ttl", spellcheck: "false", class: "mono" });
  const change = async () => {
    if (on)
      await dynamodb("UpdateTimeToLive", {
        TableName: table.TableName,
        TimeToLiveSpecification: { Enabled: false, AttributeName: ttl.attribute },
      });
    else await enable_ttl(table.TableName, attribute.value.trim());
    tell(on ? "TTL is off." : `TTL is on: items expire by ${attribute.value.trim()}.`);
    await again();
  };
  return element(
    "section",
    { class: "card half stack", "aria-labelledby": "schema-ttl" },
    element("h2", { id: "schema-ttl" }, "Time to live"),
    on
      ? element(
          "p",
          {},
          "Items expire by ",
          element("code", {}, ttl.attribute),
          `, in mode ${ttl.mode}. ${counted(ttl.pending)} will expire.`,
        )
      : element("p", { class: "dim" }, "Off: items of this table do not expire."),
    element(
      "div",
      { class: "row" },
      on ? null : labelled("TTL attribute", attribute),
      button(on ? "Turn TTL off" : "Turn TTL on", change),
    ),
  );
}

/** @param {any} table @param {() => Promise<unknown>} again */
function stream_card(table, again) {
  const stream = table.StreamSpecification;
  const on = Boolean(stream?.StreamEnabled);
  const view = select(stream_views);
  const change = async () => {
    await dynamodb("UpdateTable", {
      TableName: table.TableName,
      StreamSpecification: on ? { StreamEnabled: false } : { StreamEnabled: true, StreamViewType: view.value },
    });
    tell(on ? "The stream is off." : "The stream is on.");
    await again();
  };
  return element(
    "section",
    { class: "card half stack", "aria-labelledby": "schema-stream" },
    element("h2", { id: "schema-stream" }, "Stream"),
    on
      ? element("p", {}, stream.StreamViewType, " ", element("code", { class: "small" }, table.LatestStreamArn))
      : element("p", { class: "dim" }, "Off: changes to this table do not trigger functions."),
    element(
      "div",
      { class: "row" },
      on ? null : labelled("Records contain", view),
      button(on ? "Turn the stream off" : "Turn the stream on", change),
    ),
  );
}

/** @param {any} table @param {() => Promise<unknown>} again */
function indexes_card(table, again) {
  const indexes = [
    ...(table.GlobalSecondaryIndexes ?? []).map((/** @type {any} */ index) => ({ ...index, kind: "global" })),
    ...(table.LocalSecondaryIndexes ?? []).map((/** @type {any} */ index) => ({ ...index, kind: "local" })),
  ];
  const remove = async (/** @type {string} */ name) => {
    if (!(await confirmed(`This deletes the index ${name}. Its items stay in the table.`, "Delete the index"))) return;
    await dynamodb("UpdateTable", {
      TableName: table.TableName,
      GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: name } }],
    });
    await again();
  };
  return element(
    "section",
    { class: "card" },
    element(
      "div",
      { class: "row middle between" },
      element("h2", {}, "Indexes"),
      button("Add an index", () => create_index(table, again), { class: "small" }),
    ),
    indexes.length
      ? grid(
          "Indexes",
          ["Name", "Kind", "Keys", "Projection", ["Items", "right"], ["Size", "right"], ""],
          indexes.map((index) => [
            element("b", {}, index.IndexName),
            [index.kind, index.IndexStatus && index.IndexStatus !== "ACTIVE" ? badge(index.IndexStatus, "time") : null],
            element("div", {}, keys_text(index.KeySchema, table.AttributeDefinitions)),
            index.Projection.ProjectionType +
              (index.Projection.NonKeyAttributes ? ": " + index.Projection.NonKeyAttributes.join(", ") : ""),
            counted(index.ItemCount),
            sized(index.IndexSizeBytes),
            index.kind === "global"
              ? button("Delete", () => remove(index.IndexName), {
                  class: "small danger",
                  "aria-label": "Delete the index " + index.IndexName,
                })
              : null,
          ]),
        )
      : empty("No indexes. Add one to query by attributes other than the table's keys."),
  );
}
