// Converts keys with plain values, `{ id: "1", n: 7 }`, to DynamoDB JSON, `{"id":{"S":"1"},"n":{"N":"7"}}`.

import type { AttributeJson } from "./errors";

/** A key attribute: a plain value or DynamoDB JSON. */
export type KeyValue = string | number | bigint | Uint8Array | { S: string } | { N: string } | { B: Uint8Array | string };

/** An item's key: `{ id: "1" }`. */
export type Key = Record<string, KeyValue>;

/** Converts a key to DynamoDB JSON. Throws a TypeError if an attribute is not a string, a number or bytes. */
export function keyJson(key: Key): Record<string, AttributeJson> {
  return Object.fromEntries(Object.entries(key).map(([name, value]) => [name, attribute(name, value)]));
}

function attribute(name: string, value: unknown): AttributeJson {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number" || typeof value === "bigint") return { N: String(value) };
  if (ArrayBuffer.isView(value)) return { B: base64(value) };
  if (typeof value === "object" && value !== null && Object.keys(value).length === 1) {
    const given = value as Record<string, unknown>;
    if (typeof given.S === "string" || typeof given.N === "string" || typeof given.B === "string") return given;
    if (ArrayBuffer.isView(given.B)) return { B: base64(given.B) };
  }
  throw new TypeError(`The key attribute "${name}" must be a string, a number or bytes.`);
}

function base64(bytes: ArrayBufferView): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
