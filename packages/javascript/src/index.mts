// The entry point for `import`. It exports the same classes as the one for `require`.
export * from "./index.js";
