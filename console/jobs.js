// Jobs: exports, imports, bulk puts and restores that run in the background.
import {
  badge,
  button,
  counted,
  element,
  empty,
  fill,
  grid,
  labelled,
  moment,
  repeat,
  select,
  tell,
} from "./elements.js";
import { definitions, keys_form } from "./create_table.js";
import { dialog, form_dialog } from "./dialogs.js";
import { control, dynamodb } from "./server.js";
import { link_to } from "./names.js";

const look_every_ms = 2000;

/** @param {HTMLElement} place @param {string[]} names @param {AbortSignal} signal */
export async function draw_jobs(place, names, signal) {
  const list = element("div", {});
  const look = async () => {
    const { jobs } = await control("GET", "/jobs", undefined, signal);
    fill(
      list,
      jobs.length
        ? grid("Jobs", ["Job", "Table", "State", "Progress", "Counts", "Started", ""], jobs.map(job_row))
        : empty(
            "No jobs yet. Exports and imports use buckets: start the server with ",
            element("code", {}, "--bucket NAME=DIRECTORY"),
            ".",
          ),
    );
  };
  fill(
    place,
    element(
      "div",
      { class: "row middle between" },
      element("h2", { id: "jobs" }, "Jobs"),
      element(
        "div",
        { class: "row" },
        names.length ? button("Export a table", () => export_table(names, look), { class: "small" }) : null,
        button("Import a table", () => import_table(look), { class: "small" }),
      ),
    ),
    list,
  );
  await look();
  repeat(signal, look_every_ms, async () => list.contains(document.activeElement) || look());
}

/** @param {any} one */
function job_row(one) {
  const kinds = /** @type {Record<string, string>} */ ({ COMPLETED: "good", FAILED: "bad", CANCELLED: "bad" });
  return [
    [element("b", {}, one.kind), element("div", { class: "small dim" }, one.id)],
    [element("a", { href: link_to(one.table) }, one.table), element("div", { class: "small dim nowrap" }, one.region)],
    [
      badge(one.status, kinds[one.status] ?? "time"),
      one.failure_code
        ? element("div", { class: "small failure" }, `${one.failure_code}: ${one.failure_message ?? ""}`)
        : null,
    ],
    element("progress", { max: 100, value: one.percent, "aria-label": `Progress of ${one.id}` }),
    element(
      "span",
      { class: "small" },
      Object.entries(one.counts)
        .map(([name, count]) => `${name} ${counted(Number(count))}`)
        .join(", "),
    ),
    element("span", { class: "nowrap small" }, moment(Date.parse(one.started))),
    one.kind === "restore"
      ? null
      : button("Log", () => show_log(one.id), { class: "small", "aria-label": "Log of " + one.id }),
  ];
}

/** @param {string} id */
async function show_log(id) {
  const { lines } = await control("GET", `/jobs/${encodeURIComponent(id)}/log`);
  const text = lines
    .map((/** @type {any} */ line) => (typeof line === "string" ? line : JSON.stringify(line)))
    .join("\n");
  dialog(
    "Log of " + id,
    [text ? element("pre", { class: "mono", tabindex: 0 }, text) : empty("The log is empty: nothing went wrong.")],
    [],
  );
}

/** @param {string | string[]} of a table, or the tables to choose from @param {() => Promise<unknown>} done */
export function export_table(of, done) {
  const table = select(Array.isArray(of) ? of : [of]);
  const bucket = element("input", { spellcheck: "false", placeholder: "exports" }),
    prefix = element("input", { spellcheck: "false", placeholder: "no prefix" });
  const format = select(["DYNAMODB_JSON", "ION"]);
  const kind = select(
    [
      ["FULL_EXPORT", "the whole table"],
      ["INCREMENTAL_EXPORT", "changes in a window"],
    ],
    "FULL_EXPORT",
    { onchange: () => fit() },
  );
  const time = () => element("input", { type: "datetime-local", step: 1 });
  const at = time(),
    from = time(),
    to = time();
  const full = [labelled("As of (UTC; empty: now)", at)];
  const window = [labelled("From (UTC)", from, "grow"), labelled("To (UTC)", to, "grow")];
  const fit = () => {
    for (const one of full) one.hidden = kind.value !== "FULL_EXPORT";
    for (const one of window) one.hidden = kind.value === "FULL_EXPORT";
  };
  fit();
  const seconds = (/** @type {HTMLInputElement} */ input) =>
    input.value ? Date.parse(input.value + "Z") / 1000 : undefined;
  form_dialog(
    "Export a table",
    [
      element("p", { class: "dim" }, "Writes the table to a bucket. The table's point-in-time recovery must be on."),
      element("div", { class: "row" }, labelled("Table", table, "grow"), labelled("What", kind, "grow")),
      element("div", { class: "row" }, full, window),
      element("div", { class: "row" }, labelled("Bucket", bucket, "grow"), labelled("Key prefix", prefix, "grow")),
      labelled("Format", format),
    ],
    "Export",
    async () => {
      const { Table } = await dynamodb("DescribeTable", { TableName: table.value });
      await dynamodb("ExportTableToPointInTime", {
        TableArn: Table.TableArn,
        S3Bucket: bucket.value.trim(),
        S3Prefix: prefix.value.trim() || undefined,
        ExportFormat: format.value,
        ExportType: kind.value,
        ...(kind.value === "FULL_EXPORT"
          ? { ExportTime: seconds(at) }
          : { IncrementalExportSpecification: { ExportFromTime: seconds(from), ExportToTime: seconds(to) } }),
      });
      tell(`The export of ${table.value} has started.`);
    },
    done,
  );
}

/** @param {() => Promise<unknown>} done */
function import_table(done) {
  const bucket = element("input", { spellcheck: "false", placeholder: "imports" }),
    prefix = element("input", { spellcheck: "false", placeholder: "no prefix" });
  const format = select(["DYNAMODB_JSON", "CSV", "ION"]),
    compression = select(["NONE", "GZIP", "ZSTD"]);
  const name = element("input", { spellcheck: "false" });
  const keys = keys_form("id");
  form_dialog(
    "Import a table",
    [
      element("p", { class: "dim" }, "Creates a new table from the files in a bucket."),
      element("div", { class: "row" }, labelled("Bucket", bucket, "grow"), labelled("Key prefix", prefix, "grow")),
      element(
        "div",
        { class: "row" },
        labelled("Format", format, "grow"),
        labelled("Compression", compression, "grow"),
      ),
      labelled("New table", name),
      ...keys.nodes,
    ],
    "Import",
    async () => {
      const own = keys.read();
      await dynamodb("ImportTable", {
        ClientToken: Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join("-"),
        S3BucketSource: { S3Bucket: bucket.value.trim(), S3KeyPrefix: prefix.value.trim() || undefined },
        InputFormat: format.value,
        InputCompressionType: compression.value,
        TableCreationParameters: {
          TableName: name.value.trim(),
          BillingMode: "PAY_PER_REQUEST",
          AttributeDefinitions: definitions(own.keys),
          KeySchema: own.schema,
        },
      });
      tell(`The import of ${name.value.trim()} has started.`);
    },
    done,
  );
}
