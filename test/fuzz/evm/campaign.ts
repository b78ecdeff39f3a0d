import { isAtLeast } from "../../../src/chainspec/forks.ts";
import { forkOfVector } from "../../conformance/suites/vectorForks.ts";
import { generator, type Random } from "../../storage/random.ts";
import { type BlockProgram, blockDifference, executeBlockProgram } from "./blocks.ts";
import { compareWithGoEthereum, type ExecutedProgram, execute, type Mismatch } from "./comparison.ts";
import { PATHS } from "./executor.ts";
import { type GoEthereum, openGoEthereum } from "./goEthereum.ts";
import type { StateTestProgram } from "./stateTestProgram.ts";
import { firstDifferentStep } from "./steps.ts";

/** Where programs come from: always the same ones for numbers under a seed. */
export interface Source {
  program(seed: number, index: number): StateTestProgram;
  /** Undefined if blocks add nothing to the programs. */
  readonly block: ((seed: number, index: number) => BlockProgram) | undefined;
}

/** How many programs, from which seed; and when to stop before. */
export interface Plan {
  readonly source: Source;
  readonly seed: number;
  /** The first program's number, to repeat one. */
  readonly from: number;
  readonly programs: number;
  readonly seconds?: number | undefined;
}

export interface Campaign {
  readonly programs: number;
  /** Transactions run: programs with each of their gas limits. */
  readonly runs: number;
  readonly seconds: number;
  /** Programs by fork, and runs by what came of them. */
  readonly forks: ReadonlyMap<string, number>;
  readonly outcomes: ReadonlyMap<string, number>;
  /** Programs whose steps were compared one by one. */
  readonly traced: number;
  /** Blocks of several transactions. */
  readonly blocks: number;
  readonly mismatches: readonly Mismatch[];
}

/** Programs that go-ethereum gets in one file. */
const BATCH = 50;
/** Every so many programs the steps are compared too; each costs a start of the command. */
const TRACED_EVERY = 100;
/** After so many batches comes a block; each costs a start of the command too. */
const BATCHES_PER_BLOCK = 2;
/** After as many mismatches a campaign ends. */
const ENOUGH_MISMATCHES = 20;

/** Runs the programs of a seed, one number after another, here and in go-ethereum. While it is at one batch, the next is run here. */
export async function campaign({ source, seed, from, programs, seconds }: Plan): Promise<Campaign> {
  const goEthereum = openGoEthereum();
  const begunAtMs = performance.now();
  const forks = new Map<string, number>();
  const outcomes = new Map<string, number>();
  const mismatches: Mismatch[] = [];
  let done = 0;
  let runs = 0;
  let traced = 0;
  let blocks = 0;
  let batches = 0;
  let asked: Promise<readonly Mismatch[]> = Promise.resolve([]);
  const isOver = (): boolean =>
    mismatches.length >= ENOUGH_MISMATCHES ||
    (seconds !== undefined && performance.now() - begunAtMs > seconds * 1000);
  try {
    while (done < programs && !isOver()) {
      const batch: ExecutedProgram[] = [];
      for (; batch.length < BATCH && done < programs; done++) {
        const program = source.program(seed, from + done);
        count(forks, program.fork);
        const { executed, mismatches: own } = await executeOrThrown(program, generator(seed ^ (from + done)));
        mismatches.push(...own);
        if (executed === undefined) continue;
        batch.push(executed);
        for (const { outcome } of executed.cases) count(outcomes, nameOf(outcome));
        runs += executed.cases.length;
        if (done % TRACED_EVERY !== 0) continue;
        mismatches.push(...(await compareSteps(goEthereum, executed)));
        traced++;
      }
      mismatches.push(...(await asked));
      asked = compareWithGoEthereum(goEthereum, batch);
      // A failure is met at the next await, one batch later.
      asked.catch(() => {});
      if (source.block === undefined || batches++ % BATCHES_PER_BLOCK !== 0) continue;
      mismatches.push(...(await compareBlock(goEthereum, source.block(seed, from + done))));
      blocks++;
    }
    mismatches.push(...(await asked));
  } finally {
    goEthereum.close();
  }
  const took = (performance.now() - begunAtMs) / 1000;
  return { programs: done, runs, seconds: took, forks, outcomes, traced, blocks, mismatches };
}

/** An exception of ours is a mismatch too. */
async function executeOrThrown(program: StateTestProgram, random: Random) {
  try {
    return await execute(program, random);
  } catch (error) {
    const what = `throws ${error instanceof Error ? error.stack : String(error)}`;
    return { executed: undefined, mismatches: [{ program, gasLimit: program.gasLimit, what }] };
  }
}

async function compareSteps(
  goEthereum: GoEthereum,
  { program, cases }: ExecutedProgram,
): Promise<Mismatch[]> {
  const mismatches: Mismatch[] = [];
  const gasLimit = cases.at(-1)?.gasLimit ?? program.gasLimit;
  for (const path of PATHS) {
    const what = await firstDifferentStep(goEthereum, path, program, gasLimit);
    if (what !== undefined) mismatches.push({ program, gasLimit, what: `${path.name}, ${what}` });
  }
  return mismatches;
}

/** Of a block there is no smaller one: the report tells its first transaction that differs. */
async function compareBlock(goEthereum: GoEthereum, block: BlockProgram): Promise<Mismatch[]> {
  const { program, transactions } = block;
  const hasStatus = isAtLeast(forkOfVector(program.fork), "byzantium");
  const mismatches: Mismatch[] = [];
  for (const path of PATHS) {
    const { bodies, result } = await executeBlockProgram(block, path);
    const what = blockDifference(result, await goEthereum.transit(program, bodies), hasStatus);
    const { gasLimit = 0n } = transactions[0] ?? {};
    if (what !== undefined) mismatches.push({ program, gasLimit, what: `${path.name}, ${what}` });
  }
  return mismatches;
}

function nameOf(outcome: ExecutedProgram["cases"][number]["outcome"]): string {
  if (outcome.refusal !== undefined) return `refused: ${outcome.refusal}`;
  if (outcome.hasSucceeded) return "succeeded";
  return outcome.halt ?? "reverted";
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
