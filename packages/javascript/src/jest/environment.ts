// Jest's test environment: worlds end with their tests, and the server's log is shown when a test fails. Node's, with
// that added; withMayfly() adds it to another.

import { setDefaultResultOrder } from "node:dns";
import { createRequire } from "node:module";
import { join } from "node:path";

import { logOfTest, ServerLog } from "../log";
import { logVariable, scopeKey, type Scope } from "./shared";

/** What this asks of a test environment, as jest-environment-node and -jsdom are. */
interface Environment {
  global: any;
  fakeTimersModern: { useRealTimers(): void } | null;
  setup(): Promise<void>;
  teardown(): Promise<void>;
  handleTestEvent?(event: any, state: any): Promise<void> | void;
}
type EnvironmentClass = new (config: any, context: any) => Environment;

/** `module.exports = withMayfly(require("jest-environment-jsdom").TestEnvironment)` in a file of yours. */
export function withMayfly(Base: EnvironmentClass): EnvironmentClass {
  return class MayflyEnvironment extends Base {
    readonly #console: Console;
    readonly #log: ServerLog | undefined;
    readonly #ofFile: (() => Promise<void>)[] = [];
    #ofTest: (() => Promise<void>)[] | undefined;
    #logged = 0;

    constructor(config: any, context: any) {
      super(config, context);
      this.#console = context.console ?? console;
      const log = process.env[logVariable];
      this.#log = log ? new ServerLog(log) : undefined;
    }

    override async setup(): Promise<void> {
      await super.setup();
      // Node 18 tries ::1 first, and only that, for the `http://localhost:8000` of tests.
      setDefaultResultOrder("ipv4first");
      this.global[scopeKey] = {
        atEnd: (close) => void (this.#ofTest ?? this.#ofFile).push(close),
        atFileEnd: (close) => void this.#ofFile.push(close),
        useRealTimers: () => this.fakeTimersModern?.useRealTimers(),
      } satisfies Scope;
    }

    override async teardown(): Promise<void> {
      await closeAll(this.#ofFile);
      await super.teardown();
    }

    // jest-circus waits for what this returns.
    override async handleTestEvent(event: any, state: any): Promise<void> {
      await super.handleTestEvent?.(event, state);
      if (event.name === "test_start" && !event.test.concurrent) {
        this.#ofTest = [];
        this.#logged = this.#log?.end ?? 0;
      } else if (event.name === "test_done") {
        const closers = this.#ofTest ?? [];
        this.#ofTest = undefined;
        await closeAll(closers);
        const log = event.test.errors.length > 0 ? logOfTest(this.#log, this.#logged) : undefined;
        if (log) this.#console.error(log);
      }
    }
  };
}

async function closeAll(closers: (() => Promise<void>)[]): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

// Jest brings jest-environment-node; a package manager that keeps packages apart shows it to Jest alone.
function nodeEnvironment(): EnvironmentClass {
  const paths = [require.main?.filename, join(process.cwd(), "package.json"), __filename];
  for (const path of paths) {
    for (const way of [[], ["@jest/core", "jest-config"], ["jest", "@jest/core", "jest-config"]]) {
      try {
        let from = createRequire(path!);
        for (const step of way) from = createRequire(from.resolve(`${step}/package.json`));
        return from("jest-environment-node").TestEnvironment;
      } catch {
        // The next way, then.
      }
    }
  }
  throw new Error("jest-environment-node is not installed: npm install --save-dev jest-environment-node");
}

export const TestEnvironment: EnvironmentClass = withMayfly(nodeEnvironment());
export default TestEnvironment;
