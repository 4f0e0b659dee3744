// The Jest test environment. It closes each world when its test ends, fails a test if a function of its world failed, and
// shows the server's log for failed tests. It extends jest-environment-node; withMayfly() extends any other environment.

import { setDefaultResultOrder } from "node:dns";
import { createRequire } from "node:module";
import { join } from "node:path";

import { reportOfTest, ServerLog } from "../log";
import { currentServer } from "../run";
import { logVariable, scopeKey, stateVariable, urlVariable, type End, type Scope } from "./shared";

/** The part of a test environment, such as jest-environment-node or -jsdom, that is used here. */
interface Environment {
  global: any;
  fakeTimersModern: { useRealTimers(): void } | null;
  setup(): Promise<void>;
  teardown(): Promise<void>;
  handleTestEvent?(event: any, state: any): Promise<void> | void;
}
type EnvironmentClass = new (config: any, context: any) => Environment;

/**
 * Adds worlds to another test environment. In your own environment file:
 * `module.exports = withMayfly(require("jest-environment-jsdom").TestEnvironment)`.
 */
export function withMayfly(Base: EnvironmentClass): EnvironmentClass {
  return class MayflyEnvironment extends Base {
    readonly #console: Console;
    readonly #ofFile: End[] = [];
    #ofTest: End[] | undefined;
    #log: ServerLog | undefined;
    #logged = 0;

    constructor(config: any, context: any) {
      super(config, context);
      this.#console = context.console ?? console;
    }

    override async setup(): Promise<void> {
      await super.setup();
      // Otherwise, Node 18 tries only ::1 for `http://localhost:8000` in tests, which fails if the server listens only on
      // 127.0.0.1.
      setDefaultResultOrder("ipv4first");
      // A new server may have been started since this worker started.
      const server = currentServer(process.env[stateVariable]);
      if (server) this.global.process.env[urlVariable] = server.url;
      this.global[scopeKey] = {
        atEnd: (end) => void (this.#ofTest ?? this.#ofFile).push(end),
        atFileEnd: (end) => void this.#ofFile.push(end),
        useRealTimers: () => this.fakeTimersModern?.useRealTimers(),
      } satisfies Scope;
    }

    override async teardown(): Promise<void> {
      await endAll(this.#ofFile, false);
      await super.teardown();
    }

    // jest-circus awaits the promise that this method returns.
    override async handleTestEvent(event: any, state: any): Promise<void> {
      await super.handleTestEvent?.(event, state);
      if (event.name === "test_start" && !event.test.concurrent) {
        this.#ofTest = [];
        const log = currentServer(process.env[stateVariable])?.logFile ?? process.env[logVariable];
        this.#log = log ? new ServerLog(log) : undefined;
        this.#logged = this.#log?.end ?? 0;
      } else if (event.name === "test_done") {
        const ends = this.#ofTest ?? [];
        this.#ofTest = undefined;
        const failed = event.test.errors.length > 0;
        const log = this.#log?.tail(40, this.#logged);
        const { errors, suspects } = await endAll(ends, failed);
        for (const error of errors) event.test.errors.push([error, error]);
        if (!failed && errors.length === 0) return;
        const report = reportOfTest(log, suspects);
        if (report) this.#console.error(report);
      } else if (event.name === "run_finish") {
        const { errors } = await endAll(this.#ofFile, false);
        state.unhandledErrors.push(...errors);
      }
    }
  };
}

// Ends all worlds in reverse order, even if ending one of them fails.
async function endAll(ends: End[], failed: boolean): Promise<{ errors: Error[]; suspects: string | undefined }> {
  const errors: Error[] = [];
  const reports: string[] = [];
  for (const end of ends.splice(0).reverse()) {
    const { error, suspects } = await end(failed);
    if (error) errors.push(error);
    if (suspects) reports.push(suspects);
  }
  return { errors, suspects: reports.length > 0 ? reports.join("\n") : undefined };
}

// Loads jest-environment-node, a dependency of Jest. With strict package managers, only Jest's own packages can resolve it.
function nodeEnvironment(): EnvironmentClass {
  const paths = [require.main?.filename, join(process.cwd(), "package.json"), __filename];
  for (const path of paths) {
    for (const way of [[], ["@jest/core", "jest-config"], ["jest", "@jest/core", "jest-config"]]) {
      try {
        let from = createRequire(path!);
        for (const step of way) from = createRequire(from.resolve(`${step}/package.json`));
        return from("jest-environment-node").TestEnvironment;
      } catch {
        // Try the next chain of packages.
      }
    }
  }
  throw new Error("jest-environment-node is not installed: npm install --save-dev jest-environment-node");
}

export const TestEnvironment: EnvironmentClass = withMayfly(nodeEnvironment());
export default TestEnvironment;
