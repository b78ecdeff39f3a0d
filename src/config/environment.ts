import { nearestNames } from "./nearestNames.ts";
import { OPTION_NAMES, type OptionName, optionNamed, spellingsOf } from "./options.ts";
import type { RawOption, SourceReading, UnknownOption } from "./rawOption.ts";
import { isOfOtherRelease } from "./unknownOptions.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Ours first, then the incumbent's, its former name last, so that its start files keep working. */
const PREFIXES = ["IBEX_", "BESU_", "PANTHEON_"] as const;

/**
 * Options given by environment variables: IBEX_, BESU_ or PANTHEON_ and the name or an alias in capitals, dashes as underscores.
 * The value is read like command line text; an empty one counts as not given, which is how service files unset.
 */
export function readEnvironment(environment: Environment): SourceReading {
  const given: RawOption[] = [];
  const warnings: string[] = [];
  for (const name of OPTION_NAMES) {
    if (isOutsideEnvironment(name)) continue;
    const set = variablesOf(name).filter((variable) => (environment[variable] ?? "") !== "");
    const [first, ...others] = set;
    if (first === undefined) continue;
    const text = environment[first] ?? "";
    given.push({ name, text, source: { kind: "environment", variable: first } });
    const contradicting = others.filter((variable) => environment[variable] !== text);
    if (contradicting.length > 0) {
      warnings.push(`${first} counts; ${contradicting.join(", ")} says otherwise and is ignored.`);
    }
  }
  const foreign = foreignVariables(environment);
  return { raw: given, foreign, problems: [], warnings: [...warnings, ...suspectedMistakes(environment)] };
}

/** All variables that an option listens to, the first one winning. */
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

/** Variables with our prefix that are no option but look like one. Others may be anything; they are left alone. */
function suspectedMistakes(environment: Environment): string[] {
  const ours = Object.keys(environment).filter((variable) => withoutPrefix(variable) !== undefined);
  if (ours.length === 0) return [];
  const known = [...VARIABLES.values()].flat();
  const isKnown = new Set(known);
  return ours
    .filter((variable) => !isKnown.has(variable))
    .filter((variable) => foreignNameOf(variable) === undefined)
    .flatMap((variable) => {
      const [nearest] = nearestNames(variable, known);
      return nearest === undefined
        ? []
        : [`${variable} is not an option and is ignored; is ${nearest} meant?`];
    });
}

function foreignVariables(environment: Environment): readonly UnknownOption[] {
  return Object.entries(environment).flatMap(([variable, text = ""]) => {
    const spelling = text === "" ? undefined : foreignNameOf(variable);
    return spelling === undefined
      ? []
      : [{ spelling, text, source: { kind: "environment", variable } as const }];
  });
}

/** The name in small letters; those that begin with X keep that letter. */
function foreignNameOf(variable: string): string | undefined {
  const rest = withoutPrefix(variable)?.toLowerCase().replaceAll("_", "-");
  if (rest === undefined) return undefined;
  return [rest, rest.replace(/^x/, "X")].find(isOfOtherRelease);
}

function withoutPrefix(variable: string): string | undefined {
  const prefix = PREFIXES.find((each) => variable.startsWith(each));
  return prefix === undefined ? undefined : variable.slice(prefix.length);
}
