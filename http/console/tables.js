// The pane of tables: which there are, and of one its items, its schema, and PartiQL.
import {
  badge,
  button,
  confirmed,
  counted,
  dialog,
  element,
  failure,
  fill,
  grid,
  labelled,
  moment,
  repeat,
  select,
  sized,
  spanned,
  tell,
} from "./elements.js";
import { items_pane, partiql_pane } from "./items.js";
import { parse, sizes } from "./metrics.js";
import { control, dynamodb, metrics, now, world } from "./server.js";

const names_per_page = 100,
  counts_every_ms = 4000;

/** @param {...string} parts */
export const link_to = (...parts) => "#/tables/" + parts.map(encodeURIComponent).join("/");

/** The next names behind `after`. @param {string | undefined} after @param {AbortSignal} [signal] */
async function page_of_names(after, signal) {
  const page = await dynamodb("ListTables", { Limit: names_per_page, ExclusiveStartTableName: after }, signal);
  return {
    names: /** @type {string[]} */ (page.TableNames),
    after: /** @type {string | undefined} */ (page.LastEvaluatedTableName),
  };
}

/** All of them; other panes choose among them. @param {AbortSignal} [signal] */
export async function all_names(signal) {
  const names = [];
  for (let after; ;) {
    const page = await page_of_names(after, signal);
    names.push(...page.names);
    after = page.after;
    if (!after) return names;
  }
}

/** @param {HTMLElement} place @param {string[]} path @param {AbortSignal} signal */
export async function show(place, path, signal) {
  const [name, tab = "items"] = path;
  const [{ list, empty }] = await Promise.all([side(name, signal)]);
  const body = element("div", { class: "stack" });
  place.append(element("div", { class: name ? "columns chosen" : "columns" }, list, body));
  if (name) return show_table(body, name, tab, signal);
  body.append(empty ? nothing_here() : element("div", { class: "card empty" }, "Choose a table."));
}

function nothing_here() {
  return element(
    "section",
    { class: "card stack" },
    element("h1", {}, "No tables yet"),
    element(
      "p",
      {},
      `Account ${world.account} has no tables in ${world.region}. Point a test or a program at this server, or begin here:`,
    ),
    element(
      "pre",
      { class: "mono", tabindex: 0 },
      `aws dynamodb create-table --endpoint-url ${location.origin} --region ${world.region} \\
  --table-name carts --billing-mode PAY_PER_REQUEST \\
  --attribute-definitions AttributeName=id,AttributeType=S --key-schema AttributeName=id,KeyType=HASH`,
    ),
    element("div", {}, button("Create a table", create_table, { class: "primary" })),
  );
}

// --- the list

/** @param {string | undefined} chosen @param {AbortSignal} signal */
async function side(chosen, signal) {
  /** @type {string[]} */
  let names = [];
  /** @type {string | undefined} */
  let after;
  let counts = sizes([], "", "");
  const search = element("input", { type: "search", placeholder: "Find a table", "aria-label": "Find a table" });
  const list = element("ul", {});
  const more = button("More tables", () => load(), { class: "small" });
  const load = async () => {
    const page = await page_of_names(after, signal);
    names.push(...page.names);
    after = page.after;
    draw();
  };
  const count = async () => {
    counts = sizes(parse(await metrics(signal)), world.account, world.region);
    draw();
  };
  const draw = () => {
    const wanted = search.value.toLowerCase();
    const found = names.filter((name) => name.toLowerCase().includes(wanted));
    const focused =
      document.activeElement instanceof HTMLAnchorElement && list.contains(document.activeElement)
        ? document.activeElement.getAttribute("href")
        : null;
    fill(
      list,
      found.map((name) => {
        const of = counts.get(name);
        return element(
          "li",
          {},
          element(
            "a",
            { href: link_to(name), "aria-current": name === chosen ? "page" : null },
            element("span", { class: "name", title: name }, name),
            element("span", { class: "count" }, of ? counted(of.items) : ""),
            element("span", { class: "small" }, of?.pending ? counted(of.pending) + " will expire" : ""),
            element("span", { class: "small right" }, of ? sized(of.bytes) : ""),
          ),
        );
      }),
    );
    if (!found.length)
      list.append(element("li", { class: "empty" }, names.length ? "No table is called so." : "No tables."));
    more.hidden = !after;
    if (focused) /** @type {HTMLElement | null} */ (list.querySelector(`a[href="${CSS.escape(focused)}"]`))?.focus();
  };
  search.addEventListener("input", async () => {
    draw();
    if (!after) return;
    try {
      // What is not there yet may be what is looked for.
      while (after && !signal.aborted) await load();
    } catch (error) {
      tell(error);
    }
  });
  await Promise.all([load(), count()]);
  repeat(signal, counts_every_ms, count);
  return {
    empty: !names.length,
    list: element(
      "nav",
      { class: "card side", "aria-label": "Tables" },
      element(
        "div",
        { class: "row middle between" },
        element("h2", {}, "Tables"),
        button("New table", create_table, { class: "small" }),
      ),
      labelled("", search),
      list,
      more,
    ),
  };
}

function create_table() {
  const name = element("input", { required: true, autofocus: true, spellcheck: "false" });
  const key = element("input", { value: "id", spellcheck: "false" }),
    key_type = select(["S", "N", "B"]);
  const sort = element("input", { placeholder: "none", spellcheck: "false" }),
    sort_type = select(["S", "N", "B"]);
  const ttl = element("input", { placeholder: "none", spellcheck: "false" });
  const stream = element("input", { type: "checkbox", checked: true });
  const wrong = element("div", {});
  const make = async () => {
    const attributes = [
      [key.value, key_type.value, "HASH"],
      ...(sort.value ? [[sort.value, sort_type.value, "RANGE"]] : []),
    ];
    try {
      await dynamodb("CreateTable", {
        TableName: name.value,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: attributes.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
        KeySchema: attributes.map(([AttributeName, , KeyType]) => ({ AttributeName, KeyType })),
        StreamSpecification: stream.checked ? { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } : undefined,
      });
      if (ttl.value)
        await dynamodb("UpdateTimeToLive", {
          TableName: name.value,
          TimeToLiveSpecification: { Enabled: true, AttributeName: ttl.value },
        });
    } catch (error) {
      return fill(wrong, failure(error));
    }
    made.close();
    location.hash = link_to(name.value);
  };
  const made = dialog(
    "Create a table",
    [
      labelled("Name", name),
      element("div", { class: "row" }, labelled("Partition key", key, "grow"), labelled("Type", key_type)),
      element("div", { class: "row" }, labelled("Sort key", sort, "grow"), labelled("Type", sort_type)),
      labelled("TTL attribute", ttl),
      labelled("A stream with old and new images", stream),
      wrong,
    ],
    [button("Create", make, { class: "primary" })],
    "narrow",
  );
}

// --- one table

/** @param {HTMLElement} place @param {string} name @param {string} tab @param {AbortSignal} signal */
async function show_table(place, name, tab, signal) {
  const back = element("a", { class: "back", href: "#/tables" }, "← All tables");
  let table, ttl;
  try {
    [table, ttl] = await Promise.all([
      dynamodb("DescribeTable", { TableName: name }, signal).then((answer) => answer.Table),
      control("GET", `/ttl/${encodeURIComponent(name)}`, undefined, signal),
    ]);
  } catch (error) {
    if (signal.aborted) throw error;
    return place.append(back, element("h1", {}, name), failure(error));
  }
  const tabs = [
    ["items", "Items"],
    ["partiql", "PartiQL"],
    ["schema", "Schema"],
  ];
  place.append(
    back,
    element(
      "div",
      { class: "row middle between" },
      element(
        "div",
        { class: "row middle" },
        element("h1", {}, name),
        table.TableStatus === "ACTIVE" ? null : badge(table.TableStatus, "time"),
        ttl.status === "ENABLED" ? badge("TTL: " + ttl.attribute, "time") : null,
        table.StreamSpecification?.StreamEnabled ? badge("stream", "accent") : null,
      ),
      element("span", { class: "dim" }, `${counted(table.ItemCount)} items, ${sized(table.TableSizeBytes)}`),
    ),
    element(
      "nav",
      { class: "tabs", "aria-label": "Of this table" },
      tabs.map(([own, text]) =>
        element("a", { href: link_to(name, own), "aria-current": own === tab ? "page" : null }, text),
      ),
    ),
  );
  if (tab === "schema") return schema(place, table, ttl);
  if (tab === "partiql") return partiql_pane(place, table, signal);
  return items_pane(place, table, ttl, signal);
}

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

/** @param {HTMLElement} place @param {any} table @param {any} ttl */
async function schema(place, table, ttl) {
  const own = table.AttributeDefinitions;
  const indexes = [
    ...(table.GlobalSecondaryIndexes ?? []).map((/** @type {any} */ index) => ({ ...index, kind: "global" })),
    ...(table.LocalSecondaryIndexes ?? []).map((/** @type {any} */ index) => ({ ...index, kind: "local" })),
  ];
  const tags = await dynamodb("ListTagsOfResource", { ResourceArn: table.TableArn }).then(
    (answer) => answer.Tags,
    () => [],
  );
  place.append(
    element(
      "section",
      { class: "card" },
      element("h2", {}, "Table"),
      facts([
        ["Keys", keys_text(table.KeySchema, own)],
        [
          "Billing",
          table.BillingModeSummary?.BillingMode ??
            `PROVISIONED, ${table.ProvisionedThroughput.ReadCapacityUnits} read, ${table.ProvisionedThroughput.WriteCapacityUnits} write`,
        ],
        ["Created", `${moment(table.CreationDateTime * 1000)} (${spanned(table.CreationDateTime * 1000 - now())})`],
        ["ARN", element("code", {}, table.TableArn)],
        [
          "TTL",
          ttl.status === "ENABLED"
            ? [element("code", {}, ttl.attribute), ` (${ttl.mode}), ${counted(ttl.pending)} pending`]
            : "off",
        ],
        [
          "Stream",
          table.StreamSpecification
            ? [table.StreamSpecification.StreamViewType, " ", element("code", {}, table.LatestStreamArn)]
            : "off",
        ],
        ["Deletion protection", table.DeletionProtectionEnabled ? "on" : "off"],
        [
          "Tags",
          tags.length
            ? tags.map((/** @type {any} */ tag) => element("div", {}, element("code", {}, tag.Key), " = ", tag.Value))
            : "none",
        ],
      ]),
    ),
    element(
      "section",
      { class: "card" },
      element("h2", {}, "Indexes"),
      indexes.length
        ? grid(
            "Indexes",
            ["Name", "Kind", "Keys", "Projection", ["Items", "right"], ["Size", "right"]],
            indexes.map((index) => [
              element("b", {}, index.IndexName),
              index.kind + (index.IndexStatus && index.IndexStatus !== "ACTIVE" ? ", " + index.IndexStatus : ""),
              element("div", {}, keys_text(index.KeySchema, own)),
              index.Projection.ProjectionType +
                (index.Projection.NonKeyAttributes ? ": " + index.Projection.NonKeyAttributes.join(", ") : ""),
              counted(index.ItemCount),
              sized(index.IndexSizeBytes),
            ]),
          )
        : element("p", { class: "dim" }, "None."),
    ),
    element(
      "details",
      { class: "card" },
      element("summary", {}, "As DescribeTable has it"),
      element("pre", { class: "mono", tabindex: 0 }, JSON.stringify(table, null, 2)),
    ),
    element(
      "div",
      {},
      button(
        "Delete the table",
        async () => {
          if (
            !(await confirmed(
              `The table ${table.TableName} and its ${counted(table.ItemCount)} items are deleted.`,
              "Delete the table",
            ))
          )
            return;
          await dynamodb("DeleteTable", { TableName: table.TableName });
          location.hash = "#/tables";
        },
        { class: "danger" },
      ),
    ),
  );
}
