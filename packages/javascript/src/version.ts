// Which server goes with this package: one of the same major and minor version.

import { ServerError } from "./errors";

/** This package's version. */
export const packageVersion: string = require("../package.json").version;

export function checkVersion(server: string, whence: string): void {
  const line = (version: string) => version.split(".").slice(0, 2).join(".");
  if (line(server) === line(packageVersion)) return;
  throw new ServerError(
    "version-mismatch",
    `${whence} is Mayfly ${server}, and this is mayfly-dynamodb ${packageVersion}, which goes with ` +
      `${line(packageVersion)}: install mayfly-dynamodb@${line(server)}, or use a server ${line(packageVersion)} ` +
      "(without MAYFLY_URL and MAYFLY_BINARY it is the package's own).",
  );
}
