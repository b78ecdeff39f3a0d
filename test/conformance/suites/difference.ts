import type { Failure } from "../suite.ts";

/** Finds the first difference between two JSON values, regardless of the order of members. */
export function firstDifference(ours: unknown, expected: unknown, path = "result"): Failure | undefined {
  if (isObject(ours) && isObject(expected) && Array.isArray(ours) === Array.isArray(expected)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(ours)])) {
      const difference = firstDifference(ours[name], expected[name], `${path}.${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (ours === expected) return undefined;
  return `${path} is ${shown(ours)}, expected ${shown(expected)}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : (JSON.stringify(value)?.slice(0, 100) ?? "missing");
}
