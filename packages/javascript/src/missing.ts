// Explains why the package that contains this platform's program is not installed.

import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { platformName, type Platform } from "./platform";

const repository = "https://github.com/mayfly-dynamodb/mayfly";
const lockfileBytesMax = 64 * 1024 * 1024;

/** The packages that contain a program. npm installs only the one for its own platform. */
const platformPackages: Record<string, string> = require("../package.json").optionalDependencies;

/** The name of the package that contains the program for a platform; undefined if Mayfly has no program for it. */
export function packageFor({ os, cpu }: Platform): string | undefined {
  const name = `@mayfly-dynamodb/${os}-${cpu}`;
  return name in platformPackages ? name : undefined;
}

/** Where to look for the reason. */
export interface Surroundings {
  /** Directories of the project. Their lockfile is in one of them or further up. */
  directories: string[];
  /** Whether a package is installed. */
  installed(name: string): boolean;
}

const alternatives = "set MAYFLY_BINARY to a mayfly that you have built, or set MAYFLY_URL to the address of a running server";

/** The whole error message for a platform whose program is not installed. */
export function explainMissing(host: Platform, { directories, installed }: Surroundings): string {
  const name = packageFor(host);
  if (!name) {
    return (
      `Mayfly has no program for ${platformName(host)}, and PATH has no mayfly. Build Mayfly from source (${repository}) and ` +
      "set MAYFLY_BINARY to the program. You can also run a server on another machine or from Mayfly's container image, and " +
      "set MAYFLY_URL to its address."
    );
  }
  const found = `No mayfly program found for ${platformName(host)}: the package ${name} is not installed, and PATH has no mayfly.`;
  return `${found} ${cause(name, directories, installed)} You can also ${alternatives}.`;
}

function cause(name: string, directories: string[], installed: (name: string) => boolean): string {
  const lockfile = lockfileOf(directories);
  const manager = lockfile?.manager ?? "npm";
  const reinstall = `Delete node_modules, and run "${manager} install" on this machine`;
  if (lockfile && !lockfile.lists(name)) {
    const bug = " npm left the package out when it wrote the lockfile on another platform (npm/cli#4828).";
    const why = manager === "npm" ? bug : "";
    return (
      `The lockfile ${lockfile.path} does not list the package.${why} Delete ${lockfile.name} and node_modules, and run ` +
      `"${manager} install". To keep the lockfile, run "${addCommand(manager, name)}" instead.`
    );
  }
  const other = Object.keys(platformPackages).find(installed);
  if (other) {
    return (
      `The package ${other} is installed instead, so node_modules was installed on another platform, or by a Node for ` +
      `another architecture. ${reinstall}.`
    );
  }
  return `Optional packages were left out, for example by --omit=optional. ${reinstall}, with optional packages.`;
}

function addCommand(manager: Manager, name: string): string {
  const what = `${name}@${platformPackages[name]}`;
  if (manager === "npm") return `npm install --save-optional ${what}`;
  if (manager === "bun") return `bun add --optional ${what}`;
  return manager === "pnpm" ? `pnpm add --save-optional ${what}` : `yarn add --optional ${what}`;
}

type Manager = "npm" | "pnpm" | "yarn" | "bun";

interface Lockfile {
  path: string;
  name: string;
  manager: Manager;
  /** Whether the lockfile has an entry for the package. That another entry depends on the package does not count. */
  lists(packageName: string): boolean;
}

// For each lockfile, how an entry for a package begins. Dependencies of other entries begin differently.
const formats: { name: string; manager: Manager; entry(text: string, name: string): boolean }[] = [
  { name: "npm-shrinkwrap.json", manager: "npm", entry: npmEntry },
  { name: "package-lock.json", manager: "npm", entry: npmEntry },
  // '@mayfly-dynamodb/linux-x64@0.1.0':, in older versions /@mayfly-dynamodb/linux-x64@0.1.0: or /…/0.1.0:
  { name: "pnpm-lock.yaml", manager: "pnpm", entry: (text, name) => new RegExp(`^ {2}['"]?/?${name}[@/]`, "m").test(text) },
  // "@mayfly-dynamodb/linux-x64@npm:0.1.0":
  { name: "yarn.lock", manager: "yarn", entry: (text, name) => new RegExp(`^"?(?:.*, "?)?${name}@`, "m").test(text) },
  // "@mayfly-dynamodb/linux-x64": ["@mayfly-dynamodb/linux-x64@0.1.0", …
  { name: "bun.lock", manager: "bun", entry: (text, name) => new RegExp(`^ *"(?:\\S+/)?${name}": *\\[`, "m").test(text) },
];

// Versions 2 and 3 of the format have "packages" with paths as keys; version 1 has nested "dependencies" with names as keys.
function npmEntry(text: string, name: string): boolean {
  let lock: any;
  try {
    lock = JSON.parse(text);
  } catch {
    return false;
  }
  if (lock?.packages) return Object.keys(lock.packages).some((path) => path === name || path.endsWith(`node_modules/${name}`));
  const within = (dependencies: any, depth: number): boolean =>
    depth < 100 &&
    Object.entries<any>(dependencies ?? {}).some(([each, entry]) => each === name || within(entry?.dependencies, depth + 1));
  return within(lock?.dependencies, 0);
}

// The nearest lockfile that mentions the main package. A lockfile without the package belongs to another project.
function lockfileOf(directories: string[]): Lockfile | undefined {
  for (const start of directories) {
    for (let directory = start; ; directory = dirname(directory)) {
      for (const { name, manager, entry } of formats) {
        const text = readLockfile(join(directory, name));
        if (!text || !entry(text, "mayfly-dynamodb")) continue;
        return { path: join(directory, name), name, manager, lists: (each) => entry(text, each) };
      }
      if (directory === dirname(directory)) break;
    }
  }
  return undefined;
}

function readLockfile(path: string): string | undefined {
  try {
    const status = statSync(path);
    return status.isFile() && status.size <= lockfileBytesMax ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
