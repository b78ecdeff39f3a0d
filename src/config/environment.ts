import { nearestNames } from "./nearestNames.ts";
import { OPTION_NAMES, type OptionName, optionNamed, spellingsOf } from "./options.ts";
import type { RawOption, SourceReading, UnknownOption } from "./rawOption.ts";
import { isOfOtherRelease } from "./unknownOptions.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Prefixes in order of precedence. PANTHEON_ is Besu's former one, which existing service files still use. */
const PREFIXES = ["IBEX_", "BESU_", "PANTHEON_"] as const;

/**
 * Reads options from environment variables: IBEX_, BESU_ or PANTHEON_, then the name or an alias in capitals with
 * underscores for dashes. The value is read like command line text; an empty one counts as not given, because service
 * files unset variables that way.
 */
export function readEnvironment(environment: Environment): SourceReading {
  const raw: RawOption[] = [];
  const warnings: string[] = [];
  for (const name of OPTION_NAMES) {
    if (isOutsideEnvironment(name)) continue;
    const variables = variablesOf(name).filter((variable) => (environment[variable] ?? "") !== "");
    const [first, ...others] = variables;
    if (first === undefined) continue;
    const text = environment[first] ?? "";
    raw.push({ name, text, source: { kind: "environment", variable: first } });
    const contradicting = others.filter((variable) => environment[variable] !== text);
    if (contradicting.length > 0) {
      warnings.push(`${first} counts; ${contradicting.join(", ")} says otherwise and is ignored.`);
    }
  }
  const unknown = unknownVariables(environment);
  return { raw: raw, unknown: unknown, problems: [], warnings: [...warnings, ...likelyTypos(environment)] };
}

/** All variables that set an option; the first one given wins. */
export function variablesOf(name: OptionName): readonly string[] {
  return VARIABLES.get(name) ?? [];
}

const VARIABLES: ReadonlyMap<OptionName, readonly string[]> = new Map(
  OPTION_NAMES.map((name) => [name, deriveVariables(name)]),
);

function deriveVariables(name: OptionName): readonly string[] {
  const prefixed = PREFIXES.flatMap((prefix) =>
    spellingsOf(name).map((spelling) => prefix + inCapitals(spelling)),
  );
  return [...prefixed, ...(optionNamed(name).variables ?? [])];
}

function isOutsideEnvironment(name: OptionName): boolean {
  return name === "help" || name === "Xhelp" || name === "version";
}

function inCapitals(spelling: string): string {
  return spelling.replaceAll("-", "_").toUpperCase();
}

/** Warns of variables with a known prefix that resemble an option's variable. Other unknown ones are ignored. */
function likelyTypos(environment: Environment): string[] {
  const ours = Object.keys(environment).filter((variable) => withoutPrefix(variable) !== undefined);
  if (ours.length === 0) return [];
  const known = [...VARIABLES.values()].flat();
  const isKnown = new Set(known);
  return ours
    .filter((variable) => !isKnown.has(variable))
    .filter((variable) => unknownNameOf(variable) === undefined)
    .flatMap((variable) => {
      const [nearest] = nearestNames(variable, known);
      return nearest === undefined
        ? []
        : [`${variable} is not an option and is ignored; is ${nearest} meant?`];
    });
}

function unknownVariables(environment: Environment): readonly UnknownOption[] {
  return Object.entries(environment).flatMap(([variable, text = ""]) => {
    const spelling = text === "" ? undefined : unknownNameOf(variable);
    return spelling === undefined
      ? []
      : [{ spelling, text, source: { kind: "environment", variable } as const }];
  });
}

/** The option name in lower case, with a capital X where it begins with one. */
function unknownNameOf(variable: string): string | undefined {
  const rest = withoutPrefix(variable)?.toLowerCase().replaceAll("_", "-");
  if (rest === undefined) return undefined;
  return [rest, rest.replace(/^x/, "X")].find(isOfOtherRelease);
}

function withoutPrefix(variable: string): string | undefined {
  const prefix = PREFIXES.find((each) => variable.startsWith(each));
  return prefix === undefined ? undefined : variable.slice(prefix.length);
}
