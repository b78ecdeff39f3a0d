import { findTargets, prepareNext, setTargets, targetsOf } from "../../evm/code.ts";
import { keepTargets, keptTargets } from "../../evm/keptTargets.ts";
import { FIELD, LONG_BYTES } from "../../evm/layout.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import { atOnce } from "../../primitives/steps.ts";
import type { Frame } from "./frame.ts";
import type { Run, Work } from "./run.ts";

/** The code that a frame runs. */
export function codeOfFrame(run: Run, { kind, codeHash, input, inputSize }: Frame): Uint8Array {
  if (codeHash !== undefined) return run.code(codeHash);
  return kind === "create" ? run.machine.bytes.subarray(input, input + inputSize) : EMPTY_BYTES;
}

/** Prepares the part of a frame's code that runs next. */
export function prepareCode(run: Run, frame: Frame): void {
  prepareNext(run.machine, frame.at, () => codeOfFrame(run, frame));
}

/** Finds the jump targets of a frame's code, which jumps for the first time in this machine. */
export function findJumpTargets(run: Run, frame: Frame): void {
  const { machine } = run;
  const { at, codeHash } = frame;
  const known = codeHash === undefined ? undefined : keptTargets(codeHash);
  if (known !== undefined) {
    setTargets(machine, at, known);
    return;
  }
  const finding = findAndKeep(run, frame);
  if (machine.field(at, FIELD.CODE_SIZE) > LONG_BYTES) run.work = finding;
  else atOnce(finding);
}

/** Init code has no hash, and its targets are not kept. */
function* findAndKeep(run: Run, frame: Frame): Work {
  const { machine } = run;
  const { at, codeHash } = frame;
  yield* findTargets(machine, at, () => codeOfFrame(run, frame));
  if (codeHash !== undefined) keepTargets(codeHash, targetsOf(machine, at));
}
