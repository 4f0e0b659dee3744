// Names of tables, and links to them.
import { dynamodb } from "./server.js";

const names_per_page = 100;

/** @param {...string} parts */
export const link_to = (...parts) => "#/tables/" + parts.map(encodeURIComponent).join("/");

/** A page of names. @param {string | undefined} after @param {AbortSignal} [signal] */
export async function page_of_names(after, signal) {
  const page = await dynamodb("ListTables", { Limit: names_per_page, ExclusiveStartTableName: after }, signal);
  return {
    names: /** @type {string[]} */ (page.TableNames),
    after: /** @type {string | undefined} */ (page.LastEvaluatedTableName),
  };
}

/** The names of all tables. @param {AbortSignal} [signal] */
export async function all_names(signal) {
  const names = [];
  for (let after; ;) {
    const page = await page_of_names(after, signal);
    names.push(...page.names);
    after = page.after;
    if (!after) return names;
  }
}
