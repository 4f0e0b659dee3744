// Says how a program ended, and what to do if it ended before it was ready.

import type { ChildProcess } from "node:child_process";

import { damageOf } from "./binary";
import { ServerError } from "./errors";
import { withLog } from "./log";

export type Exit = Pick<ChildProcess, "exitCode" | "signalCode">;

/** How the process ended: "was killed by SIGKILL", "exited with status 3"; undefined if the process is running. */
export function howEnded({ exitCode, signalCode }: Exit): string | undefined {
  if (signalCode) return `was killed by ${signalCode}`;
  if (exitCode === null) return undefined;
  // Windows reports a crash as a large number, which is known by its hexadecimal form: 0xC0000005.
  const hex = exitCode > 0x7fffffff ? ` (0x${exitCode.toString(16).toUpperCase()})` : "";
  return `exited with status ${exitCode}${hex}`;
}

/** The error for a program that ended before it was ready. `log` is the end of its log. */
export function endedEarly(binary: string, exit: Exit, log: string, platform: string = process.platform): ServerError {
  const refused = /cannot listen on (\S+): (.*)/i.exec(log);
  if (refused && /port is taken|in use/i.test(refused[2]!)) {
    return new ServerError(
      "port-taken",
      `${refused[1]} is in use. Stop the program that listens there, or choose another port (0 for a free one).${withLog(log)}`,
    );
  }
  const damage = damageOf(binary);
  if (damage) return damage;
  const advice = refused ? adviceForPort(refused[2]!, platform) : adviceForSignal(binary, exit.signalCode, platform);
  return new ServerError("ended", `${binary} ${howEnded(exit)} before it was ready.${advice}${withLog(log)}`);
}

function adviceForPort(reason: string, platform: string): string {
  const choose = " Choose another port (0 for a free one).";
  if (platform === "win32") {
    return `${choose} Windows reserves some ports: "netsh interface ipv4 show excludedportrange protocol=tcp" lists them.`;
  }
  return /permission denied/i.test(reason) ? choose : "";
}

function adviceForSignal(binary: string, signal: string | null, platform: string): string {
  if (platform !== "darwin" || signal !== "SIGKILL") return "";
  return (
    " macOS kills programs that have no valid signature, and programs that a browser downloaded. For a program that you " +
    `built, run: codesign --force --sign - "${binary}". For a download that you trust, run: xattr -d com.apple.quarantine ` +
    `"${binary}".`
  );
}
