// The control API of one account: JSON in, JSON out, refusals as MayflyError.

import { MayflyError, WaitTimeoutError } from "./errors";
import type { Connections } from "./http";

export class Control {
  readonly connections: Connections;
  readonly account: string;
  readonly region: string;

  constructor(connections: Connections, account: string, region: string) {
    this.connections = connections;
    this.account = account;
    this.region = region;
  }

  /** Any call: `call("PUT", "/clock", { mode: "frozen" })`; what it answers, as JSON. */
  async call(method: string, path: string, body?: unknown, timeoutMs?: number): Promise<any> {
    const headers = { "X-Mayfly-Account": this.account, "X-Mayfly-Region": this.region };
    const full = "/_mayfly" + (path.startsWith("/") ? path : `/${path}`);
    return this.#ask(method, full, headers, body, timeoutMs);
  }

  /** A request of AWS's, whose account is that of the key it names; signatures are not checked. */
  async aws(service: "dynamodb" | "lambda", method: string, path: string, target: string, body: unknown): Promise<any> {
    const date = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    const scope = `${this.account}/${date.slice(0, 8)}/${this.region}/${service}/aws4_request`;
    const headers = {
      "X-Amz-Date": date,
      Authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
      ...(target === "" ? {} : { "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": target }),
    };
    return this.#ask(method, path, headers, body);
  }

  async #ask(method: string, path: string, headers: Record<string, string>, body: unknown, timeoutMs?: number) {
    let answer;
    try {
      answer = await this.connections.ask({ method, path, headers, body, timeoutMs });
    } catch (problem) {
      const request = `${method} ${path}`;
      const died = await this.connections.death(request, problem);
      if (died) throw died;
      const { origin } = this.connections.url;
      const sentence = `${origin} did not answer ${request}: ${(problem as Error).message}. Check that the server is running.`;
      throw new MayflyError("Unreachable", sentence, 0, { cause: problem });
    }
    if (answer.status < 300) return answer.body;
    const { __type = "", message, Message, records } = answer.body ?? {};
    const type = String(__type).replace(/^.*#/, "");
    const sentence = message ?? Message ?? `${method} ${path} answered ${answer.status}`;
    if (answer.status === 408 && Array.isArray(records)) throw new WaitTimeoutError(sentence, records);
    throw new MayflyError(type, sentence, answer.status);
  }
}
