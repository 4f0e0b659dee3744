// Jest preset: `preset: "mayfly-dynamodb"`. It starts a server for the run, on which openWorld() opens worlds.
"use strict";

module.exports = {
  globalSetup: require.resolve("./dist/jest/setup.js"),
  globalTeardown: require.resolve("./dist/jest/teardown.js"),
  testEnvironment: require.resolve("./dist/jest/environment.js"),
};
