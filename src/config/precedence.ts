import { longestSpelling, OPTION_NAMES, type OptionName, type OptionValues, optionNamed } from "./options.ts";
import { describeSource, isAskedFor, onOneLine, type RawOption, type Source } from "./rawOption.ts";

/** Every option's value, and where it came from. */
export interface ResolvedOptions {
  readonly values: OptionValues;
  sourceOf(name: OptionName): Source;
  /** True when the operator gave it, by whatever means. */
  isGiven(name: OptionName): boolean;
}

export interface Resolution {
  readonly options: ResolvedOptions;
  readonly problems: readonly string[];
}

/**
 * Picks for each option the first layer that gives it (command line, environment, file, preset;
 * options.md#precedence), else the default, and reads the text. Whole values: a list from one layer is never
 * extended by another. A text that cannot be read is a problem, and the default stands in its place so that
 * further checks can go on.
 */
export function resolveOptions(layers: readonly (readonly RawOption[])[]): Resolution {
  const problems: string[] = [];
  const values: Partial<Record<OptionName, unknown>> = {};
  const sources = new Map<OptionName, Source>();
  for (const name of OPTION_NAMES) {
    const option = optionNamed(name);
    values[name] = option.default;
    const given = findRaw(layers, name);
    if (given === undefined) continue;
    const outcome = option.type.read(given.text);
    if (outcome.ok) values[name] = outcome.value;
    else problems.push(badValue(given, outcome.error.message));
    sources.set(name, given.source);
  }
  const sourceOf = (name: OptionName): Source => sources.get(name) ?? { kind: "default" };
  const options: ResolvedOptions = {
    // Each value was read by its own option's type, which is what OptionValues says.
    values: values as OptionValues,
    sourceOf,
    isGiven: (name) => isAskedFor(sourceOf(name)),
  };
  return { options, problems };
}

/** An option's winning text, unread. */
export function findRaw(layers: readonly (readonly RawOption[])[], name: OptionName): RawOption | undefined {
  for (const layer of layers) {
    const given = layer.find((each) => each.name === name);
    if (given !== undefined) return given;
  }
  return undefined;
}

/** Begins with the incumbent's words; then where the value came from and what would do. */
function badValue({ name, source }: RawOption, reason: string): string {
  const { accepts } = optionNamed(name).type;
  return `Invalid value for option '--${longestSpelling(name)}': ${onOneLine(reason)} (given ${describeSource(source)}; accepted: ${accepts})`;
}
