// The entry point for `import`. It exports the same functions as the one for `require`.
export * from "./index.js";
