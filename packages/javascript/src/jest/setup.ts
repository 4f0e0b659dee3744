// The Jest globalSetup. It starts one server for the run, and creates the tables of a jest-dynamodb-config.js, if there is
// one.

import { setTimeout as pause } from "node:timers/promises";

import type { CreateTableCommandInput } from "../aws";
import { clientConfig, sdk } from "../clients";
import { OwnedRun } from "../run";
import type { Server } from "../server";
import { readConfig, serverOptions, type JestDynamodbConfig } from "./config";
import { keep } from "./run";
import { logVariable, stateVariable, urlVariable } from "./shared";

const pauseMs = 10;

/** Called by Jest before the first test file. */
export default async function globalSetup(globalConfig: { rootDir: string }): Promise<void> {
  const config = await readConfig(globalConfig.rootDir);
  const { server: options, ignored } = config ? serverOptions(config) : { server: {}, ignored: [] };
  const given = process.env[urlVariable];
  if (ignored.length > 0 && !given) {
    process.stderr.write(`mayfly: ignored in jest-dynamodb-config.js: ${ignored.join(", ")}\n`);
  }
  const run = await OwnedRun.start(options, async (server) => {
    // Workers that start later read these variables.
    process.env[urlVariable] = server.url;
    if (server.log) process.env[logVariable] = server.log.path;
    if (config) await createTables(server, config);
  });
  const { stateFile } = run.provided;
  if (stateFile) process.env[stateVariable] = stateFile;
  keep(run, given);
}

// Creates the tables in the default account. A client uses this account if its access key id is not an account number, as
// in tests written for DynamoDB Local.
async function createTables(server: Server, { tables, clientConfig: given = {} }: JestDynamodbConfig): Promise<void> {
  const { CreateTableCommand, DeleteTableCommand, DescribeTableCommand, DynamoDBClient } = sdk();
  const client = new DynamoDBClient({
    ...clientConfig(server.url, "fakeMyKeyId", "local-env"),
    ...given,
    endpoint: server.url,
  });
  const create = async (table: CreateTableCommandInput) => {
    // An existing server may still have the table from an earlier run.
    if (server.pid === undefined) {
      await client.send(new DeleteTableCommand({ TableName: table.TableName })).catch(() => undefined);
    }
    const { TableDescription } = await client.send(new CreateTableCommand(table));
    // With -delayTransientStatuses, tables are CREATING for a while.
    for (let now = TableDescription; now?.TableStatus === "CREATING"; await pause(pauseMs)) {
      now = (await client.send(new DescribeTableCommand({ TableName: table.TableName }))).Table;
    }
  };
  try {
    await Promise.all(tables.map(create));
  } finally {
    client.destroy();
  }
}
