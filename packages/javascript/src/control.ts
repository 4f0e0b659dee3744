// Calls the control API for one account. Errors are thrown as MayflyError.

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

  /** Makes any call: `call("PUT", "/clock", { mode: "frozen" })`. Returns the response's JSON. */
  async call(method: string, path: string, body?: unknown, timeoutMs?: number): Promise<any> {
    const headers = { "X-Mayfly-Account": this.account, "X-Mayfly-Region": this.region };
    const full = "/_mayfly" + (path.startsWith("/") ? path : `/${path}`);
    return this.#ask(method, full, headers, body, timeoutMs);
  }

  /** Sends a request to an AWS API. The access key id selects the account. The signature is a placeholder. */
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
    const sentence = message ?? Message ?? `${method} ${path} returned HTTP status ${answer.status}`;
    if (answer.status === 408 && Array.isArray(records)) throw new WaitTimeoutError(sentence, records);
    throw new MayflyError(type, sentence, answer.status);
  }
}
