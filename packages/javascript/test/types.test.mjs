// Compiles TypeScript programs that use the package, as ES modules and as CommonJS.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
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

// Vite's declarations need the declarations of the DOM and of other optional packages.
const vitestOptions = { skipLibCheck: true };

const tsc = (directory) => node(directory, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."]);

function typed(t, files, more = {}, parent = root) {
  const compilerOptions = { ...options, skipLibCheck: false, ...more };
  return project(t, { "tsconfig.json": JSON.stringify({ compilerOptions, include: ["."] }), ...files }, parent);
}

const compile = (t, files, more) => tsc(typed(t, files, more));

const core = `
import {
  HandlerError,
  MayflyError,
  Server,
  WaitTimeoutError,
  type FaultKind,
  type StreamRecord,
  type World,
} from "mayfly-dynamodb";
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
  await world.createTable("carts");
  await world.createTable("orders", {
    key: "customer",
    sort: { name: "at", type: "N" },
    stream: "KEYS_ONLY",
    indexes: [{ name: "by_state", key: "state", projection: ["at"] }, { name: "by_total", sort: "total", local: true }],
  });
  await world.function("elsewhere", "http://127.0.0.1:1/", { mayFail: true });
  const { givenUp, unfinished, never } = await world.settle();
  const reason: string | undefined = givenUp[0]?.error?.type ?? unfinished[0]?.retrying?.error.message;
  const strings: number | undefined = never.carts?.string;
  const kind: FaultKind = "throttle";
  await world.faults([{ fault: kind, operation: "PutItem", exception: "RequestLimitExceeded" }]);
  await world.ttl("carts").set("aws", { delaySeconds: [1, 2] });
  try {
    return await world.waitFor("carts", { id: "1", n: 7 }, { event: "REMOVE" });
  } catch (error) {
    if (error instanceof HandlerError) throw new Error(error.failures[0]?.function, { cause: [reason, strings] });
    if (error instanceof WaitTimeoutError) return error.records[0]!;
    if (error instanceof MayflyError) throw new Error(error.type + error.status);
    throw error;
  }
}
export const config: JestDynamodbConfig = { tables: [], port: 8000 };
export { openNodeWorld, openJestWorld, withMayfly };
`;

test("a correct program compiles as an ES module and as CommonJS", async (t) => {
  const { status, output } = await compile(t, { "a.mts": core, "b.cts": core });
  assert.equal(status, 0, output);
});

test("Vitest's fixtures and provided values are typed", async (t) => {
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
  }, vitestOptions);
  assert.equal(status, 0, output);
});

// Creates a project in which only these packages are installed.
function installed(t, names) {
  const directory = typed(t, { "a.mts": core, "b.cts": core }, {}, join(root, "..", "mayfly-types"));
  for (const name of names) {
    const place = join(directory, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, "node_modules", name), place);
  }
  const copy = join(directory, "node_modules/mayfly-dynamodb");
  cpSync(join(root, "node_modules/mayfly-dynamodb"), copy, { recursive: true });
  return directory;
}

for (const [what, names] of [
  ["@aws-sdk/client-dynamodb-streams", ["@aws-sdk/client-dynamodb", "@aws-sdk/lib-dynamodb"]],
  ["the AWS SDK", []],
]) {
  test(`without ${what}, the declarations compile with skipLibCheck: false`, async (t) => {
    const { status, output } = await tsc(installed(t, ["@types/node", ...names]));
    assert.equal(status, 0, output);
  });
}

test("clients and table descriptions have the SDK's types", async (t) => {
  const { status, output } = await compile(t, {
    "a.mts": `
      import { Server } from "mayfly-dynamodb";
      const world = await (await Server.start()).world();
      world.streams.sendd;
      world.dynamodb.sendd;
      world.documents.sendd;
      (await world.createTable("carts")).TableNamee;
    `,
  });
  assert.notEqual(status, 0);
  assert.deepEqual([...output.matchAll(/^a\.mts\((\d+),/gm)].map(([, line]) => Number(line)), [4, 5, 6, 7], output);
});

test("programs with wrong names or types do not compile", async (t) => {
  const { status, output } = await compile(t, {
    "a.mts": `
      import { Server } from "mayfly-dynamodb";
      const world = await (await Server.start()).world();
      await world.clock.advance(3600);
      await world.waitFor("carts", { id: true });
      await world.faults([{ fault: "throtle" }]);
      await world.faults([{ fault: "throttle", opration: "PutItem" }]);
      await world.waitFor("carts", { id: "1" }, { event: "REMOVED" });
      await world.ttl("carts").set("exactly");
      await world.createTable("carts", { stream: "NEW" });
      await world.createTable("carts", { sortKey: "at" });
      await world.createTable("carts", { sort: { name: "at", type: "D" } });
      await world.createTable("carts", { indexes: [{ name: "by_at", key: "at", projection: "SOME" }] });
      await world.function("reminder", () => {}, { mayfail: true });
      if ((await world.clock.state()).mode === "freezing") throw new Error();
    `,
  });
  assert.notEqual(status, 0);
  assert.deepEqual(
    [...output.matchAll(/^a\.mts\((\d+),/gm)].map(([, line]) => Number(line)),
    [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    output,
  );
});
