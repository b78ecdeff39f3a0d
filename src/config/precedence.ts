import { longestSpelling, OPTION_NAMES, type OptionName, type OptionValues, optionNamed } from "./options.ts";
import { describeSource, isAskedFor, onOneLine, type RawOption, type Source } from "./rawOption.ts";

/** Every option's value and its source. */
export interface ResolvedOptions {
  readonly values: OptionValues;
  sourceOf(name: OptionName): Source;
  /** True when the operator gave it on the command line, in the environment or in a file. */
  isGiven(name: OptionName): boolean;
}

interface Resolution {
  readonly options: ResolvedOptions;
  readonly problems: readonly string[];
}

/**
 * Takes each option from the first layer that gives it (command line, environment, file, profile, preset;
 * options.md#precedence), else its default. Lists of different layers are not merged. A text that cannot be parsed is
 * a problem; the default then takes its place so that further checks can run.
 */
export function resolveOptions(layers: readonly (readonly RawOption[])[]): Resolution {
  const problems: string[] = [];
  const values: Partial<Record<OptionName, unknown>> = {};
  const sources = new Map<OptionName, Source>();
  for (const name of OPTION_NAMES) {
    const option = optionNamed(name);
    values[name] = option.default;
    const raw = findRaw(layers, name);
    if (raw === undefined) continue;
    const value = option.type.read(raw.text);
    if (value.ok) values[name] = value.value;
    else problems.push(badValue(raw, value.error.message));
    sources.set(name, raw.source);
  }
  const sourceOf = (name: OptionName): Source => sources.get(name) ?? { kind: "default" };
  const options: ResolvedOptions = {
    // Each value was parsed by its own option's type, as OptionValues states.
    values: values as OptionValues,
    sourceOf,
    isGiven: (name) => isAskedFor(sourceOf(name)),
  };
  return { options, problems };
}

/** An option's unparsed text from the first layer that gives it. */
export function findRaw(layers: readonly (readonly RawOption[])[], name: OptionName): RawOption | undefined {
  for (const layer of layers) {
    const found = layer.find((each) => each.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Begins with Besu's message; then where the value came from and what is accepted. */
function badValue({ name, source }: RawOption, reason: string): string {
  const { accepts } = optionNamed(name).type;
  return `Invalid value for option '--${longestSpelling(name)}': ${onOneLine(reason)} (given ${describeSource(source)}; accepted: ${accepts})`;
}
