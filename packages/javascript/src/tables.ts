// Tables for tests, in one line: `createTable("carts", { key: "id", ttl: "ttl", stream: true })`.

import type { CreateTableCommandInput, DynamoDBClient, TableDescription } from "@aws-sdk/client-dynamodb";

import { sdk } from "./clients";

/** A key's attribute: its name, if it is a string, or its name and type. */
export type KeyAttribute = string | { name: string; type: "S" | "N" | "B" };

/** A table, shortly. What else it has goes to `more`, as CreateTable takes it. */
export interface TableOptions {
  /** The partition key. */
  key: KeyAttribute;
  sortKey?: KeyAttribute;
  /** The attribute by which items expire. */
  ttl?: string;
  /** A stream; `true` has new and old images. */
  stream?: boolean | "KEYS_ONLY" | "NEW_IMAGE" | "OLD_IMAGE" | "NEW_AND_OLD_IMAGES";
  /** Further parameters of CreateTable: indexes, say. */
  more?: Partial<CreateTableCommandInput>;
}

export async function createTable(client: DynamoDBClient, name: string, options: TableOptions): Promise<TableDescription> {
  const { CreateTableCommand, UpdateTimeToLiveCommand } = sdk();
  const { TableDescription } = await client.send(new CreateTableCommand(createTableInput(name, options)));
  if (options.ttl) {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: options.ttl };
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
  }
  return TableDescription!;
}

function createTableInput(name: string, options: TableOptions): CreateTableCommandInput {
  const { more = {}, stream } = options;
  const key = attribute(options.key);
  const sortKey = options.sortKey === undefined ? [] : [attribute(options.sortKey)];
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    ...more,
    AttributeDefinitions: [
      ...[key, ...sortKey].map(({ name: AttributeName, type: AttributeType }) => ({ AttributeName, AttributeType })),
      ...(more.AttributeDefinitions ?? []),
    ],
    KeySchema: [
      { AttributeName: key.name, KeyType: "HASH" },
      ...sortKey.map(({ name: AttributeName }) => ({ AttributeName, KeyType: "RANGE" as const })),
    ],
    ...(stream
      ? {
          StreamSpecification: {
            StreamEnabled: true,
            StreamViewType: stream === true ? "NEW_AND_OLD_IMAGES" : stream,
          },
        }
      : {}),
  };
}

function attribute(given: KeyAttribute): { name: string; type: "S" | "N" | "B" } {
  return typeof given === "string" ? { name: given, type: "S" } : given;
}
