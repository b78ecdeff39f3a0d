import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { TEST_HANG_MS } from "../hang.ts";
import { watchOver } from "./watchdog.ts";

/**
 * Grammar-based fuzzing: a target generates nearly valid inputs with fast-check, and checks what the code makes of
 * each. Every test run takes a few hundred from a fixed seed; `npm run fuzz` takes as many as requested.
 *
 *     inputs (grammar, real corpora, mutations) ──> validate ──> "accepted", or "refused: why"
 *                                                     └─ throws: a finding, which fast-check makes small
 */
export interface FuzzTarget<T extends string | Uint8Array> {
  readonly name: string;
  inputs(): fc.Arbitrary<T> | Promise<fc.Arbitrary<T>>;
  /** The outcome of the input, in a form that many inputs share; throws on a finding. */
  validate(input: T): string | Promise<string>;
  /** Inputs of an ordinary test run. */
  readonly dailyInputs: number;
  /** Guards the quality of the inputs: the least number of outcomes, and the share of accepted inputs. */
  readonly spread: { readonly outcomes: number; readonly accepted: readonly [least: number, most: number] };
}

export const ACCEPTED = "accepted";

/** An input that takes longer in each of several attempts is a finding. */
const SLOW_MS = 100;
/** Allowed heap growth over the last two thirds of a long run. */
const GROWTH_LIMIT_MB = 48;
const DAILY_SEED = 20_240_731;

export const inputsAsked = numberIn("IBEX_FUZZ_INPUTS");
export const secondsAsked = numberIn("IBEX_FUZZ_SECONDS");
/** The first input to take, where inputs have numbers. */
export const fromAsked = numberIn("IBEX_FUZZ_FROM") ?? 0;
/** True for `npm run fuzz`, false in an ordinary test run. */
export const isLong = inputsAsked !== undefined || secondsAsked !== undefined;

/** IBEX_SEED, else a fresh one for a long run and always the same one for an ordinary run. */
export function seedAsked(): number {
  return numberIn("IBEX_SEED") ?? (isLong ? Math.floor(Math.random() * 2 ** 31) : DAILY_SEED);
}

/** Declares the test of a target. */
export function fuzz<T extends string | Uint8Array>(target: FuzzTarget<T>): void {
  const seed = seedAsked();
  const inputs = inputsAsked ?? (isLong ? Number.MAX_SAFE_INTEGER : target.dailyInputs);
  it(
    `${target.name}: withstands nearly valid inputs (IBEX_SEED=${seed})`,
    async () => {
      const counted = await run(target, seed, inputs);
      if (isLong) console.log(report(target.name, seed, counted));
      const share = (counted.outcomes.get(ACCEPTED) ?? 0) / counted.inputs;
      expect(counted.outcomes.size).toBeGreaterThanOrEqual(target.spread.outcomes);
      expect(share).toBeGreaterThanOrEqual(target.spread.accepted[0]);
      expect(share).toBeLessThanOrEqual(target.spread.accepted[1]);
      if (isLong) expect(counted.grownMb).toBeLessThan(GROWTH_LIMIT_MB);
    },
    isLong ? 24 * 3_600_000 : TEST_HANG_MS,
  );
}

interface Counted {
  readonly inputs: number;
  readonly seconds: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly slowestMs: number;
  readonly grownMb: number;
}

async function run<T extends string | Uint8Array>(
  target: FuzzTarget<T>,
  seed: number,
  inputs: number,
): Promise<Counted> {
  const outcomes = new Map<string, number>();
  const arbitrary = await target.inputs();
  const watchdog = isLong ? watchOver(target.name) : undefined;
  const startedAtMs = performance.now();
  let count = 0;
  let slowestMs = 0;
  let warmMb: number | undefined;

  const isWarm = (): boolean =>
    secondsAsked === undefined
      ? count * 3 > inputs
      : performance.now() - startedAtMs > (secondsAsked * 1000) / 3;

  async function check(input: T): Promise<void> {
    watchdog?.begin(input);
    const { outcome, tookMs } = await timed(target, input);
    watchdog?.end();
    slowestMs = Math.max(slowestMs, tookMs);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    count++;
    if (warmMb === undefined && count % 100 === 0 && isLong && isWarm()) warmMb = heapMb();
  }

  try {
    const result = await fc.check(fc.asyncProperty(arbitrary, check), {
      seed,
      numRuns: inputs,
      ...(secondsAsked !== undefined && { interruptAfterTimeLimit: secondsAsked * 1000 }),
      markInterruptAsFailure: false,
    });
    if (result.failed) throw new Error(finding(result, target));
  } finally {
    watchdog?.close();
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  const grownMb = warmMb === undefined ? 0 : heapMb() - warmMb;
  return { inputs: count, seconds, outcomes, slowestMs, grownMb };
}

/** Runs the target, several times if it is slow. CPU time counts, since the machine may be busy. */
async function timed<T extends string | Uint8Array>(
  target: FuzzTarget<T>,
  input: T,
): Promise<{ readonly outcome: string; readonly tookMs: number }> {
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; ; attempt++) {
    const before = process.cpuUsage();
    const outcome = await target.validate(input);
    const { user, system } = process.cpuUsage(before);
    fastestMs = Math.min(fastestMs, (user + system) / 1000);
    if (fastestMs <= SLOW_MS) return { outcome, tookMs: fastestMs };
    if (attempt === 4) throw new Error(`an input took ${Math.round(fastestMs)} ms every time`);
  }
}

function finding<T extends string | Uint8Array>(result: fc.RunDetails<[T]>, { name }: FuzzTarget<T>): string {
  const [input] = result.counterexample ?? [];
  const error = result.errorInstance;
  return [
    `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    `the smallest input found (${result.numShrinks} steps): ${input === undefined ? "none" : show(input)}`,
    `to repeat: IBEX_SEED=${result.seed}, after ${result.numRuns} inputs, path ${result.counterexamplePath}`,
  ].join("\n");
}

function show(input: string | Uint8Array): string {
  return typeof input === "string" ? JSON.stringify(input) : toHex(input);
}

function report(
  name: string,
  seed: number,
  { inputs, seconds, outcomes, slowestMs, grownMb }: Counted,
): string {
  const lines = [...outcomes]
    .sort(([, a], [, b]) => b - a)
    .map(
      ([outcome, count]) =>
        `  ${((100 * count) / inputs).toFixed(2).padStart(6)} %  ${String(count).padStart(8)}  ${outcome}`,
    );
  return (
    `${name}: ${inputs} inputs in ${seconds.toFixed(1)} s (${Math.round(inputs / seconds)}/s), seed ${seed}; ` +
    `slowest ${slowestMs.toFixed(1)} ms; heap grew by ${grownMb.toFixed(1)} MB after the first third\n${lines.join("\n")}`
  );
}

/** Retained heap, in MB: measured after a collection. */
function heapMb(): number {
  setFlagsFromString("--expose_gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function numberIn(variable: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`${variable} must be a whole number, not '${text}'`);
  return value;
}
