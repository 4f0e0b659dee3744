// The AWS SDK clients of a world. Every setting is given explicitly, so that the clients do not read the user's AWS
// configuration.

import type { DynamoDBStreamsClientConfig } from "@aws-sdk/client-dynamodb-streams";

import type { DynamoDBClient, DynamoDBClientConfig, DynamoDBDocumentClient, DynamoDBStreamsClient } from "./aws";
import type { Connections } from "./http";

export function clientConfig(url: string, account: string, region: string) {
  return {
    endpoint: url,
    region,
    credentials: { accessKeyId: account, secretAccessKey: "mayfly" },
    // No retries, so that a fault reaches the test immediately. A test of retries creates its own client.
    maxAttempts: 1,
    retryMode: "standard",
    defaultsMode: "standard",
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    endpointDiscoveryEnabled: false,
    accountIdEndpointMode: "disabled",
    userAgentAppId: "mayfly",
    authSchemePreference: [],
    sigv4aSigningRegionSet: [],
    disableClockSkewCorrection: true,
  } satisfies Record<string, unknown> as DynamoDBClientConfig;
}

/** A world's AWS SDK clients. Each is created on first use. */
export class Clients {
  readonly config: DynamoDBClientConfig;
  readonly #connections: Connections;
  #dynamodb: DynamoDBClient | undefined;
  #documents: DynamoDBDocumentClient | undefined;
  #streams: DynamoDBStreamsClient | undefined;

  constructor(url: string, connections: Connections, account: string, region: string) {
    this.config = clientConfig(url, account, region);
    this.#connections = connections;
  }

  get dynamodb(): DynamoDBClient {
    return (this.#dynamodb ??= this.#explaining(new (sdk().DynamoDBClient)(this.config)));
  }

  get documents(): DynamoDBDocumentClient {
    if (!this.#documents) {
      const { DynamoDBDocumentClient } = needed<typeof import("@aws-sdk/lib-dynamodb")>("@aws-sdk/lib-dynamodb", () =>
        require("@aws-sdk/lib-dynamodb"),
      );
      this.#documents = DynamoDBDocumentClient.from(this.dynamodb, { marshallOptions: { removeUndefinedValues: true } });
    }
    return this.#documents;
  }

  get streams(): DynamoDBStreamsClient {
    if (!this.#streams) {
      const { DynamoDBStreamsClient } = needed<typeof import("@aws-sdk/client-dynamodb-streams")>(
        "@aws-sdk/client-dynamodb-streams",
        () => require("@aws-sdk/client-dynamodb-streams"),
      );
      this.#streams = this.#explaining(new DynamoDBStreamsClient(this.config as DynamoDBStreamsClientConfig));
    }
    return this.#streams;
  }

  // If a call gets no response because the server is dead, replaces the error with one that says how the server died.
  #explaining<Client>(client: Client): Client {
    const explain = (next: any, context: any) => async (call: any) => {
      try {
        return await next(call);
      } catch (problem) {
        // In Jest's sandbox the SDK wraps the error, and the code is only in the message.
        const { code, message } = problem as NodeJS.ErrnoException;
        const disconnected = /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/.test(`${code} ${message}`);
        const request = String(context.commandName).replace(/Command$/, "");
        throw (disconnected && (await this.#connections.death(request, problem))) || problem;
      }
    };
    (client as any).middlewareStack.add(explain, { step: "initialize", name: "mayflyExplainsDeath", priority: "high" });
    return client;
  }

  destroy(): void {
    this.#dynamodb?.destroy();
    this.#streams?.destroy();
  }
}

/** The AWS SDK of the project. If it is not installed, throws an Error that says what to install. */
export function sdk(): typeof import("@aws-sdk/client-dynamodb") {
  return needed("@aws-sdk/client-dynamodb", () => require("@aws-sdk/client-dynamodb"));
}

function needed<Module>(name: string, load: () => Module): Module {
  try {
    return load();
  } catch (problem) {
    if (!/MODULE_NOT_FOUND|ERR_MODULE/.test(String((problem as NodeJS.ErrnoException).code))) throw problem;
    throw new Error(`This needs ${name}, which is not installed: npm install --save-dev ${name}`, { cause: problem });
  }
}
