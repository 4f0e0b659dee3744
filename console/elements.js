// The building blocks of panes: elements that contain text. Nothing here takes markup, so a name or a value from a table is always
// shown as text.
//
//   element("button", { class: "primary", onclick: save }, "Save")

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @param {Element} made
 * @param {Record<string, any>} properties `on…`: a listener; true: an attribute without a value; false or null: no attribute
 * @param {(Child | Child[])[]} children
 */
function furnish(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in made) /** @type {any} */ (made).value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    made.append(child instanceof Node ? child : String(child));
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  // The value of a select can be set only once its options exist.
  const { value, ...others } = properties;
  furnish(made, others, children);
  if (value !== undefined && value !== null) furnish(made, { value }, []);
  return made;
}

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function drawn(tag, properties = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  furnish(made, properties, children);
  return /** @type {SVGElement} */ (made);
}

/**
 * @param {string} text
 * @param {() => unknown} press while it runs, the button ignores clicks; an error becomes a notice
 * @param {Record<string, any>} [properties]
 */
export function button(text, press, properties = {}) {
  const made = element("button", { type: "button", ...properties }, text);
  made.addEventListener("click", async () => {
    if (made.getAttribute("aria-busy")) return;
    made.setAttribute("aria-busy", "true");
    try {
      await press();
    } catch (error) {
      tell(error);
    } finally {
      made.removeAttribute("aria-busy");
    }
  });
  return made;
}

/**
 * @template {HTMLElement} Control
 * @param {string} text
 * @param {Control} control
 * @param {string} [kind]
 */
export function labelled(text, control, kind = "") {
  const box = control instanceof HTMLInputElement && control.type === "checkbox";
  return box
    ? element("label", { class: ("check " + kind).trim() }, control, text)
    : element("label", { class: kind || null }, text, control);
}

/**
 * @param {(string | [string, string])[]} options values, or pairs of a value and its label
 * @param {string} [value]
 * @param {Record<string, any>} [properties]
 */
export function select(options, value, properties = {}) {
  const list = options.map((option) => {
    const [own, text] = typeof option === "string" ? [option, option] : option;
    return element("option", { value: own }, text);
  });
  return element("select", { ...properties, value }, list);
}

let groups = 0;
/**
 * Radio buttons for one choice.
 * @param {string} legend
 * @param {[string, string][]} options
 * @param {string} value
 * @param {(value: string) => void} chosen
 */
export function choice(legend, options, value, chosen) {
  const name = "choice" + ++groups;
  return element(
    "fieldset",
    { class: "choice" },
    element("legend", { class: "hidden-label" }, legend),
    options.map(([own, text]) =>
      element(
        "label",
        {},
        element("input", { type: "radio", name, value: own, checked: own === value, onchange: () => chosen(own) }),
        element("span", {}, text),
      ),
    ),
  );
}

/**
 * A table. If the table is wider than its card, the table scrolls sideways, also with the keyboard.
 * @param {string} about its name for screen readers
 * @param {(string | [string, string])[]} heads headings, each optionally with a class
 * @param {(Child | Child[])[][]} rows cells; a <td> is used unchanged
 */
export function grid(about, heads, rows) {
  const cell = (/** @type {Child | Child[]} */ content, /** @type {number} */ at) => {
    if (content instanceof HTMLTableCellElement) return content;
    const head = heads[at];
    return element("td", { class: Array.isArray(head) ? head[1] : null }, content);
  };
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": about },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          heads.map((head) => {
            const [text, kind] = Array.isArray(head) ? head : [head, null];
            return element(
              "th",
              { scope: "col", class: kind },
              text || element("span", { class: "hidden-label" }, "Actions"),
            );
          }),
        ),
      ),
      element(
        "tbody",
        {},
        rows.map((row) => element("tr", {}, row.map(cell))),
      ),
    ),
  );
}

/**
 * @param {string} text
 * @param {string} [kind]
 */
export const badge = (text, kind = "") => element("span", { class: ("badge " + kind).trim() }, text);

/**
 * A server's error: its name, its message, and the fault rule that caused it, if any.
 * @param {unknown} error
 */
export function words(error) {
  const { type, fault, message = String(error) } = /** @type {any} */ (error ?? {});
  if (!type) return [message];
  const cause = fault
    ? element(
        "div",
        { class: "cause" },
        `Injected by a fault rule: ${fault.fault} on ${fault.operation ?? "every operation"}`,
        fault.table ? ` of ${fault.table}` : "",
        `, ${counted(fault.struck)} of ${counted(fault.asked)} requests so far. `,
        element("a", { href: "#/worlds" }, "Fault rules"),
      )
    : null;
  return [element("b", {}, type), element("br"), message, cause];
}

/** @param {unknown} error */
export const failure = (error) => element("div", { class: "error", role: "alert" }, words(error));

/**
 * A part of a pane: a card of the given width, labeled by the heading with the given id.
 * @param {string} id
 * @param {string} width
 */
export const panel = (id, width) => element("section", { class: "card " + width, "aria-labelledby": id });

/**
 * A pane's heading, and a sentence that describes the pane.
 * @param {string} title @param {string} about
 */
export const intro = (title, about) =>
  element("div", { class: "intro" }, element("h1", {}, title), element("p", { class: "dim" }, about));

/**
 * A placeholder for an empty list. It says what is missing and how to create it.
 * @param {...(Child | Child[])} children
 */
export const empty = (...children) => element("div", { class: "empty" }, ...children);

/**
 * Draws a part of a pane. If drawing fails, the part's card shows the error, and the other parts are still drawn.
 * @param {HTMLElement} place @param {AbortSignal} signal @param {() => Promise<unknown>} draw
 */
export async function part(place, signal, draw) {
  try {
    await draw();
  } catch (error) {
    if (!signal.aborted) fill(place, failure(error));
  }
}

/**
 * Calls `act` repeatedly while the page is visible. If the server does not respond, the bar at the top says so. A slow call is
 * repeated less often, so that an open page keeps the server busy at most a tenth of the time.
 * @param {AbortSignal} signal @param {number} every_ms @param {() => Promise<unknown>} act
 */
export function repeat(signal, every_ms, act) {
  let next = 0;
  const timer = setInterval(async () => {
    const began = performance.now();
    if (began < next || document.visibilityState !== "visible") return;
    next = Infinity;
    await act().catch(() => {});
    next = performance.now() + 9 * (performance.now() - began);
  }, every_ms);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/**
 * Shows a notice in the corner: an error until it is closed, anything else for five seconds.
 * @param {unknown} what
 */
export function tell(what) {
  if (what instanceof DOMException && what.name === "AbortError") return;
  const bad = what instanceof Error;
  const notice = element(
    "div",
    { class: bad ? "notice bad" : "notice" },
    element("span", {}, bad ? words(what) : String(what)),
    element(
      "button",
      { type: "button", class: "quiet small", "aria-label": "Close", onclick: () => notice.remove() },
      "✕",
    ),
  );
  const notices = /** @type {HTMLElement} */ (document.getElementById("notices"));
  notices.append(notice);
  while (notices.children.length > 4) notices.firstElementChild?.remove();
  // Hiding and showing the notices puts them above a dialog that was opened in the meantime.
  notices.hidePopover?.();
  notices.showPopover?.();
  if (!bad) setTimeout(() => notice.remove(), 5000);
}

/** @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page that another machine serves over plain HTTP has no clipboard API.
    const area = element("textarea", { value: text, "aria-hidden": "true" });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tell("Copied.");
}

/** @param {HTMLElement} place @param {...(Child | Child[])} children */
export function fill(place, ...children) {
  place.replaceChildren();
  furnish(place, {}, children);
}

const whole = new Intl.NumberFormat("en");
/** @param {number} count */
export const counted = (count) => whole.format(count);
/** @param {number} bytes */
export function sized(bytes) {
  if (bytes < 1000) return bytes + " B";
  const units = ["KB", "MB", "GB", "TB"];
  let at = -1;
  do {
    bytes /= 1000;
    ++at;
  } while (bytes >= 999.5 && at < units.length - 1);
  return (bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)) + " " + units[at];
}

/** A time as text: "2031-01-01 00:00:00". All times in the console are UTC. @param {number} ms */
export function moment(ms) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "?";
  const [day, time] = date.toISOString().split("T");
  return day + " " + time.slice(0, ms % 1000 ? 12 : 8);
}

/** A span from now as text: "in 3 h", "2 d ago", "now". @param {number} ms */
export function spanned(ms) {
  const units = /** @type {[number, string][]} */ ([
    [86400e3 * 365, "y"],
    [86400e3, "d"],
    [3600e3, "h"],
    [60e3, "min"],
    [1e3, "s"],
  ]);
  const size = Math.abs(ms);
  if (size < 1) return "now";
  const found = units.find(([unit]) => size >= unit);
  const text = found
    ? (size / found[0] < 10 ? String(Math.floor((size / found[0]) * 10) / 10) : Math.floor(size / found[0])) +
      " " +
      found[1]
    : Math.round(size) + " ms";
  return ms < 0 ? text + " ago" : "in " + text;
}
