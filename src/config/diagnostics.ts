import type { OptionName } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";
import { describeSource, onOneLine } from "./rawOption.ts";

/** Result of a check of the configuration. */
export interface Diagnostics {
  /** Any problem prevents the start. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Appends to a problem where each option involved was given, so that the operator finds what to change. */
export function report(
  { sourceOf }: ResolvedOptions,
  problem: string,
  ...names: readonly OptionName[]
): string {
  const places = names
    .map((name) => ({ name, source: sourceOf(name) }))
    .filter(({ source }) => source.kind !== "default" && source.kind !== "preset")
    .map(({ name, source }) => `--${name} is given ${describeSource(source)}`);
  const line = onOneLine(problem);
  return places.length === 0 ? line : `${line} (${places.join("; ")})`;
}
