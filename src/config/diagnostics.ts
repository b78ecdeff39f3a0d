import type { OptionName } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";
import { describeSource, onOneLine } from "./rawOption.ts";

/** What a check of the configuration comes to. */
export interface Diagnostics {
  /** Each stops the start. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** A problem between options, with where each of them was given, so that a person finds what to change. */
export function report(
  { sourceOf }: ResolvedOptions,
  problem: string,
  ...names: readonly OptionName[]
): string {
  const places = names
    .map((name) => ({ name, source: sourceOf(name) }))
    .filter(({ source }) => source.kind !== "default" && source.kind !== "preset")
    .map(({ name, source }) => `--${name} is given ${describeSource(source)}`);
  const told = onOneLine(problem);
  return places.length === 0 ? told : `${told} (${places.join("; ")})`;
}
