// For `import`: the same functions that `require` gets.
export * from "./index.js";
