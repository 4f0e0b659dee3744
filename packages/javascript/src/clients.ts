// AWS's clients for a world. Every setting that they would look up in the user's AWS configuration is given.

import type { DynamoDBClient, DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import type { DynamoDBStreamsClient, DynamoDBStreamsClientConfig } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

export function clientConfig(url: string, account: string, region: string) {
  return {
    endpoint: url,
    region,
    credentials: { accessKeyId: account, secretAccessKey: "mayfly" },
    // A fault reaches the test at once; who tests retries makes a client that does.
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

/** AWS's clients, made when they are first asked for. */
export class Clients {
  readonly config: DynamoDBClientConfig;
  #dynamodb: DynamoDBClient | undefined;
  #documents: DynamoDBDocumentClient | undefined;
  #streams: DynamoDBStreamsClient | undefined;

  constructor(url: string, account: string, region: string) {
    this.config = clientConfig(url, account, region);
  }

  get dynamodb(): DynamoDBClient {
    return (this.#dynamodb ??= new (sdk().DynamoDBClient)(this.config));
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
      this.#streams = new DynamoDBStreamsClient(this.config as DynamoDBStreamsClientConfig);
    }
    return this.#streams;
  }

  destroy(): void {
    this.#dynamodb?.destroy();
    this.#streams?.destroy();
  }
}

/** AWS's SDK, if the project has it. */
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
