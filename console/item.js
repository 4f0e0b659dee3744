// One item: its editor, and why it has not expired.
import { badge, button, choice, element, failure, fill, sized, spanned, tell } from "./elements.js";
import { show_call } from "./calls.js";
import { confirmed, dialog } from "./dialogs.js";
import { keys_of, Placeholders } from "./search.js";
import { control, dynamodb, now } from "./server.js";
import { verdict, verdict_line } from "./ttl.js";
import { attribute, fits_form, form, key_of, key_text, parsed } from "./values.js";

/** @typedef {import("./values.js").Item} Item */

/** Parses JSON of an item that the user is still typing, and returns one attribute; undefined if the text cannot be parsed yet. @param {string} text @param {string} name */
function value_in(text, name) {
  try {
    const value = attribute(JSON.parse(text), name);
    return value && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param {Item} item @param {string[]} keys */
function keys_first(item, keys) {
  const names = [...keys, ...Object.keys(item).filter((name) => !keys.includes(name))];
  return Object.fromEntries(names.map((name) => [name, item[name]]));
}

/** The reasons in the response to `explain` for an item that has the TTL attribute but never expires. */
const never_reasons = ["milliseconds", "not_a_number", "too_old"];

/** @param {string} table @param {Item} key */
export const explain = async (table, key) =>
  explanation(await control("POST", `/ttl/${encodeURIComponent(table)}/explain`, { key }));

/** @param {any} answer of explain */
const explanation = (answer) =>
  element(
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

/**
 * The UpdateItem input that turns `before` into `after`; null if they are the same.
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
 * @param {string | null} ttl the attribute by which items expire
 * @param {Item | null} before null: a new item
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
      const made = form(item, before ? keys : [], { ttl });
      read = made.read;
      fill(place, made.node);
    } else {
      const text = element("textarea", {
        "aria-label": "The item as DynamoDB JSON",
        rows: Math.min(24, Math.max(8, JSON.stringify(item, null, 2).slice(0, 9000).split("\n").length + 1)),
        spellcheck: "false",
      });
      text.value = JSON.stringify(item, null, 2);
      read = () => parsed(text.value, "The item", '{"id": {"S": "1"}}');
      const warning = element("div", { role: "status" });
      const look = () => {
        const value = ttl === null ? undefined : value_in(text.value, ttl);
        const of = value && verdict(value);
        fill(warning, of && of.kind !== "expires" ? verdict_line(of, null) : null);
      };
      text.addEventListener("input", look);
      look();
      fill(place, text, warning);
    }
  };
  const switched = (/** @type {string} */ chosen) => {
    try {
      const item = read();
      if (chosen === "form" && !fits_form(item))
        throw new Error("This item has too many attributes for the form. Edit it as JSON.");
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
        // Without the condition, an item that was deleted in the meantime would be recreated with only some attributes.
        if (input)
          await dynamodb("UpdateItem", {
            ...input,
            ConditionExpression: "attribute_exists(#key)",
            ExpressionAttributeNames: { ...input.ExpressionAttributeNames, "#key": keys[0] },
          });
      },
      before ? "Item updated." : "Item written.",
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
          "Show as",
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
              if (await confirmed(`This deletes the item ${key_text(key_of(before, keys))}.`, "Delete the item"))
                await attempt(
                  () => dynamodb("DeleteItem", { TableName: table.TableName, Key: key_of(before, keys) }),
                  "Item deleted.",
                );
            },
            { class: "danger left" },
          )
        : null,
      before
        ? button(
            "Explain",
            guarded(async () => fill(said, await explain(table.TableName, key_of(before, keys)))),
            { title: "Why it has not expired" },
          )
        : null,
      button("Copy as code", guarded(call)),
      before
        ? button("Replace", () => attempt(() => dynamodb("PutItem", put_input()), "Item replaced."), {
            title: "PutItem: replaces the whole item",
          })
        : null,
      button(before ? "Update" : "Put", save, {
        class: "primary",
        title: before ? "UpdateItem: writes only what you changed" : "PutItem, if no item has this key",
      }),
    ],
  );
  draw(begun);
  if (before && ttl) warn(table.TableName, key_of(before, keys), said).catch(() => {});
}

/** Warns if the stored item's TTL can never fire. @param {string} table @param {Item} key @param {HTMLElement} said */
async function warn(table, key, said) {
  const answer = await control("POST", `/ttl/${encodeURIComponent(table)}/explain`, { key });
  if (never_reasons.includes(answer.reason) && !said.hasChildNodes()) fill(said, explanation(answer));
}
