import type { CaseResult, Suite } from "./suite.ts";

/** A case that is known to fail, with the reason. */
export interface ExpectedFailure {
  readonly suite: string;
  /** A case's id, or a common prefix of several, followed by "*". */
  readonly case: string;
  /** Part of the failure's text: another failure of the same case is unexpected. */
  readonly says: string;
  readonly reason: string;
}

export interface Comparison {
  readonly passed: number;
  readonly expectedFailures: number;
  readonly unexpectedFailures: number;
  readonly repaired: number;
  /** One line per problem; empty when all is as expected. */
  readonly problems: readonly string[];
}

/**
 * Compares results with the list of expected failures. `ids` are all cases of the suite, run or not.
 */
export function compareResults(
  { name, total }: Pick<Suite, "name" | "total">,
  ids: readonly string[],
  results: readonly CaseResult[],
  expectations: readonly ExpectedFailure[],
): Comparison {
  const own = expectations.filter(({ suite }) => suite === name);
  const expectationOf = (id: string) => own.find((entry) => covers(entry, id));
  const failed = results.filter(({ failure }) => failure !== undefined);
  const expected = failed.filter(({ id, failure }) => failure?.includes(expectationOf(id)?.says ?? NEVER));
  const unexpected = failed.filter((result) => !expected.includes(result));
  const repaired = results.filter(({ id, failure }) => failure === undefined && expectationOf(id));
  return {
    passed: results.length - failed.length,
    expectedFailures: expected.length,
    unexpectedFailures: unexpected.length,
    repaired: repaired.length,
    problems: [
      ...unexpected.map(({ id, failure }) => `fails: ${name}: ${id}: ${failure}`),
      ...repaired.map(({ id }) => `passes now, so take it off the list: ${name}: ${id}`),
      ...own
        .filter((entry) => !ids.some((id) => covers(entry, id)))
        .map((entry) => `listed, but there is no such case: ${name}: ${entry.case}`),
      ...repeated(ids).map((id) => `two cases of one name: ${name}: ${id}`),
      ...(ids.length === total ? [] : [`${name}: ${total} cases are pinned, but there are ${ids.length}`]),
    ],
  };
}

/** Reports entries for suites that do not exist. */
export function entriesOfUnknownSuites(
  suites: readonly Suite[],
  expectations: readonly ExpectedFailure[],
): string[] {
  return expectations
    .filter((expected) => !suites.some(({ name }) => name === expected.suite))
    .map((expected) => `listed, but there is no such suite: ${expected.suite}: ${expected.case}`);
}

/** No failure contains this. */
const NEVER = "\u0000";

function covers(expected: ExpectedFailure, id: string): boolean {
  return expected.case.endsWith("*") ? id.startsWith(expected.case.slice(0, -1)) : id === expected.case;
}

function repeated(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.size === seen.add(id).size);
}
