import type { CaseResult, Suite } from "./suite.ts";

/** A case that is known to fail, and why that is right or must be. */
export interface ExpectedFailure {
  readonly suite: string;
  /** A case's id, or the beginning of several, ended by "*". */
  readonly case: string;
  /** Part of what the failure says: another failure of the same case is a new one. */
  readonly says: string;
  readonly reason: string;
}

export interface Judgement {
  readonly passed: number;
  readonly expectedFailures: number;
  readonly unexpectedFailures: number;
  readonly repaired: number;
  /** What must be looked at, a line each; none when all is as expected. */
  readonly problems: readonly string[];
}

/**
 * Compares what came out of the cases that were run with the list of failures that are expected. `ids` are all cases of
 * the suite, run or not.
 */
export function judge(
  { name, total }: Pick<Suite, "name" | "total">,
  ids: readonly string[],
  results: readonly CaseResult[],
  expectations: readonly ExpectedFailure[],
): Judgement {
  const own = expectations.filter(({ suite }) => suite === name);
  const expectationOf = (id: string) => own.find((expected) => covers(expected, id));
  const failed = results.filter(({ failure }) => failure !== undefined);
  const foreseen = failed.filter(({ id, failure }) => failure?.includes(expectationOf(id)?.says ?? NEVER));
  const unforeseen = failed.filter((result) => !foreseen.includes(result));
  const repaired = results.filter(({ id, failure }) => failure === undefined && expectationOf(id));
  return {
    passed: results.length - failed.length,
    expectedFailures: foreseen.length,
    unexpectedFailures: unforeseen.length,
    repaired: repaired.length,
    problems: [
      ...unforeseen.map(({ id, failure }) => `fails: ${name}: ${id}: ${failure}`),
      ...repaired.map(({ id }) => `passes now, so take it off the list: ${name}: ${id}`),
      ...own
        .filter((expected) => !ids.some((id) => covers(expected, id)))
        .map((expected) => `listed, but there is no such case: ${name}: ${expected.case}`),
      ...repeated(ids).map((id) => `two cases of one name: ${name}: ${id}`),
      ...(ids.length === total ? [] : [`${name}: ${total} cases are pinned, but there are ${ids.length}`]),
    ],
  };
}

/** Expectations of suites that do not exist. */
export function strays(suites: readonly Suite[], expectations: readonly ExpectedFailure[]): string[] {
  return expectations
    .filter((expected) => !suites.some(({ name }) => name === expected.suite))
    .map((expected) => `listed, but there is no such suite: ${expected.suite}: ${expected.case}`);
}

/** No failure says this. */
const NEVER = "\u0000";

function covers(expected: ExpectedFailure, id: string): boolean {
  return expected.case.endsWith("*") ? id.startsWith(expected.case.slice(0, -1)) : id === expected.case;
}

function repeated(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.size === seen.add(id).size);
}
