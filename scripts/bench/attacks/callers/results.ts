import type { LoggedBlock } from "../../network.ts";
import { atQuantile } from "../../report.ts";
import type { NodeFigures } from "./nodeWatch.ts";

export interface Spacing {
  readonly p95Seconds: number;
  readonly longestSeconds: number;
}

export type AttackResult =
  | { readonly name: string; readonly failed: string }
  | {
      readonly name: string;
      readonly failed?: undefined;
      readonly spacing: Spacing;
      /** Times of the usual calls, and of those that the attack is aimed at. */
      readonly honestMs: readonly (readonly number[])[];
      readonly node: NodeFigures;
      readonly refused: string;
    };

/** What is expected with two threads on two cores that nothing else uses. */
const EXPECTED = { p95: 1.3, longest: 2, honest: 0.3, megabytes: 1024 } as const;

/** From the last block before `beganAtMs` until now. A missing block counts as if it arrived now. */
export function spacingOf(blocks: readonly LoggedBlock[], beganAtMs: number): Spacing {
  const times = blocks.map(({ atMs }) => atMs);
  const first = times.findLastIndex((atMs) => atMs < beganAtMs);
  const marks = [...times.slice(Math.max(first, 0)), Date.now()];
  const gaps = marks.slice(1).map((atMs, at) => (atMs - (marks[at] ?? 0)) / 1000);
  const counted = (gaps.at(-1) ?? 0) > 1 ? gaps : gaps.slice(0, -1);
  return { p95Seconds: atQuantile(counted, 0.95), longestSeconds: Math.max(...counted) };
}

export function printResult(result: AttackResult): void {
  if (result.failed !== undefined) {
    console.log(`${result.name}: failed: ${result.failed}`);
    return;
  }
  console.log(`${result.name}: ${cells(result).join(", ")}\n  what the attackers got: ${result.refused}`);
}

/** A line for each attack; figures above what is expected have an exclamation mark. */
export function printTable(results: readonly AttackResult[]): void {
  const head = [
    "blocks p95",
    "longest",
    "honest p95",
    "longest",
    "aimed at p95",
    "longest",
    "own MB",
    "RSS MB",
    "waited",
  ];
  console.log(`\n${"attack".padEnd(NAME_WIDTH)}${row(head)}`);
  for (const result of results)
    console.log(
      `${result.name.padEnd(NAME_WIDTH)}${result.failed === undefined ? row(cells(result)) : result.failed}`,
    );
  console.log(
    `expected: blocks p95 at most ${EXPECTED.p95} s and longest ${EXPECTED.longest} s, honest answers p95 ${EXPECTED.honest} s, ` +
      `memory ${EXPECTED.megabytes} MB; "waited" is how much of the time the node's main thread waited for a core`,
  );
}

const NAME_WIDTH = 54;

function cells({
  spacing,
  honestMs,
  node,
}: Extract<AttackResult, { readonly failed?: undefined }>): readonly string[] {
  const [usual = [], aimedAt = []] = honestMs;
  return [
    atMost(spacing.p95Seconds, EXPECTED.p95, 2),
    atMost(spacing.longestSeconds, EXPECTED.longest, 2),
    ...answers(usual),
    ...(aimedAt.length === 0 ? ["-", "-"] : answers(aimedAt)),
    atMost(node.ownMb, EXPECTED.megabytes, 0),
    atMost(node.residentMb, EXPECTED.megabytes, 0),
    `${Math.round(node.waitedShare * 100)} %`,
  ];
}

function answers(times: readonly number[]): readonly string[] {
  const longest = atQuantile(times, 1) / 1000;
  return [atMost(atQuantile(times, 0.95) / 1000, EXPECTED.honest, 3), longest.toFixed(3)];
}

function atMost(value: number, expected: number, digits: number): string {
  return `${value.toFixed(digits)}${value > expected ? "!" : ""}`;
}

function row(texts: readonly string[]): string {
  return texts.map((text) => text.padStart(13)).join("");
}
