// Fault rules, which make operations fail, and failpoints, which stop an item's expiry.
import { badge, button, counted, element, empty, failure, fill, grid, labelled, repeat, select } from "./elements.js";
import { control } from "./server.js";
import { key_text, parsed } from "./values.js";

// --- faults

const fault_kinds = [
  "throttle",
  "internal_server_error",
  "latency",
  "connection_closed",
  "unprocessed",
  "transaction_conflict",
  "stale_reads",
  "replicated_write_conflict",
];

/** @param {HTMLElement} place @param {AbortSignal} signal */
export async function draw_faults(place, signal) {
  const list = element("div", {});
  /** @type {any[]} */
  let bare = [];
  const look = async () => {
    /** @type {{ rules: any[] }} */
    const { rules } = await control("GET", "/faults", undefined, signal);
    bare = rules.map(({ asked, struck, ...rule }) => rule);
    if (list.contains(document.activeElement) && list.querySelectorAll("tbody tr").length === rules.length) return;
    fill(
      list,
      rules.length
        ? grid(
            "Faults",
            ["Fault", "Applies to", "Settings", ["Struck", "right"], ""],
            rules.map((rule, at) => [
              badge(rule.fault, "bad"),
              [rule.operation, rule.table].filter(Boolean).join(" on ") || "every operation",
              details(rule),
              `${counted(rule.struck)} of ${counted(rule.asked)}`,
              button("Remove", () => put(bare.filter((_, other) => other !== at)), {
                class: "small",
                "aria-label": "Remove the fault " + rule.fault,
              }),
            ]),
          )
        : empty("No fault rules. Add one to make operations fail, be slow, or read stale data."),
    );
  };
  const put = async (/** @type {any[]} */ next) => {
    await (next.length ? control("PUT", "/faults", { rules: next }) : control("DELETE", "/faults", {}));
    await look();
  };
  const kind = select(fault_kinds, "throttle", { onchange: () => fit() });
  const operation = element("input", { placeholder: "any operation", spellcheck: "false" }),
    table = element("input", { placeholder: "any table", spellcheck: "false" });
  const number = (/** @type {string} */ placeholder) =>
    element("input", { type: "number", min: 0, step: "any", placeholder });
  const fields = {
    count: number("always"),
    probability: number("1"),
    milliseconds: number("200"),
    writes: number("1"),
    items: number("all"),
    seed: number("0"),
  };
  const applied = select([["", "default"], "true", "false"], "");
  const rows = {
    applied: labelled("Applied", applied),
    milliseconds: labelled("Milliseconds", fields.milliseconds),
    writes: labelled("Writes behind", fields.writes),
    items: labelled("Unprocessed items", fields.items),
  };
  const fit = () => {
    rows.applied.hidden = !["internal_server_error", "latency", "connection_closed"].includes(kind.value);
    rows.milliseconds.hidden = !["latency", "stale_reads"].includes(kind.value);
    rows.writes.hidden = kind.value !== "stale_reads";
    rows.items.hidden = kind.value !== "unprocessed";
  };
  fit();
  const add = () => {
    /** @type {Record<string, any>} */
    const rule = { fault: kind.value };
    if (operation.value.trim()) rule.operation = operation.value.trim();
    if (table.value.trim()) rule.table = table.value.trim();
    if (applied.value && !rows.applied.hidden) rule.applied = applied.value === "true";
    for (const [name, control] of Object.entries(fields))
      if (control.value !== "" && !control.closest("label")?.hidden) rule[name] = Number(control.value);
    return put([...bare, rule]);
  };
  const details = (/** @type {any} */ { fault, operation, table, asked, struck, ...others }) =>
    Object.entries(others)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
      .join(", ");
  fill(
    place,
    element("h2", { id: "faults" }, "Faults"),
    list,
    element(
      "div",
      { class: "fields" },
      labelled("Fault", kind),
      labelled("Operation", operation),
      labelled("Table", table),
      Object.values(rows),
      labelled("Count", fields.count),
      labelled("Probability", fields.probability),
      labelled("Seed", fields.seed),
      button("Add", add, { class: "primary" }),
    ),
  );
  await look();
  repeat(signal, 2000, look);
}

// --- failpoints

/** @param {HTMLElement} place @param {AbortSignal} signal */
export async function draw_failpoints(place, signal) {
  const list = element("div", {});
  const again = async () => {
    const { failpoints } = await control("GET", "/failpoints", undefined, signal);
    all.hidden = failpoints.length < 2;
    fill(
      list,
      failpoints.length
        ? grid(
            "Failpoints",
            ["Table", "Key", "State", ""],
            failpoints.map((/** @type {any} */ one) => [
              one.table,
              element("td", { class: "value" }, key_text(one.key)),
              badge(one.state, one.state === "waiting" ? "time" : "blue"),
              button(
                "Release",
                async () => {
                  await control("DELETE", "/failpoints", { table: one.table, key: one.key });
                  await again();
                },
                { class: "small" },
              ),
            ]),
          )
        : empty("No failpoints are armed."),
    );
  };
  const all = button("Release all", async () => {
    await control("DELETE", "/failpoints", {});
    await again();
  });
  const table = element("input", { placeholder: "carts", spellcheck: "false" }),
    key = element("input", { placeholder: '{"id":{"S":"1"}}', class: "mono", spellcheck: "false" });
  const said = element("div", {});
  const arm = async () => {
    try {
      await control("PUT", "/failpoints", { table: table.value, key: parsed(key.value, "Key", '{"id": {"S": "1"}}') });
      await again();
    } catch (error) {
      fill(said, failure(error));
    }
  };
  fill(
    place,
    element("h2", { id: "failpoints" }, "Failpoints"),
    element(
      "p",
      { class: "dim" },
      "A failpoint holds an expired item just before its deletion, so that a test can renew it at that moment.",
    ),
    list,
    element(
      "div",
      { class: "row" },
      labelled("Table", table, "grow"),
      labelled("Key", key, "grow"),
      button("Arm", arm, { class: "primary" }),
      all,
    ),
    said,
  );
  await again();
  repeat(signal, 2000, async () => list.contains(document.activeElement) || again());
}
