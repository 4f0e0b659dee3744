// Jest preset: `preset: "mayfly-dynamodb"`. It starts a server for the run. openWorld() opens worlds on that
// server.
"use strict";

module.exports = {
  globalSetup: require.resolve("./dist/jest/setup.js"),
  globalTeardown: require.resolve("./dist/jest/teardown.js"),
  testEnvironment: require.resolve("./dist/jest/environment.js"),
};
