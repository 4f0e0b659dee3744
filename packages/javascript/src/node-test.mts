// For `import`: the same functions that `require` gets.
export * from "./node-test.js";
