// Reads a jest-dynamodb-config.js, the configuration of @shelf/jest-dynamodb. The file exports an object, or a
// function that returns the object or a promise for the object.
//
//   { tables: [CreateTable's parameters, …], port: 8000, hostname: "localhost", options: ["-sharedDb"],
//     clientConfig: {…}, installerConfig: {…} }

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import type { CreateTableCommandInput, DynamoDBClientConfig } from "../aws";
import type { ServerOptions } from "../server";

/** The exported object. */
export interface JestDynamodbConfig {
  tables: CreateTableCommandInput[];
  port?: number;
  hostname?: string;
  /** Arguments of DynamoDB Local. */
  options?: string[];
  clientConfig?: DynamoDBClientConfig;
  /** Where to install DynamoDB Local. Ignored, because Mayfly installs nothing. */
  installerConfig?: unknown;
}

const fileName = "jest-dynamodb-config.js";
const defaultPort = 8000; // the default of @shelf/jest-dynamodb, which tests use in their endpoints
const loopback = ["localhost", "127.0.0.1", "[::1]", "::1", "0.0.0.0"];

/** The project's configuration, or undefined if it has none. JEST_DYNAMODB_CONFIG overrides the path of the file. */
export async function readConfig(rootDir: string): Promise<JestDynamodbConfig | undefined> {
  const named = process.env.JEST_DYNAMODB_CONFIG;
  const places = named ? [resolve(named)] : [resolve(fileName), resolve(rootDir, fileName)];
  const path = places.find((place) => existsSync(place));
  if (!path) {
    if (named) throw new Error(`JEST_DYNAMODB_CONFIG is set to ${named}, but there is no such file.`);
    return undefined;
  }
  const exported = await load(path);
  const config = typeof exported === "function" ? await exported() : exported;
  if (!Array.isArray(config?.tables)) {
    throw new Error(`${path} must export an object with tables, or a function that returns one.`);
  }
  return config;
}

async function load(path: string): Promise<any> {
  let loaded: any;
  try {
    loaded = require(path); // Jest's transforms, for example for TypeScript, apply only to require
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException;
    if (code !== "ERR_REQUIRE_ESM" && code !== "ERR_REQUIRE_ASYNC_MODULE" && !(problem instanceof SyntaxError)) {
      throw problem;
    }
    loaded = await import(pathToFileURL(path).href);
  }
  return loaded.default ?? loaded;
}

/** Converts options of DynamoDB Local to options of the server. `ignored` lists those that have no effect. */
export function serverOptions(config: JestDynamodbConfig): { server: ServerOptions; ignored: string[] } {
  const { hostname = "localhost", options = ["-sharedDb"] } = config;
  if (!loopback.includes(hostname)) {
    throw new Error(
      `hostname must be a loopback address such as localhost, got ${hostname}. Remove it, or set MAYFLY_URL to a server ` +
        "that runs there.",
    );
  }
  const args: string[] = [];
  const ignored: string[] = config.installerConfig === undefined ? [] : ["installerConfig"];
  let port = config.port ?? defaultPort;
  for (let i = 0; i < options.length; ++i) {
    const option = options[i]!;
    const value = () => options[++i] ?? "";
    if (option === "-sharedDb") args.push("--shared-regions");
    else if (option === "-port") port = Number(value());
    else if (option === "-delayTransientStatuses") args.push("--table-delay-ms", "500");
    else if (option === "-cors") args.push("--cors-origin", value());
    else if (option === "-dbPath") ignored.push(`-dbPath ${value()}`);
    else if (option !== "-inMemory") ignored.push(option);
  }
  return { server: { port, args }, ignored };
}
