// Platforms, and which of them a program is for.

/** An operating system and an architecture, with Node's names: `{ os: "darwin", cpu: "arm64" }`. */
export interface Platform {
  os: string;
  cpu: string;
}

/** The platform of this process. */
export const thisPlatform: Platform = { os: process.platform, cpu: process.arch };

const systems: Record<string, string> = { darwin: "macOS", linux: "Linux", win32: "Windows" };

/** A platform's name in messages: "macOS on arm64". */
export function platformName({ os, cpu }: Platform): string {
  return `${systems[os] ?? os} on ${cpu}`;
}

/** How many of a program's first bytes `platformProblem` needs. */
export const headBytes = 4096;

type Format = "ELF" | "Mach-O" | "PE";

interface Program {
  format: Format;
  /** The architectures that the program has code for. */
  cpus: string[];
}

const elfMachines: Record<number, string> = { 0x3e: "x64", 0xb7: "arm64", 0x28: "arm", 0x03: "ia32", 0xf3: "riscv64" };
const machOMachines: Record<number, string> = { 0x01000007: "x64", 0x0100000c: "arm64" };
const peMachines: Record<number, string> = { 0x8664: "x64", 0xaa64: "arm64", 0x014c: "ia32" };
const universalArchitecturesMax = 16;

/**
 * Why a program that begins with the bytes `head` cannot run on the platform; undefined if it probably can. The check
 * prevents a shell from running the program as a script after the kernel has refused it.
 */
export function platformProblem(head: Buffer, host: Platform): string | undefined {
  const isScript = head.subarray(0, 2).toString("latin1") === "#!";
  if (isScript && host.os !== "win32") return undefined;
  const program = read(head);
  if (!program) {
    const formats = host.os === "win32" ? "a program for Windows" : `a program for ${systems[host.os] ?? host.os} or a script`;
    return `is not ${formats}. It may be incomplete, damaged or still compressed`;
  }
  if (program.format === formatOf(host.os) && program.cpus.some((cpu) => runs(cpu, host))) return undefined;
  const os = { ELF: "linux", "Mach-O": "darwin", PE: "win32" }[program.format];
  return `is a program for ${platformName({ os, cpu: program.cpus.join(" and ") })}, not for ${platformName(host)}`;
}

function formatOf(os: string): Format {
  if (os === "win32") return "PE";
  return os === "darwin" ? "Mach-O" : "ELF";
}

function runs(cpu: string, host: Platform): boolean {
  if (cpu === host.cpu) return true;
  // Rosetta runs x64 programs on arm64. In the other direction, a Node for x64 may itself run under Rosetta.
  if (host.os === "darwin") return cpu === "x64" || cpu === "arm64";
  // Windows 11 on arm64 emulates x64.
  return host.os === "win32" && host.cpu === "arm64" && cpu === "x64";
}

function read(head: Buffer): Program | undefined {
  if (head.length < 20) return undefined;
  const magic = head.readUInt32BE(0);
  if (magic === 0x7f454c46) return { format: "ELF", cpus: [elfMachines[head.readUInt16LE(18)] ?? "another machine"] };
  if (magic === 0xcffaedfe) return { format: "Mach-O", cpus: [machOMachines[head.readUInt32LE(4)] ?? "another machine"] };
  if (magic === 0xcafebabe) return readUniversal(head);
  if (head.readUInt16BE(0) === 0x4d5a) return readPe(head);
  return undefined;
}

// A universal program for macOS begins with a count and an entry of 20 bytes for each architecture, all big-endian.
function readUniversal(head: Buffer): Program | undefined {
  const count = head.readUInt32BE(4);
  if (count > universalArchitecturesMax || head.length < 8 + count * 20) return undefined;
  const cpus = Array.from({ length: count }, (_, i) => machOMachines[head.readUInt32BE(8 + i * 20)] ?? "another machine");
  return { format: "Mach-O", cpus };
}

// The number at offset 60 is the offset of the PE header, which names the machine.
function readPe(head: Buffer): Program | undefined {
  if (head.length < 64) return undefined;
  const offset = head.readUInt32LE(60);
  if (offset + 6 > head.length || head.readUInt32BE(offset) !== 0x50450000) return undefined;
  return { format: "PE", cpus: [peMachines[head.readUInt16LE(offset + 4)] ?? "another machine"] };
}
