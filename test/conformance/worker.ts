import { type Case, type CaseResult, runCase } from "./suite.ts";
import { SUITES } from "./suites.ts";

/** Cases of one suite, by their places in its list. */
export interface Portion {
  readonly suite: string;
  readonly places: readonly number[];
}

export type WorkerMessage =
  | { readonly kind: "result"; readonly result: CaseResult }
  | { readonly kind: "done" };

/**
 * A process that runs the portions it is sent, one at a time, and answers with each result. Only as a child of main.ts
 * has it anyone to listen to.
 */
process.on("message", (portion: Portion) => {
  void runPortion(portion);
});

// Suites may have left something open that would keep the process alive.
process.on("disconnect", () => process.exit());

const lists = new Map<string, readonly Case[]>();

async function runPortion({ suite, places }: Portion): Promise<void> {
  const cases = listOf(suite);
  for (const place of places) {
    const one = cases[place];
    if (one === undefined) throw new Error(`suite ${suite} has no case ${place}`);
    answer({ kind: "result", result: await runCase(one) });
  }
  answer({ kind: "done" });
}

function listOf(name: string): readonly Case[] {
  let cases = lists.get(name);
  if (cases === undefined) {
    cases = SUITES.find((suite) => suite.name === name)?.cases() ?? [];
    lists.set(name, cases);
  }
  return cases;
}

function answer(message: WorkerMessage): void {
  // Whoever asked may be gone already; then this process ends, too.
  process.send?.(message, undefined, undefined, () => undefined);
}
