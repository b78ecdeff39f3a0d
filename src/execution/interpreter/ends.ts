import { FIELD, LONG_BYTES } from "../../evm/layout.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import { deleteRipemd160, deletesRipemd160 } from "../emptyAccounts.ts";
import type { Frame } from "./frame.ts";
import type { Outcome, Run, Work } from "./run.ts";
import { moveInSlices, takeInSlices } from "./slices.ts";

/** Data in the machine's memory. */
export interface Range {
  readonly at: number;
  readonly size: number;
}

const NOTHING: Range = { at: 0, size: 0 };

/**
 * Ends a message: keeps or reverts its changes, and hands gas and output to the caller. The gas that it leaves is in its
 * fields. A long revert is left to do in slices, unless an observer watches the run, which then has a thread for itself.
 */
export function finish(run: Run, frame: Frame, outcome: Outcome, output: Range = NOTHING): void {
  run.budget?.release(frame.countedBytes);
  if (outcome === "succeeded") {
    run.commit();
    handOver(run, frame, outcome, output);
    return;
  }
  const { overlay, accesses, rules } = run;
  const deletes = rules.clearsEmptyAccounts && deletesRipemd160(overlay, accesses);
  const end = (): void => {
    undoFrame(run, frame, deletes);
    handOver(run, frame, outcome, output);
  };
  if (run.revertPart() && run.watch === undefined) run.work = revertInSlices(run, end);
  else end();
}

function* revertInSlices(run: Run, end: () => void): Work {
  do yield;
  while (run.revertPart());
  end();
}

/** Reverts what a message did. */
function undoFrame(run: Run, frame: Frame, deletesRipemd: boolean): void {
  const { substate, overlay, accesses } = run;
  run.revert();
  // For the outermost message the touched accounts are forgotten with everything else that it did.
  if (deletesRipemd && frame.caller !== undefined) deleteRipemd160(overlay, accesses);
  substate.revertTo(frame.mark);
  run.refund = frame.refundBefore;
  run.release(frame.keptBytesBefore);
}

/** Hands gas and output to the caller. */
function handOver(run: Run, frame: Frame, outcome: Outcome, output: Range): void {
  const { machine } = run;
  const { caller } = frame;
  const hasSucceeded = outcome === "succeeded";
  run.watch?.left(frame, {
    output: () => machine.bytes.slice(output.at, output.at + output.size),
    hasReverted: outcome === "reverted",
    halt: outcome === "succeeded" || outcome === "reverted" ? undefined : outcome,
    gasLeft: machine.gas(frame.at),
  });
  run.frame = caller;
  if (caller === undefined) {
    endRun(run, frame, outcome, output);
    return;
  }
  machine.core.returnGas(caller.at, frame.at);
  const result = machine.field(caller.at, FIELD.TOP) - 32;
  if (frame.kind === "create") {
    if (hasSucceeded) machine.writeBytes(result, frame.address);
    if (outcome === "reverted") setReturned(run, caller, output);
    return;
  }
  if (hasSucceeded) machine.writeNumber(result, 1);
  if (!hasSucceeded && outcome !== "reverted") return;
  setReturned(run, caller, output);
  const size = Math.min(output.size, frame.outputSize);
  if (size > LONG_BYTES) run.work = moveInSlices(run, frame.outputAt, output.at, size);
  else if (size > 0) machine.bytes.copyWithin(frame.outputAt, output.at, output.at + size);
}

/** Halts a message, which takes all its gas. */
export function halt(run: Run, frame: Frame, outcome: Outcome): void {
  run.machine.setGas(frame.at, 0n);
  finish(run, frame, outcome);
}

function setReturned({ machine }: Run, { at }: Frame, output: Range): void {
  machine.setField(at, FIELD.RETURNED, output.size === 0 ? machine.field(at, FIELD.MEMORY) : output.at);
  machine.setField(at, FIELD.RETURNED_SIZE, output.size);
}

function endRun(run: Run, frame: Frame, outcome: Outcome, { at, size }: Range): void {
  const { machine } = run;
  const end = (output: Uint8Array): void => {
    run.end = { outcome, output, gasLeft: machine.gas(frame.at) };
  };
  if (size <= LONG_BYTES) end(size === 0 ? EMPTY_BYTES : machine.bytes.slice(at, at + size));
  else
    run.work = (function* (): Work {
      end(yield* takeInSlices(run, at, size));
    })();
}
