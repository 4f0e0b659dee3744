// Pages of the items that a scan, a query or a statement finds. With a filter, scanning continues until a page is full.
// Meanwhile, the card shows the progress and a button that stops the scan.
import { button, counted, element, empty, failure, fill } from "./elements.js";

/** @typedef {import("./values.js").Item} Item */
/**
 * @typedef {object} Source
 * @property {() => number} size items on a page
 * @property {() => boolean} filtered whether one request may find fewer items than it scans
 * @property {(from: any, limit: number) => Promise<{ items: Item[], scanned: number, next: any }>} ask
 * @property {((item: Item) => any) | null} after the start key of a page that begins after this item; null: pages can begin only where a request ended
 * @property {number} total the approximate number of items
 */

const scanned_at_once_max = 2000,
  progress_every_ms = 400;

/**
 * @param {HTMLElement} place
 * @param {Source} source
 * @param {(items: Item[]) => HTMLElement} draw
 * @param {(view: { begins: any[], at: number }) => void} shown
 */
export function pager(place, source, draw, shown) {
  /** The start keys of the pages that are known so far. @type {any[]} */
  let begins = [undefined];
  let at = 0;
  let run = 0;

  /** @param {number} to @param {any} from @param {Item[]} items found for this page so far @param {number} scanned */
  const scan = async (to, from, items, scanned) => {
    const own = ++run,
      size = source.size(),
      began = performance.now();
    let next = from,
      limit = size,
      stopped = false,
      drawn = began,
      drawn_items = -1;
    const stop = button("Stop", () => void (stopped = true), { class: "small" });
    const said = element("span", { role: "status", class: "small" }),
      bar = element("progress", { max: Math.max(1, source.total), "aria-label": "Scanned" }),
      so_far = element("div", {});
    const report = () => {
      if (drawn_items < 0) fill(place, element("div", { class: "row middle between" }, said, bar, stop), so_far);
      fill(
        said,
        `Scanned ${counted(scanned)} of about ${counted(source.total)} items, found ${items.length} of ${size}.`,
      );
      bar.value = scanned;
      if (drawn_items !== items.length) fill(so_far, items.length ? draw(items) : "");
      drawn_items = items.length;
      drawn = performance.now();
    };
    place.setAttribute("aria-busy", "true");
    try {
      for (;;) {
        const answer = await source.ask(next, limit);
        if (own !== run) return;
        items.push(...answer.items);
        scanned += answer.scanned;
        next = answer.next;
        if (!next || stopped || !source.filtered() || items.length >= size) break;
        if (source.after || !items.length) limit = Math.min(2 * limit, scanned_at_once_max);
        else limit = size;
        if (performance.now() - drawn > progress_every_ms) report();
      }
    } catch (error) {
      if (own === run) fill(place, failure(error));
      return;
    } finally {
      if (own === run) place.removeAttribute("aria-busy");
    }
    if (source.after && items.length > size) {
      items.length = size;
      next = source.after(items[size - 1]);
    }
    at = to;
    begins = begins.slice(0, at + 1);
    const unfinished = stopped && next && items.length < size;
    if (next && !unfinished) begins.push(next);
    draw_page(items, scanned, next, Boolean(unfinished), performance.now() - began);
    shown({ begins, at });
  };

  /** @param {Item[]} items @param {number} scanned @param {any} next @param {boolean} unfinished @param {number} took */
  const draw_page = (items, scanned, next, unfinished, took) => {
    const more = unfinished
      ? button("Continue", () => scan(at, next, items, scanned), { class: "small" })
      : button("Next →", () => turn(at + 1), { class: "small", disabled: !next });
    fill(
      place,
      element(
        "div",
        { class: "row middle between" },
        element(
          "span",
          { class: "dim small", role: "status" },
          `Page ${at + 1}: ${counted(items.length)} ${items.length === 1 ? "item" : "items"}`,
          scanned !== items.length ? `, ${counted(scanned)} scanned` : "",
          unfinished ? ", stopped" : "",
          `, ${Math.round(took)} ms`,
        ),
        element(
          "div",
          { class: "row" },
          button("← Back", () => turn(at - 1), { class: "small", disabled: at === 0 }),
          more,
        ),
      ),
      items.length ? draw(items) : empty(unfinished ? "Nothing found yet." : "No items found."),
    );
  };

  const turn = (/** @type {number} */ to) => scan(to, begins[to], [], 0);
  return {
    first: () => ((begins = [undefined]), turn(0)),
    again: () => turn(at),
    /** @param {{ begins: any[], at: number }} view */
    restore: (view) => ((begins = view.begins.map((one) => one ?? undefined)), turn(view.at)),
  };
}
