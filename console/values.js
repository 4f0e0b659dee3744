// Shows DynamoDB's values, such as {"S":"…"}, as text in tables and as a form. Binary values (B) show their bytes.
import { button, element, fill, select, sized } from "./elements.js";
import { ttl_fields, verdict, verdict_line } from "./ttl.js";

/** @typedef {Record<string, any>} Value one member, named by its type */
/** @typedef {Record<string, Value>} Item */

export const types = ["S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"];

/** An attribute, or undefined. Ignores inherited properties, since "constructor" is a valid attribute name. @param {Item | undefined} item @param {string} name @returns {Value | undefined} */
export const attribute = (item, name) => (item && Object.hasOwn(item, name) ? item[name] : undefined);

/** @param {Value} value */
export const type_of = (value) => Object.keys(value)[0];

/** @param {string} base64 */
function bytes_of(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** @param {string} base64 @param {number} most */
function dump(base64, most) {
  const size = Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
  const shown = [...bytes_of(base64.slice(0, Math.ceil(most / 3) * 4))].slice(0, most);
  const hex = shown.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${sized(size)}${hex ? ": " + hex : ""}${size > shown.length ? " …" : ""}`;
}

/**
 * A value as one line of at most `most` characters.
 * @param {Value} value
 * @param {number} [most]
 * @returns {string}
 */
export function brief(value, most = 120) {
  const type = type_of(value),
    held = value[type];
  const cut = (/** @type {string} */ text) => (text.length > most ? text.slice(0, most) + "…" : text);
  const several = (/** @type {any[]} */ parts, /** @type {(part: any) => string} */ print) => {
    const printed = [];
    let length = 0;
    for (const part of parts) {
      if (length > most) return printed.join(", ") + ", …";
      printed.push(print(part));
      length += printed[printed.length - 1].length;
    }
    return printed.join(", ");
  };
  switch (type) {
    case "S":
      return cut(held);
    case "N":
      return held;
    case "B":
      return dump(held, 12);
    case "BOOL":
      return String(held);
    case "NULL":
      return "null";
    case "SS":
    case "NS":
      return "{" + several(held, (part) => cut(part)) + "}";
    case "BS":
      return "{" + several(held, (part) => dump(part, 6)) + "}";
    case "L":
      return "[" + several(held, (part) => brief(part, 40)) + "]";
    case "M":
      return "{" + several(Object.entries(held), ([name, part]) => cut(name) + ": " + brief(part, 40)) + "}";
    default:
      return cut(JSON.stringify(value));
  }
}

/** A value as a cell of a table. @param {Value | undefined} value */
export function cell(value) {
  if (!value) return element("td", { class: "value" });
  const text = brief(value, 90);
  return element("td", { class: "value " + type_of(value), title: text }, text);
}

/** @param {Item} item @param {string[]} keys */
export const key_of = (item, keys) => Object.fromEntries(keys.map((name) => [name, item[name]]));
/** @param {Item} key */
export const key_text = (key) =>
  Object.entries(key)
    .map(([name, value]) => name + " = " + brief(value, 60))
    .join(", ");

/**
 * Parses JSON that a user typed.
 * @param {string} text @param {string} name of the field @param {string} example
 */
export function parsed(text, name, example) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not valid JSON: ${/** @type {Error} */ (error).message}. Example: ${example}`);
  }
}

/** Converts text that a user typed to a value of a type. @param {string} type @param {string} text @returns {Value} */
export function typed(type, text) {
  switch (type) {
    case "BOOL":
      return { BOOL: text === "true" };
    case "NULL":
      return { NULL: true };
    case "SS":
    case "NS":
    case "BS":
      return { [type]: text.split("\n").filter((line) => line !== "") };
    case "L":
    case "M":
      return { [type]: JSON.parse(text) };
    case "N":
    case "B":
      return { [type]: text.trim() };
    default:
      return { [type]: text };
  }
}

// --- a form

const rows_max = 400; // attributes that a form shows; larger items are edited as JSON

/** @param {Value} value @returns {number} */
export function count_rows(value) {
  const parts = value.M ? Object.values(value.M) : value.L;
  return (
    1 + (parts ? parts.reduce((/** @type {number} */ sum, /** @type {Value} */ part) => sum + count_rows(part), 0) : 0)
  );
}
/** @param {Item} item */
export const fits_form = (item) => count_rows({ M: item }) <= rows_max;

/**
 * The form of an item, or of a map in it. `read()` returns the item as edited.
 * @param {Item} item
 * @param {string[]} fixed names of attributes that cannot be changed: the key of a stored item
 * @param {{ listed?: boolean, ttl?: string | null }} [options] `listed`: `item` is a list, and its names are positions; `ttl`: the TTL attribute
 */
export function form(item, fixed, { listed = false, ttl = null } = {}) {
  /** @type {{ name: () => string, value: () => Value, row: HTMLElement }[]} */
  let rows = [];
  const list = element("div", { class: "editor" });
  const number = () => {
    if (listed)
      list.querySelectorAll(":scope > .attribute > .place").forEach((place, at) => (place.textContent = String(at)));
  };
  /** @param {string} name @param {Value} value @param {boolean} [focused] */
  const add = (name, value, focused) => {
    const stays = fixed.includes(name);
    const named = element("input", {
      value: name,
      placeholder: "attribute",
      "aria-label": "Attribute's name",
      class: "mono",
      spellcheck: "false",
      readonly: stays,
    });
    const place = element("span", { class: "place" });
    const held = element("div", { class: "held" });
    /** @type {() => Value} */
    let read = () => value;
    const use = (/** @type {Value} */ fix) => {
      kinds.value = type_of(fix);
      edit(kinds.value, fix);
    };
    const edit = (/** @type {string} */ type, /** @type {Value} */ of) => {
      const made = value_form(type, of, named, stays, ttl !== null && named.value === ttl ? use : null);
      read = made.read;
      fill(held, made.node);
      held.classList.toggle("inner", type === "M" || type === "L");
    };
    const kinds = select(types, type_of(value), {
      "aria-label": "Type",
      onchange: () => edit(kinds.value, { [kinds.value]: changed(read, kinds.value) }),
    });
    kinds.disabled = stays;
    // Renaming an attribute may make it the TTL attribute, or stop it from being the TTL attribute.
    let expires = named.value === ttl;
    named.addEventListener("input", () => {
      if (expires === (named.value === ttl)) return;
      expires = !expires;
      edit(kinds.value, changed_value(read, kinds.value));
    });
    const row = element(
      "div",
      { class: listed ? "attribute listed" : "attribute" },
      listed ? place : named,
      kinds,
      held,
      stays
        ? element("span", { class: "badge accent last" }, "key")
        : button(
            "✕",
            () => {
              rows = rows.filter((one) => one.row !== row);
              row.remove();
              number();
            },
            { class: "quiet small last", "aria-label": listed ? "Remove the element" : "Remove the attribute " + name },
          ),
    );
    edit(type_of(value), value);
    rows.push({ name: () => named.value, value: () => read(), row });
    list.append(row);
    number();
    if (focused) (listed ? kinds : named).focus();
  };
  for (const [name, value] of Object.entries(item)) add(name, value);
  const node = element(
    "div",
    { class: "stack" },
    list,
    element(
      "div",
      {},
      button(listed ? "Add an element" : "Add an attribute", () => add("", { S: "" }, true), { class: "small" }),
    ),
  );
  return {
    node,
    read: () => {
      /** @type {Item} */
      const made = {};
      rows.forEach((row, at) => {
        const name = listed ? String(at) : row.name();
        if (!listed && Object.hasOwn(made, name)) throw new Error(`The attribute ${name} appears twice. Rename one.`);
        Object.defineProperty(made, name, { value: row.value(), enumerable: true, configurable: true, writable: true });
      });
      return made;
    },
  };
}

/** The value, or as much of it as can be read. @param {() => Value} read @param {string} type @returns {Value} */
function changed_value(read, type) {
  try {
    return read();
  } catch {
    return { [type]: changed(read, type) };
  }
}

/** The contents that a value has after the user changes its type to `type`. Text is kept; other contents are dropped. @param {() => Value} read @param {string} type */
function changed(read, type) {
  if (type === "M") return {};
  if (type === "L") return [];
  if (type === "NULL") return true;
  if (type === "BOOL") return false;
  let text = "";
  try {
    const value = read(),
      held = value[type_of(value)];
    text = typeof held === "string" ? held : Array.isArray(held) && typeof held[0] === "string" ? held.join("\n") : "";
  } catch {
    // The value cannot be read, so no text is kept.
  }
  return type.endsWith("S") && type.length === 2 ? text.split("\n").filter(Boolean) : text;
}

/**
 * @param {string} type @param {Value} value @param {HTMLInputElement} named @param {boolean} stays
 * @param {((fix: Value) => void) | null} expires for the TTL attribute: replaces this value with another one
 * @returns {{ node: HTMLElement, read: () => Value }}
 */
function value_form(type, value, named, stays, expires) {
  const held = value[type],
    label = { "aria-label": "Value of " + (named.value || "the attribute") };
  if (type === "M" || type === "L") {
    const inner = form(
      type === "M"
        ? held
        : Object.fromEntries(held.map((/** @type {Value} */ one, /** @type {number} */ at) => [at, one])),
      [],
      { listed: type === "L" },
    );
    return { node: inner.node, read: () => ({ [type]: type === "M" ? inner.read() : Object.values(inner.read()) }) };
  }
  if (type === "NULL") return { node: element("span", { class: "dim" }, "null"), read: () => ({ NULL: true }) };
  if (type === "BOOL") {
    const control = select(["true", "false"], String(held), label);
    return { node: control, read: () => ({ BOOL: control.value === "true" }) };
  }
  if (type === "N") {
    const control = element("input", { ...label, value: held, inputmode: "decimal", class: "mono N", readonly: stays });
    const node = expires ? element("div", { class: "stack tight" }, control, ttl_fields(control)) : control;
    return { node, read: () => typed("N", control.value) };
  }
  const text = Array.isArray(held) ? held.join("\n") : held;
  const hints = { B: "base64", SS: "a string on each line", NS: "a number on each line", BS: "base64 on each line" };
  const lines = Math.min(8, Math.max(1, text.slice(0, 4000).split("\n").length, Math.ceil(text.length / 60)));
  const control = element("textarea", {
    ...label,
    rows: lines,
    placeholder: /** @type {any} */ (hints)[type],
    spellcheck: "false",
    readonly: stays,
    class: type,
  });
  control.value = text;
  // A textarea normalizes line ends. To keep the original line ends, a value that was not edited is returned without
  // reading the textarea.
  const shown = control.value;
  const read = () => (control.value === shown && type_of(value) === type ? value : typed(type, control.value));
  if (type !== "B") {
    const warning = expires ? verdict_line(verdict(value), expires) : null;
    return { node: warning ? element("div", { class: "stack tight" }, control, warning) : control, read };
  }
  const about = element("span", { class: "type" });
  const tell_size = () => (about.textContent = dump(control.value.trim(), 16));
  control.addEventListener("input", tell_size);
  tell_size();
  return { node: element("div", {}, control, about), read };
}
