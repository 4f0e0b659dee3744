// What a user's TypeScript sees, by ES modules and by CommonJS.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { node, project, root } from "./project.mjs";

const options = {
  module: "node16",
  target: "es2022",
  lib: ["es2022"],
  types: ["node"],
  strict: true,
  noEmit: true,
};

async function compile(t, files) {
  const directory = project(t, {
    "tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["."] }),
    ...files,
  });
  return node(directory, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."]);
}

const core = `
import { MayflyError, Server, WaitTimeoutError, type StreamRecord, type World } from "mayfly-dynamodb";
import { openWorld as openNodeWorld } from "mayfly-dynamodb/node-test";
import { openWorld as openJestWorld, type JestDynamodbConfig } from "mayfly-dynamodb/jest";
import { withMayfly } from "mayfly-dynamodb/jest/environment";

export async function use(): Promise<StreamRecord> {
  const server: Server = await Server.start({ args: [], startTimeoutMs: 5 });
  const world: World = await server.world({ frozen: new Date(), follow: (now: Date) => console.log(now) });
  const count: number = (await world.clock.advance({ hours: 1 }, { settle: true })).tables.carts!;
  const counter = await world.function("counter", (event) => event.Records.length + count);
  const calls: number = counter.invocations.length;
  const typed = await world.function<{ n: number }>("typed", ({ n }) => n + calls);
  typed.invocations[0]!.event.n.toFixed();
  try {
    return await world.waitFor("carts", { id: "1", n: 7 }, { event: "REMOVE" });
  } catch (error) {
    if (error instanceof WaitTimeoutError) return error.records[0]!;
    if (error instanceof MayflyError) throw new Error(error.type + error.status);
    throw error;
  }
}
export const config: JestDynamodbConfig = { tables: [], port: 8000 };
export { openNodeWorld, openJestWorld, withMayfly };
`;

test("programs of both kinds are checked", async (t) => {
  const { status, output } = await compile(t, { "a.mts": core, "b.cts": core });
  assert.equal(status, 0, output);
});

test("Vitest's fixtures and what is provided are typed", async (t) => {
  const { status, output } = await compile(t, {
    "a.mts": `
      import { inject } from "vitest";
      import { testWith } from "mayfly-dynamodb/vitest";
      import { globalSetup } from "mayfly-dynamodb/vitest/setup";
      export default globalSetup({ args: ["--clock", "frozen"] });
      const url: string = inject("mayfly").url;
      const later = testWith({ follow: true });
      later("typed", async ({ world, clock, documents }) => {
        const account: string = world.account + url;
        const year: number = (await clock.now()).getUTCFullYear();
        documents.config.region;
        void [account, year];
      });
    `,
  });
  assert.equal(status, 0, output);
});

test("what is wrong is found", async (t) => {
  const { status, output } = await compile(t, {
    "a.mts": `
      import { Server } from "mayfly-dynamodb";
      const world = await (await Server.start()).world();
      await world.clock.advance(3600);
      await world.waitFor("carts", { id: true });
      await world.faults([{ fault: "thunder" }]);
    `,
  });
  assert.notEqual(status, 0);
  assert.deepEqual(
    [...output.matchAll(/^a\.mts\((\d+),/gm)].map(([, line]) => Number(line)),
    [4, 5, 6],
    output,
  );
});
