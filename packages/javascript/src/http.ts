// Sends JSON requests to a server. It uses node:http, because fetch gives up on a response that takes minutes, and the
// response to `POST /_mayfly/await` can take that long.

import * as http from "node:http";
import * as https from "node:https";

import { MayflyError } from "./errors";
import { withLog } from "./log";

export interface Answer {
  status: number;
  body: any;
}

export interface Asked {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Time limit for the response. Default: none. */
  timeoutMs?: number;
}

/** How a server ended without close(). */
export interface Death {
  /** `"was killed by SIGKILL"`, `"exited with status 3"`. */
  how: string;
  /** The last lines of the server's log. */
  log: string;
}

/** Returns how a server died, or undefined if it did not die or the cause is unknown. */
export type Autopsy = () => Promise<Death | undefined>;

/** Persistent connections to one server. Idle connections do not keep the process alive. */
export class Connections {
  readonly url: URL;
  readonly #autopsy: Autopsy;
  readonly #agent: http.Agent;

  constructor(url: string, autopsy: Autopsy = async () => undefined) {
    this.url = new URL(url);
    this.#autopsy = autopsy;
    this.#agent =
      this.url.protocol === "https:" ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  }

  async ask(asked: Asked): Promise<Answer> {
    try {
      return await this.#once(asked);
    } catch (problem) {
      // The server closed an idle connection just as this request began to use it. The server has not seen the request,
      // so the request is sent again.
      if ((problem as { reusedSocket?: boolean }).reusedSocket) return this.#once(asked);
      throw problem;
    }
  }

  /**
   * The error for a request ("GET /_mayfly/clock", "PutItem") that got no response because the server is dead; undefined
   * if the server runs.
   */
  async death(request: string, cause: unknown): Promise<MayflyError | undefined> {
    const death = await this.#autopsy();
    if (!death) return undefined;
    const message = `Mayfly's server ${death.how} before it answered ${request}.${withLog(death.log)}`;
    return new MayflyError("Unreachable", message, 0, { cause });
  }

  close(): void {
    this.#agent.destroy();
  }

  #once({ method, path, headers, body, timeoutMs }: Asked): Promise<Answer> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const lib = this.url.protocol === "https:" ? https : http;
    return new Promise((resolve, reject) => {
      const request = lib.request(
        new URL(path, this.url),
        {
          method,
          agent: this.#agent,
          headers: {
            ...(method === "GET" ? {} : { "Content-Type": "application/json" }),
            ...(payload === undefined ? {} : { "Content-Length": Buffer.byteLength(payload) }),
            ...headers,
          },
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("error", reject);
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(parts)) }));
        },
      );
      if (timeoutMs !== undefined) {
        request.setTimeout(timeoutMs, () => request.destroy(new Error(`no response within ${timeoutMs} ms`)));
      }
      request.on("error", (problem: NodeJS.ErrnoException) => {
        const reusedSocket = request.reusedSocket && (problem.code === "ECONNRESET" || problem.code === "EPIPE");
        reject(Object.assign(problem, { reusedSocket }));
      });
      request.end(payload);
    });
  }
}

function parse(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text; // metrics are in Prometheus text format
  }
}
