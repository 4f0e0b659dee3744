/** Throws a TypeError for a misspelled option: callers in JavaScript have no compiler that finds it. */
export function refuseUnknown(call: string, options: object, names: readonly string[], advice = "."): void {
  const unknown = Object.keys(options).find((option) => !names.includes(option));
  if (unknown === undefined) return;
  throw new TypeError(`${call} has no option "${unknown}". Its options are ${names.join(", ")}${advice}`);
}
