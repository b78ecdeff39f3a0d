import type { Given, SourceReading } from "./given.ts";
import { nearestNames } from "./nearestNames.ts";
import { OPTION_NAMES, type OptionName, optionNamed, spellingsOf } from "./options.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Ours first, then the incumbent's, so that its start files keep working. */
const PREFIXES = ["IBEX_", "BESU_"] as const;

/**
 * Options given by environment variables: IBEX_ or BESU_ and the name or an alias in capitals, dashes as underscores.
 * The value is read like command line text; an empty one counts as not given, which is how service files unset.
 */
export function readEnvironment(environment: Environment): SourceReading {
  const given: Given[] = [];
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
  return { given, problems: [], warnings: [...warnings, ...suspectedMistakes(environment)] };
}

/** All variables that an option listens to, the first one winning. */
export function variablesOf(name: OptionName): readonly string[] {
  const prefixed = PREFIXES.flatMap((prefix) =>
    spellingsOf(name).map((spelling) => prefix + inCapitals(spelling)),
  );
  return [...prefixed, ...(optionNamed(name).variables ?? [])];
}

function isOutsideEnvironment(name: OptionName): boolean {
  return name === "help" || name === "version";
}

function inCapitals(spelling: string): string {
  return spelling.replaceAll("-", "_").toUpperCase();
}

/** Variables with our prefix that are no option but look like one. Others may be anything; they are left alone. */
function suspectedMistakes(environment: Environment): string[] {
  const known = OPTION_NAMES.flatMap((name) => [...variablesOf(name)]);
  const isKnown = new Set(known);
  return Object.keys(environment)
    .filter((variable) => PREFIXES.some((prefix) => variable.startsWith(prefix)) && !isKnown.has(variable))
    .flatMap((variable) => {
      const [nearest] = nearestNames(variable, known);
      return nearest === undefined
        ? []
        : [`${variable} is not an option and is ignored; is ${nearest} meant?`];
    });
}
