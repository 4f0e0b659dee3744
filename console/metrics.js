// Reads GET /_mayfly/metrics, which is in Prometheus text format.

/** @typedef {{ name: string, labels: Record<string, string>, value: number }} Sample */

/** @param {string} text @returns {Sample[]} */
export function parse(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const found = /^([a-zA-Z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!found) continue;
    /** @type {Record<string, string>} */
    const labels = {};
    for (const [, name, value] of (found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      labels[name] = value.replace(/\\(.)/g, "$1");
    samples.push({ name: found[1], labels, value: Number(found[3]) });
  }
  return samples;
}

/** The numbers of items, of bytes, and of items that will expire, for each table. @param {Sample[]} samples @param {string} account @param {string} region */
export function sizes(samples, account, region) {
  /** @type {Map<string, { items: number, bytes: number, pending: number }>} */
  const tables = new Map();
  const members = /** @type {Record<string, "items" | "bytes" | "pending">} */ ({
    mayfly_table_items: "items",
    mayfly_table_bytes: "bytes",
    mayfly_expiry_pending: "pending",
  });
  for (const { name, labels, value } of samples) {
    const member = members[name];
    if (!member || labels.account !== account || labels.region !== region) continue;
    const of = tables.get(labels.TableName) ?? { items: 0, bytes: 0, pending: 0 };
    of[member] = value;
    tables.set(labels.TableName, of);
  }
  return tables;
}
