import { availableParallelism } from "node:os";
import { vectorsDirectory } from "../vectors.ts";
import { EXPECTED_FAILURES } from "./expectedFailures.ts";
import { type Judgement, judge, strays } from "./judgement.ts";
import { runAll, type Selection } from "./processes.ts";
import type { CaseResult, Suite } from "./suite.ts";
import { SUITES } from "./suites.ts";

/**
 * `npm run conformance [-- suite ... word ...]`: runs all cases, or those of the suites that are named, and of these the
 * cases whose name contains every other word, on all cores; and compares them with expectedFailures.ts. Exit 0 when all
 * is as expected, else 1.
 */
if (vectorsDirectory === undefined) {
  console.log("Skipped: there are no vectors here; set IBEX_VECTORS to their folder.");
  process.exit(0);
}

const asked = process.argv.slice(2).map((word) => word.toLowerCase());
const suites = SUITES.filter(({ name }) => asked.includes(name));
const words = asked.filter((word) => !suites.some(({ name }) => name === word));
const isAskedFor = (id: string): boolean => words.every((word) => id.toLowerCase().includes(word));

const beganMs = performance.now();
const selections: readonly Selection[] = (suites.length === 0 ? SUITES : suites).map((suite) => {
  const ids = idsOf(suite);
  return { suite, ids, places: [...ids.keys()].filter((place) => isAskedFor(ids[place] ?? "")) };
});
// A suite without cases is shown too: all of them may have vanished.
const shown = selections.filter(({ places, ids }) => places.length > 0 || ids.length === 0);
if (shown.length === 0) {
  console.error(
    `No case has all of: ${words.join(" ")}. Suites: ${SUITES.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(2);
}

const processes = availableParallelism();
const results = await runAll(shown, processes).catch((error: Error) => {
  console.error(`Stopped: ${error.message}`);
  process.exit(1);
});
const problems: string[] = strays(SUITES, EXPECTED_FAILURES);
const rows: string[][] = [
  ["suite", "run", "passed", "expected failures", "unexpected", "repaired", "seconds", "longest"],
];
for (const { suite, ids } of shown) {
  const own = results.get(suite.name) ?? [];
  const judgement = judge(suite, ids, own, EXPECTED_FAILURES);
  problems.push(...judgement.problems);
  rows.push(row(suite.name, own, judgement));
}
printTable(rows);
const elapsed = ((performance.now() - beganMs) / 1000).toFixed(0);
console.log(`\n${elapsed} s on ${processes} processes.`);
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "All as expected." : `${problems.length} problems.`);
process.exit(problems.length === 0 ? 0 : 1);

/** Where even the list of cases cannot be read, nothing can be compared. */
function idsOf(suite: Suite): string[] {
  try {
    return suite.cases().map(({ id }) => id);
  } catch (error) {
    console.error(`Stopped: the cases of suite ${suite.name} cannot be listed: ${String(error)}`);
    process.exit(1);
  }
}

function row(name: string, own: readonly CaseResult[], judgement: Judgement): string[] {
  const { passed, expectedFailures, unexpectedFailures, repaired } = judgement;
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
