// Serves functions of this process as a world's Lambda functions, with node:http on the loopback interface. Event source
// mappings call them with the records of a table's stream.

import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Control } from "./control";
import type { StreamRecord } from "./errors";
import type { HandlerFailures } from "./failures";

/** The event with which a mapping calls a function. */
export interface StreamEvent {
  Records: (StreamRecord & { eventSourceARN: string })[];
  [more: string]: unknown;
}

/** A Lambda handler. Its result is the response. An error that it throws fails the invocation and the test. */
export type Handler<Event = StreamEvent> = (event: Event, context: { functionName: string }) => unknown;

/** A call to a function: the event, and the result or the error. */
export interface Invocation<Event = StreamEvent> {
  event: Event;
  result?: unknown;
  error?: unknown;
}

/** Parameters of Lambda's CreateEventSourceMapping: BatchSize, FilterCriteria, MaximumRetryAttempts, … */
export type MappingOptions = Record<string, unknown>;

/** A function of this process that is registered in a world. */
export interface LocalFunction<Event = StreamEvent> {
  readonly name: string;
  /** The URL at which the function is served. */
  readonly url: string;
  /** The finished calls to the function, in the order in which they ended. */
  readonly invocations: Invocation<Event>[];
  /**
   * Creates an event source mapping, which calls the function with a table's changes, starting with the oldest record of
   * the table's stream. Returns the mapping. Throws a TypeError if the table has no stream.
   */
  consume(table: string, options?: MappingOptions): Promise<{ UUID: string; [more: string]: unknown }>;
}

/** The HTTP server of a world's local functions. It starts when the first function is added. */
export class LocalFunctions {
  readonly #control: Control;
  readonly #failures: HandlerFailures;
  readonly #running = new Set<Promise<unknown>>();
  readonly #handlers = new Map<string, { handler: Handler<any>; invocations: Invocation<any>[] }>();
  #server: Promise<{ server: HttpServer; origin: string }> | undefined;

  constructor(control: Control, failures: HandlerFailures) {
    this.#control = control;
    this.#failures = failures;
  }

  async add<Event>(name: string, handler: Handler<Event>, timeoutSeconds?: number): Promise<LocalFunction<Event>> {
    const invocations: Invocation<Event>[] = [];
    const { origin } = await (this.#server ??= this.#serve());
    this.#handlers.set(name, { handler, invocations });
    const url = `${origin}/${encodeURIComponent(name)}`;
    await registerFunction(this.#control, name, url, timeoutSeconds);
    const control = this.#control;
    return { name, url, invocations, consume: (table, options = {}) => createMapping(control, name, table, options) };
  }

  /** Resolves when the currently running handlers have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async close(): Promise<void> {
    if (!this.#server) return;
    const { server } = await this.#server;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  async #serve() {
    const server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    server.unref();
    return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = decodeURIComponent((request.url ?? "/").slice(1));
    const known = this.#handlers.get(name);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    if (!known) return send(response, 404, { errorMessage: `no function "${name}" is registered` });
    const event = JSON.parse(Buffer.concat(parts).toString("utf8") || "null");
    const call = (async () => known.handler(event, { functionName: name }))();
    this.#running.add(call);
    try {
      const result = await call;
      known.invocations.push({ event, result });
      send(response, 200, result ?? null);
    } catch (error) {
      known.invocations.push({ event, error });
      this.#failures.add({ function: name, error, event });
      const { name: errorType = "Error", message = String(error) } = (error ?? {}) as Error;
      send(response, 200, { errorType, errorMessage: message }, { "X-Amz-Function-Error": "Unhandled" });
    } finally {
      this.#running.delete(call);
    }
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(text);
}

export async function registerFunction(control: Control, name: string, url: string, timeoutSeconds?: number) {
  await control.call("PUT", `/functions/${encodeURIComponent(name)}`, {
    url,
    ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
  });
}

async function createMapping(control: Control, name: string, table: string, options: MappingOptions) {
  const target = "DynamoDB_20120810.DescribeTable";
  const { Table } = await control.aws("dynamodb", "POST", "/", target, { TableName: table });
  if (!Table.LatestStreamArn) {
    throw new TypeError(`The table ${table} has no stream to consume: create it with a stream (the default).`);
  }
  return control.aws("lambda", "POST", "/2015-03-31/event-source-mappings/", "", {
    EventSourceArn: Table.LatestStreamArn,
    FunctionName: name,
    StartingPosition: "TRIM_HORIZON",
    ...options,
  });
}
