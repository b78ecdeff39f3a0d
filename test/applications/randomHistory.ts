import fc from "fast-check";
import type { ChainClient } from "./chainClient.ts";
import { laterTime, type Outcome, resultsOf, type SimulatedCall, simulate } from "./simulatedTime.ts";

/** One call of a random history, some seconds after the one before. */
export interface Step {
  readonly waitSeconds: bigint;
  readonly call: SimulatedCall;
}

/** What a step did, and what the contracts showed after it. */
export interface Observed {
  readonly time: bigint;
  readonly outcome: Outcome;
  readonly shown: readonly unknown[];
}

/** Seeds of fast-check; IBEX_SEED repeats a run. */
export const HISTORY_SEED = Number(process.env["IBEX_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** A wait between steps: from none that a block allows to some weeks. */
export const waits = fc
  .oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 3600, max: 3_000_000 }))
  .map(BigInt);

/** Amounts of every magnitude up to the given one, and nothing. */
export function amountsTo(most: bigint): fc.Arbitrary<bigint> {
  return fc
    .tuple(fc.bigInt({ min: 0n, max: most }), fc.integer({ min: 0, max: most.toString().length }))
    .map(([amount, digits]) => amount / 10n ** BigInt(digits));
}

/**
 * Runs `prepare`, which has to succeed, and then each step in a block of its own, followed by the calls that observe; all in
 * one request that leaves nothing behind. The first element shows the state before the first step.
 */
export async function runHistory(
  client: ChainClient,
  prepare: readonly SimulatedCall[],
  steps: readonly Step[],
  observe: readonly SimulatedCall[],
): Promise<{ readonly before: Omit<Observed, "outcome">; readonly after: readonly Observed[] }> {
  let time = await laterTime(client);
  const first = { time, calls: [...prepare, ...observe] };
  const blocks = steps.map(({ waitSeconds, call }) => {
    time += waitSeconds;
    return { time, calls: [call, ...observe] };
  });
  const outcomes = await simulate(client, [first, ...blocks]);
  resultsOf(outcomes.slice(0, prepare.length));
  const shownFrom = (index: number) => resultsOf(outcomes.slice(index, index + observe.length));
  return {
    before: { time: first.time, shown: shownFrom(prepare.length) },
    after: blocks.map((block, index) => {
      const at = first.calls.length + index * (observe.length + 1);
      const outcome = outcomes[at];
      if (outcome === undefined) throw new Error("a step without its outcome");
      return { time: block.time, outcome, shown: shownFrom(at + 1) };
    }),
  };
}
