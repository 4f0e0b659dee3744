// Creates tables in one line: `createTable("carts", { key: "id", ttl: "ttl" })`.

import type { CreateTableCommandInput, DynamoDBClient, TableDescription } from "./aws";
import { sdk } from "./clients";
import { refuseUnknown } from "./options";

/** The type of a key attribute. */
export type KeyType = "S" | "N" | "B";

/** A key attribute: the name of a string attribute, or a name and a type. */
export type KeyAttribute = string | { name: string; type: KeyType };

/** What a stream's records contain besides the keys. */
export type StreamViewType = "KEYS_ONLY" | "NEW_IMAGE" | "OLD_IMAGE" | "NEW_AND_OLD_IMAGES";

/** A secondary index. */
export interface Index {
  name: string;
  /** The partition key. Required for a global index. A local index has the table's partition key. */
  key?: KeyAttribute;
  /** The sort key. Required for a local index. */
  sort?: KeyAttribute;
  /** The attributes that the index contains: all (the default), keys only, or the keys and the listed attributes. */
  projection?: "ALL" | "KEYS_ONLY" | readonly string[];
  /** Whether the index is local. Default: `false`. */
  local?: boolean;
}

export interface TableOptions {
  /** The partition key. Default: `"id"`. */
  key?: KeyAttribute;
  /** The sort key. Default: none. */
  sort?: KeyAttribute;
  /** The attribute that holds the TTL, in epoch seconds. Default: none. */
  ttl?: string;
  /** The stream: `true` (new and old images), `false`, or a view type. Default: `true`. */
  stream?: boolean | StreamViewType;
  /** Secondary indexes. */
  indexes?: readonly Index[];
  /** Further parameters of CreateTable. */
  more?: Partial<CreateTableCommandInput>;
}

const optionNames = ["key", "sort", "ttl", "stream", "indexes", "more"];
const indexOptionNames = ["name", "key", "sort", "projection", "local"];
const keyTypes = ["S", "N", "B"];
const streamViewTypes = ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"];

export async function createTable(client: DynamoDBClient, name: string, options: TableOptions): Promise<TableDescription> {
  const input = createTableInput(name, options);
  const { CreateTableCommand, UpdateTimeToLiveCommand } = sdk();
  const { TableDescription } = await client.send(new CreateTableCommand(input));
  if (options.ttl) {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: options.ttl };
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
  }
  return TableDescription!;
}

function createTableInput(name: string, options: TableOptions): CreateTableCommandInput {
  refuseUnknown(`createTable("${name}")`, options, optionNames, "; pass other parameters of CreateTable in more.");
  const { key = "id", sort, ttl, stream = true, indexes = [], more = {} } = options;
  if (ttl !== undefined && (typeof ttl !== "string" || ttl === "")) {
    throw new TypeError(`createTable("${name}"): ttl must be the name of an attribute, got ${JSON.stringify(ttl)}.`);
  }
  if (typeof stream !== "boolean" && !streamViewTypes.includes(stream)) {
    throw new TypeError(
      `createTable("${name}"): stream must be true, false or one of ${streamViewTypes.join(", ")}, got ` +
        `${JSON.stringify(stream)}.`,
    );
  }
  checkIndexes(name, indexes);
  const attributes = new Attributes(name);
  const KeySchema = attributes.schema("the table", key, sort);
  const global = indexes.filter((index) => !index.local).map((index) => globalIndex(attributes, index));
  const local = indexes.filter((index) => index.local).map((index) => localIndex(attributes, index, key));
  const globalIndexes = [...global, ...(more.GlobalSecondaryIndexes ?? [])];
  const localIndexes = [...local, ...(more.LocalSecondaryIndexes ?? [])];
  return {
    TableName: name,
    KeySchema,
    ...(more.ProvisionedThroughput ? {} : { BillingMode: "PAY_PER_REQUEST" as const }),
    ...(stream ? { StreamSpecification: streamSpecification(stream) } : {}),
    ...more,
    AttributeDefinitions: attributes.definitions(more.AttributeDefinitions),
    ...(globalIndexes.length > 0 ? { GlobalSecondaryIndexes: globalIndexes } : {}),
    ...(localIndexes.length > 0 ? { LocalSecondaryIndexes: localIndexes } : {}),
  };
}

// Checks the indexes at run time, because JavaScript has no compiler that checks their types.
function checkIndexes(table: string, indexes: readonly Index[]): void {
  const isIndex = (value: unknown) => typeof value === "object" && value !== null;
  if (!Array.isArray(indexes) || !indexes.every(isIndex)) {
    const got = Array.isArray(indexes)
      ? `${JSON.stringify(indexes.find((index) => !isIndex(index)))} in it`
      : JSON.stringify(indexes);
    throw new TypeError(
      `createTable("${table}"): indexes must be an array such as [{ name: "by_owner", key: "owner" }], got ${got}.`,
    );
  }
  for (const index of indexes as readonly Index[]) {
    const { name, projection = "ALL" } = index;
    refuseUnknown(`The index "${name}"`, index, indexOptionNames);
    const named = typeof projection === "string" ? ["ALL", "KEYS_ONLY"].includes(projection) : projection.length > 0;
    if (!named) {
      throw new TypeError(
        `The projection of the index "${name}" must be "ALL", "KEYS_ONLY" or a list of attribute names, got ` +
          `${JSON.stringify(projection)}.`,
      );
    }
  }
}

function streamSpecification(stream: true | StreamViewType) {
  return { StreamEnabled: true, StreamViewType: stream === true ? ("NEW_AND_OLD_IMAGES" as const) : stream };
}

function globalIndex(attributes: Attributes, { name, key, sort, projection }: Index) {
  if (key === undefined) {
    throw new TypeError(`The global index "${name}" needs a partition key: set key, or local: true for a local index.`);
  }
  return { IndexName: name, KeySchema: attributes.schema(`the index ${name}`, key, sort), ...projected(projection) };
}

function localIndex(attributes: Attributes, { name, key, sort, projection }: Index, tableKey: KeyAttribute) {
  if (key !== undefined) {
    throw new TypeError(`The local index "${name}" has the table's partition key: remove key, or local: true.`);
  }
  if (sort === undefined) throw new TypeError(`The local index "${name}" needs a sort key: set sort.`);
  return { IndexName: name, KeySchema: attributes.schema(`the index ${name}`, tableKey, sort), ...projected(projection) };
}

function projected(projection: Index["projection"] = "ALL") {
  if (typeof projection === "string") return { Projection: { ProjectionType: projection } };
  return { Projection: { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...projection] } };
}

/** The types of a table's key attributes. */
class Attributes {
  readonly #table: string;
  readonly #types = new Map<string, { type: KeyType; of: string }>();

  constructor(table: string) {
    this.#table = table;
  }

  /**
   * Returns a key schema and records its attributes. Throws a TypeError if an attribute is malformed or was recorded with
   * another type.
   */
  schema(of: string, key: KeyAttribute, sort: KeyAttribute | undefined) {
    const schema = [{ AttributeName: this.#add(of, key), KeyType: "HASH" as const }];
    if (sort === undefined) return schema;
    return [...schema, { AttributeName: this.#add(of, sort), KeyType: "RANGE" as const }];
  }

  /** The recorded attributes as AttributeDefinitions, plus those of `more` that are not recorded. */
  definitions(more: CreateTableCommandInput["AttributeDefinitions"] = []) {
    const ours = [...this.#types].map(([AttributeName, { type }]) => ({ AttributeName, AttributeType: type }));
    return [...ours, ...more.filter(({ AttributeName }: { AttributeName?: string }) => !this.#types.has(AttributeName!))];
  }

  #add(of: string, given: KeyAttribute): string {
    const { name, type } = typeof given === "string" ? { name: given, type: "S" as const } : (given ?? {});
    if (typeof name !== "string") {
      throw new TypeError(
        `createTable("${this.#table}"): a key attribute of ${of} must be a name or { name, type }, such as ` +
          `{ name: "year", type: "N" }, got ${JSON.stringify(given)}.`,
      );
    }
    if (!keyTypes.includes(type)) {
      throw new TypeError(
        `createTable("${this.#table}"): the type of "${name}" in ${of} must be "S", "N" or "B", got ${JSON.stringify(type)}.`,
      );
    }
    const known = this.#types.get(name);
    if (known && known.type !== type) {
      throw new TypeError(
        `createTable("${this.#table}"): the attribute "${name}" has type ${known.type} in ${known.of} and ${type} in ` +
          `${of}. Give it the same type in both, for example { name: "${name}", type: "${known.type}" }.`,
      );
    }
    if (!known) this.#types.set(name, { type, of });
    return name;
  }
}
