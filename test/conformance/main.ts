import { availableParallelism } from "node:os";
import { vectorsDirectory } from "../vectors.ts";
import { type Comparison, compareResults, entriesOfUnknownSuites } from "./comparison.ts";
import { EXPECTED_FAILURES } from "./expectedFailures.ts";
import { runAll, type Selection } from "./processes.ts";
import type { CaseResult, Suite } from "./suite.ts";
import { SUITES } from "./suites.ts";

/**
 * `npm run conformance [-- suite ... text ...]`: runs all cases, or those of the given suites, and of these only the cases
 * whose id contains every other argument, on all cores, and compares the results with expectedFailures.ts. Exits with 0
 * when all is as expected, else 1.
 */
if (vectorsDirectory === undefined) {
  console.log("Skipped: there are no vectors here; set IBEX_VECTORS to their folder.");
  process.exit(0);
}

const args = process.argv.slice(2).map((arg) => arg.toLowerCase());
const suites = SUITES.filter(({ name }) => args.includes(name));
const texts = args.filter((arg) => !suites.some(({ name }) => name === arg));
const isSelected = (id: string): boolean => texts.every((text) => id.toLowerCase().includes(text));

const startedAtMs = performance.now();
const selections: readonly Selection[] = (suites.length === 0 ? SUITES : suites).map((suite) => {
  const ids = idsOf(suite);
  return { suite, ids, indexes: [...ids.keys()].filter((index) => isSelected(ids[index] ?? "")) };
});
// A suite without cases is shown too, because its vectors may be missing.
const shown = selections.filter(({ indexes, ids }) => indexes.length > 0 || ids.length === 0);
if (shown.length === 0) {
  console.error(
    `No case has all of: ${texts.join(" ")}. Suites: ${SUITES.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(2);
}

const processes = availableParallelism();
const results = await runAll(shown, processes).catch((error: Error) => {
  console.error(`Stopped: ${error.message}`);
  process.exit(1);
});
const problems: string[] = entriesOfUnknownSuites(SUITES, EXPECTED_FAILURES);
const rows: string[][] = [
  ["suite", "run", "passed", "expected failures", "unexpected", "repaired", "seconds", "longest"],
];
for (const { suite, ids } of shown) {
  const own = results.get(suite.name) ?? [];
  const comparison = compareResults(suite, ids, own, EXPECTED_FAILURES);
  problems.push(...comparison.problems);
  rows.push(row(suite.name, own, comparison));
}
printTable(rows);
const elapsed = ((performance.now() - startedAtMs) / 1000).toFixed(0);
console.log(`\n${elapsed} s on ${processes} processes.`);
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "All as expected." : `${problems.length} problems.`);
process.exit(problems.length === 0 ? 0 : 1);

/** Exits when the list of cases cannot be read, because nothing can be compared then. */
function idsOf(suite: Suite): string[] {
  try {
    return suite.cases().map(({ id }) => id);
  } catch (error) {
    console.error(`Stopped: the cases of suite ${suite.name} cannot be listed: ${String(error)}`);
    process.exit(1);
  }
}

function row(name: string, own: readonly CaseResult[], comparison: Comparison): string[] {
  const { passed, expectedFailures, unexpectedFailures, repaired } = comparison;
  const counts = [own.length, passed, expectedFailures, unexpectedFailures, repaired];
  const seconds = own.reduce((sum, result) => sum + result.seconds, 0);
  const longest = own.reduce((most, result) => Math.max(most, result.seconds), 0);
  return [name, ...counts.map(String), seconds.toFixed(1), longest.toFixed(1)];
}

function printTable(lines: readonly (readonly string[])[]): void {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(cells.join("  "));
  }
}
