/** Throws a TypeError for an unknown option, because in JavaScript no compiler finds a misspelled one. */
export function refuseUnknown(call: string, options: object, names: readonly string[], advice = "."): void {
  const unknown = Object.keys(options).find((option) => !names.includes(option));
  if (unknown === undefined) return;
  throw new TypeError(`${call} has no option "${unknown}". Its options are ${names.join(", ")}${advice}`);
}
