// The shards of a table's stream.
import { badge, button, element, empty, failure, fill, grid, select } from "./elements.js";
import { control, dynamodb } from "./server.js";
import { link_to } from "./names.js";

/** @param {HTMLElement} place @param {string[]} names @param {AbortSignal} signal */
export async function draw_shards(place, names, signal) {
  const found = element("div", { class: "stack" });
  const show_of = async (/** @type {string} */ name) => {
    if (!name) return fill(found, empty("No tables yet. A table's stream has shards once the stream is on."));
    try {
      const answer = await control("GET", `/streams/${encodeURIComponent(name)}/shards`, undefined, signal);
      const act = async (/** @type {string} */ what, /** @type {any} */ body) => {
        await control("POST", `/streams/${encodeURIComponent(name)}/${what}`, body);
        await show_of(name);
      };
      fill(
        found,
        element(
          "div",
          { class: "row middle" },
          element("code", { class: "small dim grow" }, answer.stream),
          button("Split all", () => act("split", {}), { class: "small" }),
          button("Roll all", () => act("roll", {}), { class: "small" }),
        ),
        grid(
          "Shards",
          ["Shard", "Parent", "State", ""],
          answer.shards.map((/** @type {any} */ shard) => [
            element("code", { class: "nowrap" }, shard.id),
            element("code", { class: "nowrap dim" }, shard.parent ?? "–"),
            badge(shard.open ? "open" : "closed", shard.open ? "good" : ""),
            shard.open
              ? element(
                  "span",
                  { class: "row" },
                  button("Split", () => act("split", { shard: shard.id }), { class: "small" }),
                  button("Roll", () => act("roll", { shard: shard.id }), { class: "small" }),
                )
              : null,
          ]),
        ),
      );
    } catch (error) {
      if (signal.aborted) return;
      // Status 409 means that the table has no stream.
      if (/** @type {any} */ (error).status !== 409) return fill(found, failure(error));
      fill(
        found,
        empty(
          `The table ${name} has no stream. `,
          element("a", { href: link_to(name, "schema") }, "Turn it on under Schema"),
          ".",
        ),
      );
    }
  };
  const table = select(names, names[0], { onchange: () => show_of(table.value), "aria-label": "Shards of" });
  fill(place, element("div", { class: "row middle" }, element("h2", { id: "shards" }, "Shards"), table), found);
  // Begin with a table that has a stream.
  const described = await Promise.all(
    names.slice(0, 12).map((name) =>
      dynamodb("DescribeTable", { TableName: name }, signal).then(
        (answer) => answer.Table,
        () => null,
      ),
    ),
  );
  const first = described.find((one) => one?.StreamSpecification?.StreamEnabled)?.TableName ?? names[0];
  if (first) table.value = first;
  await show_of(first);
}
