import type { ExecutionObserver, Step } from "../../../src/execution/observer.ts";
import { openProgram, type Path } from "./executor.ts";
import type { GoEthereum, TraceLine } from "./goEthereum.ts";
import { type ProgramOutcome, type StateTestProgram, stateTestOf } from "./stateTestProgram.ts";

/** Beyond this a trace is not compared. */
const MOST_STEPS = 200_000;
const SHOWN_BEFORE = 3;

/**
 * The first step that go-ethereum takes otherwise, with those before it, as text: where, instruction, gas, depth, bytes
 * of memory, stack. Undefined when all steps and the output are the same.
 */
export async function firstDifferentStep(
  goEthereum: GoEthereum,
  path: Path,
  program: StateTestProgram,
  gasLimit: bigint,
): Promise<string | undefined> {
  const { steps: ours, observer } = recordSteps();
  const outcome = await (await openProgram(program)).run(path, gasLimit, { observer });
  const lines = goEthereum.trace(stateTestOf(program, [{ gasLimit, outcome }]));
  const theirs = stepsOf(lines);
  const same = ours.findIndex((step, index) => step !== theirs[index]);
  const at = same < 0 ? ours.length : same;
  if (at < theirs.length || at < ours.length) return shown(ours, theirs, at);
  const end = lines.findLast(({ output }) => output !== undefined);
  if (end === undefined || outcome.refusal !== undefined) return undefined;
  // In Frontier such a creation succeeds without code; only the trace calls it a failure.
  if (program.fork === "Frontier" && end.error === CODE_UNPAID) return undefined;
  return differentEnd(outcome, end);
}

const CODE_UNPAID = "contract creation code storage out of gas";

/** Of a creation whose code cannot be stored go-ethereum tells the code. */
function differentEnd(
  { hasSucceeded, halt, output }: Exclude<ProgramOutcome, { readonly refusal: string }>,
  { error, output: theirs = "" }: TraceLine,
): string | undefined {
  const ours = hasSucceeded ? "success" : halt === undefined ? "a revert" : "a halt";
  const there = error === undefined ? "success" : error === REVERTED ? "a revert" : "a halt";
  if (ours !== there) return `the same steps, but ${ours} here, ${there} there`;
  if (halt !== undefined || `0x${theirs}` === output) return undefined;
  return `the same steps, but the output ${output.slice(0, 100)}, and 0x${theirs.slice(0, 100)} there`;
}

const REVERTED = "execution reverted";

function recordSteps(): { readonly steps: string[]; readonly observer: ExecutionObserver } {
  const steps: string[] = [];
  const begun = ({ at, instruction, gas, depth, state, isVirtual }: Step): void => {
    // Where there is no code at all, go-ethereum takes no step.
    if (steps.length > MOST_STEPS || (isVirtual && at === 0)) return;
    const stack = state.stack.top(state.stack.length).map((item) => `0x${item.toString(16)}`);
    steps.push(textOf(at, instruction, gas, depth + 1, state.memory.length, stack));
  };
  const ignored = (): void => {};
  const observer = { entered: ignored, begun, performed: ignored, resumed: ignored, left: ignored };
  return { steps, observer };
}

/** A step that fails once it has begun comes twice; the second time with an error. */
function stepsOf(lines: readonly TraceLine[]): string[] {
  const steps: string[] = [];
  let last: TraceLine | undefined;
  for (const line of lines) {
    const { pc, op, gas, depth, memSize, stack } = line;
    if (pc === undefined) continue;
    const isAgain = last?.pc === pc && last.gas === gas && last.depth === depth && line.error !== undefined;
    if (!isAgain && steps.length <= MOST_STEPS)
      steps.push(textOf(pc, op, BigInt(gas), depth, memSize, stack));
    last = line;
  }
  return steps;
}

function textOf(
  ...[pc, op, gas, depth, memory, stack]: [number, number, bigint, number, number, readonly string[]]
) {
  return `pc ${pc} op 0x${op.toString(16)} gas ${gas} depth ${depth} memory ${memory} stack [${stack.join(" ")}]`;
}

function shown(ours: readonly string[], theirs: readonly string[], at: number): string {
  const before = ours.slice(Math.max(0, at - SHOWN_BEFORE), at).map((step) => `  both         ${step}`);
  return [
    `step ${at}:`,
    ...before,
    `  ours         ${ours[at] ?? "none"}`,
    `  go-ethereum  ${theirs[at] ?? "none"}`,
  ].join("\n");
}
