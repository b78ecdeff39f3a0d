import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "../../../src/primitives/hex.ts";
import { compareWithGoEthereum, type Mismatch, runEachWay } from "./comparison.ts";
import { PATHS, transactionOf } from "./executor.ts";
import { type GoEthereum, openGoEthereum } from "./goEthereum.ts";
import { minimize } from "./minimize.ts";
import { type ProgramOutcome, type StateTestProgram, stateTestOf } from "./stateTestProgram.ts";
import { firstDifferentStep } from "./steps.ts";
import { thirdOpinion } from "./thirdOpinion.ts";

const FIXTURES = join(import.meta.dirname, "..", "..", "execution", "programs");

/**
 * What differs in the smallest program that still differs, and where; what @ethereumjs/vm makes of it. The program is
 * written with go-ethereum's results as a fixture, which test/execution/programs.test.ts replays.
 */
export async function reportOf({ program, gasLimit, what }: Mismatch): Promise<string> {
  const goEthereum = openGoEthereum();
  try {
    const differs = async (one: StateTestProgram): Promise<boolean> =>
      (await differences(goEthereum, one, gasLimit)).length > 0;
    const headline = `${program.name}, ${program.fork}, gas limit ${gasLimit}: ${what}`;
    if (!(await differs(program))) return `${headline}\nonly in its block, or among its steps`;
    const smallest = await minimize((await partThatDiffers(program, differs)) ?? program, differs);
    const { outcome } = await runEachWay(smallest, gasLimit);
    const file = join(FIXTURES, `${program.name.replace(/\W+/g, "-")}.json`);
    writeFileSync(
      file,
      JSON.stringify(await fixtureOf(goEthereum, smallest, gasLimit, outcome), undefined, 1),
    );
    const lines = [
      headline,
      ...(await differences(goEthereum, smallest, gasLimit)).map((one) => `smallest: ${one}`),
      `ours: ${shown(outcome)}`,
      `@ethereumjs/vm: ${await thirdOpinion(smallest, gasLimit)}`,
    ];
    for (const path of PATHS)
      lines.push(
        `${path.name}: ${(await firstDifferentStep(goEthereum, path, smallest, gasLimit)) ?? "the same steps"}`,
      );
    return [...lines, `the fixture: ${file}`].join("\n");
  } finally {
    goEthereum.close();
  }
}

async function partThatDiffers(
  program: StateTestProgram,
  differs: (program: StateTestProgram) => Promise<boolean>,
): Promise<StateTestProgram | undefined> {
  for (const part of program.parts?.() ?? []) if (await differs(part)) return part;
  return undefined;
}

async function differences(
  goEthereum: GoEthereum,
  program: StateTestProgram,
  gasLimit: bigint,
): Promise<readonly string[]> {
  const { outcome, differences: own } = await runEachWay(program, gasLimit);
  const executed = { program, cases: [{ gasLimit, outcome }] };
  const theirs = await compareWithGoEthereum(goEthereum, [executed]);
  return [...own, ...theirs.map(({ what }) => what)];
}

/** A state test with what go-ethereum makes of it: it tells its state root first, and the logs once that is right. */
async function fixtureOf(
  goEthereum: GoEthereum,
  program: StateTestProgram,
  gasLimit: bigint,
  outcome: ProgramOutcome,
): Promise<object> {
  const txbytes = toHex(transactionOf(program.transaction, gasLimit).raw);
  let expected = { ...EMPTY, ...outcome, refusal: undefined };
  for (let asked = 0; asked < 3; asked++) {
    const test = stateTestOf(program, [{ gasLimit, outcome: expected }]);
    const [result] = (await goEthereum.check({ test })).get("test") ?? [];
    const error = result?.error ?? "";
    const got = `0x${/got ([0-9a-f]{64})/.exec(error)?.[1]}`;
    if (error.startsWith("post state root")) expected = { ...expected, root: got };
    else if (error.startsWith("post state logs")) expected = { ...expected, logsHash: got };
    else break;
  }
  return { [program.name]: stateTestOf(program, [{ gasLimit, outcome: expected, txbytes }]) };
}

const EMPTY = { root: "0x", logsHash: "0x", gasUsed: 0n, hasSucceeded: false, halt: undefined, output: "0x" };

function shown(outcome: ProgramOutcome): string {
  if (outcome.refusal !== undefined) return `refused: ${outcome.refusal}`;
  const { hasSucceeded, halt, gasUsed, root, logsHash } = outcome;
  const status = hasSucceeded ? "succeeded" : (halt ?? "reverted");
  return `${status}, gas ${gasUsed}, root ${root}, logs ${logsHash}`;
}
