// Installs a project's packages from the tarballs with pnpm and Yarn, as the README describes.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { node, platform, platforms, project, root, version } from "./project.mjs";

const tarballs = process.env.MAYFLY_TEST_TARBALLS;
const tarball = (name) => `file:${join(tarballs, `${name}-${version}.tgz`)}`;
const here = tarball(`mayfly-dynamodb-${platform}`);

// Yarn needs the packages of all platforms. If another platform's package was not built, this platform's package replaces it.
const all = Object.fromEntries(
  platforms.map((each) => {
    const name = `mayfly-dynamodb-${each}`;
    return [`@mayfly-dynamodb/${each}`, existsSync(join(tarballs, `${name}-${version}.tgz`)) ? tarball(name) : here];
  }),
);

const described = (more) =>
  JSON.stringify({
    private: true,
    scripts: { test: "node --test cart.test.mjs" },
    devDependencies: {
      "mayfly-dynamodb": tarball("mayfly-dynamodb"),
      "@aws-sdk/client-dynamodb": "^3.900.0",
      "@aws-sdk/lib-dynamodb": "^3.900.0",
    },
    ...more,
  });

const cart = `
import assert from "node:assert/strict";
import { test } from "node:test";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { findBinary } from "mayfly-dynamodb";
import { openWorld } from "mayfly-dynamodb/node-test";

test("a cart is gone after two days", async (t) => {
  console.log("binary: " + findBinary());
  const world = await openWorld(t);
  await world.createTable("carts", { key: "id", ttl: "ttl" });
  const ttl = await world.clock.epochSeconds("24h");
  await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1", ttl } }));

  assert.equal((await world.clock.advance("48h")).expired, 1);
});
`;

// The projects are outside the directory where npm has installed everything, because Node would otherwise find those
// packages.
const parent = join(root, "..", "mayfly-managers");

const yarn4 = (settings) => ({
  program: "@yarnpkg/cli-dist/bin/yarn.js",
  files: { "package.json": described({ resolutions: all }), ".yarnrc.yml": settings, "yarn.lock": "" },
});
const managers = {
  pnpm: {
    program: "pnpm/bin/pnpm.cjs",
    files: { "package.json": described({ pnpm: { overrides: { [`@mayfly-dynamodb/${platform}`]: here } } }) },
  },
  "Yarn 1": {
    program: "yarn/bin/yarn.js",
    files: { "package.json": described({ resolutions: all }) },
  },
  "Yarn 4 with node_modules": yarn4("nodeLinker: node-modules\n"),
  // Plug'n'Play needs this setting for ES modules.
  "Yarn 4 with Plug'n'Play": yarn4("nodeLinker: pnp\npnpEnableEsmLoader: true\n"),
};

for (const [name, { program, files }] of Object.entries(managers)) {
  test(`with ${name}, the program is found and a project's test passes`, { timeout: 300_000 }, async (t) => {
    const directory = project(t, { ...files, "cart.test.mjs": cart }, parent);
    const manager = join(root, "managers/node_modules", program);
    const quiet = { YARN_ENABLE_TELEMETRY: "0", YARN_ENABLE_IMMUTABLE_INSTALLS: "false", CI: "" };
    const installed = await node(directory, [manager, "install"], quiet);
    assert.equal(installed.status, 0, installed.output);
    const tested = await node(directory, [manager, "run", "test"], quiet);
    assert.equal(tested.status, 0, tested.output);
    const found = /binary: (.*)/.exec(tested.output)[1];
    assert.ok(found.startsWith(parent) && /[/\\]bin[/\\]mayfly(\.exe)?$/.test(found), found);
  });
}
