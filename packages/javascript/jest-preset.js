// `preset: "mayfly-dynamodb"` in a Jest configuration: a server for the run, and worlds by openWorld().
"use strict";

module.exports = {
  globalSetup: require.resolve("./dist/jest/setup.js"),
  globalTeardown: require.resolve("./dist/jest/teardown.js"),
  testEnvironment: require.resolve("./dist/jest/environment.js"),
};
