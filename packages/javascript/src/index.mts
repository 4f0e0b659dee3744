// For `import`: the same classes that `require` gets.
export * from "./index.js";
