// Checks that a server has this package's major and minor version.

import { ServerError } from "./errors";

/** This package's version. */
export const packageVersion: string = require("../package.json").version;

export function checkVersion(server: string, whence: string): void {
  const line = (version: string) => version.split(".").slice(0, 2).join(".");
  if (line(server) === line(packageVersion)) return;
  throw new ServerError(
    "version-mismatch",
    `${whence} is Mayfly ${server}, but mayfly-dynamodb ${packageVersion} needs a ${line(packageVersion)} server. ` +
      `Install mayfly-dynamodb@${line(server)}, or use a ${line(packageVersion)} server (if MAYFLY_URL and MAYFLY_BINARY ` +
      "are not set, the package uses its own).",
  );
}
