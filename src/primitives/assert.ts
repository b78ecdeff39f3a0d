/** Thrown when a belief of ours turned out false: a bug or broken machinery, never bad input. */
export class AssertionFailed extends Error {
  override name = "AssertionFailed";
}

/** States what must hold here; throws AssertionFailed with the message otherwise. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}

/** Ends a switch over all kinds: a new kind fails to compile here. */
export function assertNever(value: never): never {
  throw new AssertionFailed(`unexpected kind: ${JSON.stringify(value)}`);
}

/** The value, or AssertionFailed when it is absent where it must be present. */
export function expectDefined<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new AssertionFailed(`${what} must be present`);
  return value;
}
