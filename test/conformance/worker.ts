import { type Case, type CaseResult, runCase } from "./suite.ts";
import { SUITES } from "./suites.ts";

/** Cases of one suite, by index in its list. */
export interface Portion {
  readonly suite: string;
  readonly indexes: readonly number[];
}

export type WorkerMessage =
  | { readonly kind: "result"; readonly result: CaseResult }
  | { readonly kind: "done" };

/**
 * A child process of main.ts that runs the portions it receives, one at a time, and sends each result.
 */
process.on("message", (portion: Portion) => {
  void runPortion(portion);
});

// Suites may leave handles open that would keep the process alive.
process.on("disconnect", () => process.exit());

const lists = new Map<string, readonly Case[]>();

async function runPortion({ suite, indexes }: Portion): Promise<void> {
  const cases = listOf(suite);
  for (const index of indexes) {
    const one = cases[index];
    if (one === undefined) throw new Error(`suite ${suite} has no case ${index}`);
    send({ kind: "result", result: await runCase(one) });
  }
  send({ kind: "done" });
}

function listOf(name: string): readonly Case[] {
  let cases = lists.get(name);
  if (cases === undefined) {
    cases = SUITES.find((suite) => suite.name === name)?.cases() ?? [];
    lists.set(name, cases);
  }
  return cases;
}

function send(message: WorkerMessage): void {
  // Ignores an error: when the parent has exited, this process exits too.
  process.send?.(message, undefined, undefined, () => undefined);
}
