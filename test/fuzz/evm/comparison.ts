import type { ExecutionObserver } from "../../../src/execution/observer.ts";
import { memoryBounded, OutOfTime, type YieldPolicy } from "../../../src/execution/yieldPolicy.ts";
import type { Random } from "../../storage/random.ts";
import { chance } from "./draws.ts";
import { type OpenProgram, openProgram, PATHS, type Path } from "./executor.ts";
import { drawGasLimits, recordGas } from "./gasLimits.ts";
import type { GoEthereum } from "./goEthereum.ts";
import { type ProgramOutcome, type StateTestProgram, stateTestOf } from "./stateTestProgram.ts";

/** A program with the gas limits it was run with, and what came of each. */
export interface ExecutedProgram {
  readonly program: StateTestProgram;
  readonly cases: readonly { readonly gasLimit: bigint; readonly outcome: ProgramOutcome }[];
}

/** A case on which not all agree. */
export interface Mismatch {
  readonly program: StateTestProgram;
  readonly gasLimit: bigint;
  readonly what: string;
}

/**
 * Runs a program with its own gas limit, and with limits at which it runs out of gas. `mismatches` are those between our
 * own ways to run it: by each path, and with its own limit also observed, and some of them interrupted.
 */
export async function execute(
  program: StateTestProgram,
  random: Random,
): Promise<{ readonly executed: ExecutedProgram; readonly mismatches: readonly Mismatch[] }> {
  const { points, observer } = recordGas();
  const mismatches: Mismatch[] = [];
  const open = await openProgram(program);
  const [first, ...others] = PATHS;
  const observed = await open.run(first, program.gasLimit, { observer });
  const cases: { gasLimit: bigint; outcome: ProgramOutcome }[] = [];
  for (const gasLimit of drawGasLimits(random, program, points, observed)) {
    const outcome = await open.run(first, gasLimit);
    cases.push({ gasLimit, outcome });
    const isWhole = gasLimit === program.gasLimit;
    const found = isWhole ? [differenceOf("observed", outcome, observed)] : [];
    for (const path of others) found.push(...(await differencesOf(open, path, gasLimit, outcome, isWhole)));
    for (const what of found) if (what !== undefined) mismatches.push({ program, gasLimit, what });
  }
  if (chance(random, INTERRUPTED_PERCENT))
    for (const path of PATHS) mismatches.push(...(await interrupted(open, path, { program, cases }, random)));
  return { executed: { program, cases }, mismatches };
}

/**
 * Runs two cases at once, which give way to each other, and with them a third run that is stopped in the middle: they
 * come to the same.
 */
async function interrupted(
  open: OpenProgram,
  path: Path,
  { program, cases }: ExecutedProgram,
  random: Random,
): Promise<Mismatch[]> {
  const stopped = open.run(path, program.gasLimit, { yieldPolicy: givesWay(random.below(5)) });
  const [found] = await Promise.all([
    Promise.all(
      cases.slice(0, 2).map(async ({ gasLimit, outcome }): Promise<Mismatch | undefined> => {
        const other = await open.run(path, gasLimit, { yieldPolicy: givesWay() });
        const what = differenceOf(`${path.name}, interrupted`, outcome, other);
        return what === undefined ? undefined : { program, gasLimit, what };
      }),
    ),
    stopped.catch((error: unknown) => {
      if (!(error instanceof OutOfTime)) throw error;
    }),
  ]);
  return found.filter((mismatch) => mismatch !== undefined);
}

const INTERRUPTED_PERCENT = 20;
const CHECKS_PER_YIELD = 2;

/** Yields at every second opportunity, and ends the work after some. */
function givesWay(yieldsUntilStop = Number.POSITIVE_INFINITY): YieldPolicy {
  let checks = 0;
  let yields = 0;
  return {
    ...memoryBounded(),
    isDue: () => ++checks % CHECKS_PER_YIELD === 0,
    async yield() {
      await undefined;
      if (++yields > yieldsUntilStop) throw new OutOfTime("stopped by the fuzz");
    },
  };
}

/** Runs a program by each path, observed and not, and compares with the first, unobserved. */
export async function runEachWay(
  program: StateTestProgram,
  gasLimit: bigint,
): Promise<{ readonly outcome: ProgramOutcome; readonly differences: readonly string[] }> {
  const open = await openProgram(program);
  const outcome = await open.run(PATHS[0], gasLimit);
  const found: (string | undefined)[] = [];
  for (const path of PATHS) found.push(...(await differencesOf(open, path, gasLimit, outcome, true)));
  return { outcome, differences: found.filter((what) => what !== undefined) };
}

async function differencesOf(
  open: OpenProgram,
  path: Path,
  gasLimit: bigint,
  expected: ProgramOutcome,
  isObservedToo: boolean,
): Promise<(string | undefined)[]> {
  const plain = differenceOf(path.name, expected, await open.run(path, gasLimit));
  if (!isObservedToo) return [plain];
  return [
    plain,
    differenceOf(`${path.name}, observed`, expected, await open.run(path, gasLimit, { observer: silent })),
  ];
}

const ignored = (): void => {};
const silent: ExecutionObserver = {
  entered: ignored,
  begun: ignored,
  performed: ignored,
  resumed: ignored,
  left: ignored,
};

/** The first field in which outcomes differ. */
function differenceOf(name: string, expected: ProgramOutcome, other: ProgramOutcome): string | undefined {
  for (const field of ["refusal", "gasUsed", "hasSucceeded", "halt", "output", "logsHash", "root"] as const) {
    const [a, b] = [expected, other].map((outcome) => (outcome as Record<string, unknown>)[field]);
    if (a !== b) return `${name}: ${field} is ${String(b)}, not ${String(a)}`;
  }
  return undefined;
}

/** The cases of executed programs that go-ethereum sees otherwise. */
export async function compareWithGoEthereum(
  goEthereum: GoEthereum,
  executed: readonly ExecutedProgram[],
): Promise<readonly Mismatch[]> {
  const tests = executed.map(({ program, cases }) => stateTestOf(program, cases));
  const results = await goEthereum.check(Object.fromEntries(tests.entries()));
  return executed.flatMap(({ program, cases }, index) =>
    cases.flatMap(({ gasLimit }, at): Mismatch[] => {
      const result = results.get(String(index))?.[at];
      if (result?.pass === true) return [];
      return [{ program, gasLimit, what: `go-ethereum: ${result?.error ?? "no result"}` }];
    }),
  );
}
