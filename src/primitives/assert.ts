/** Thrown when an invariant does not hold: a bug or a failure of the system, never bad input. */
export class AssertionFailed extends Error {
  override name = "AssertionFailed";
}

/** Checks an invariant; throws AssertionFailed with the message when it does not hold. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}

/** Ends an exhaustive switch: a new kind fails to compile here. */
export function assertNever(value: never): never {
  throw new AssertionFailed(`unexpected kind: ${JSON.stringify(value)}`);
}

/** Returns the value; throws AssertionFailed when it is absent. */
export function expectDefined<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new AssertionFailed(`${what} must be present`);
  return value;
}
