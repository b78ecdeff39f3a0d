import { expect } from "vitest";

/**
 * Vitest compares arrays of bytes by the list of their entries, some microseconds for a byte: the receipts of one block took
 * seconds. This compares them at once, with the same answer: two are equal when they are of one class and hold the same bytes.
 */
function equalBytes(one: unknown, other: unknown): boolean | undefined {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return undefined;
  return one.constructor === other.constructor && Buffer.compare(one, other) === 0;
}

/** Files of tests share a process, in which this is loaded for each: the comparison is added once. */
const ADDED = Symbol.for("ibex.equalBytes");
if (!(ADDED in globalThis)) {
  Object.assign(globalThis, { [ADDED]: true });
  expect.addEqualityTesters([equalBytes]);
}
