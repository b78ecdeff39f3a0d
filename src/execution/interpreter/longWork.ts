import { FIELD } from "../../evm/layout.ts";
import type { Frame } from "./frame.ts";
import type { Run, Work } from "./run.ts";
import { hashInSlices, moveInSlices, zeroInSlices } from "./slices.ts";

/** Performs the long part of an instruction that the core has paid for. */
export function performLongWork(run: Run, { at }: Frame): void {
  const { machine } = run;
  const from = machine.field(at, FIELD.OUTPUT);
  if (machine.bytes[at + FIELD.LEFT] === KECCAK256)
    run.work = hashInSlices(
      run,
      machine.field(at, FIELD.TOP) - 32,
      from,
      machine.field(at, FIELD.OUTPUT_SIZE),
    );
  else {
    const to = machine.field(at, FIELD.TARGET);
    run.work = copy(run, to, from, {
      copied: machine.field(at, FIELD.COPIED),
      zeros: machine.field(at, FIELD.ZEROS),
    });
  }
}

const KECCAK256 = 0x20;

function* copy(
  run: Run,
  to: number,
  from: number,
  { copied, zeros }: { readonly copied: number; readonly zeros: number },
): Work {
  yield* moveInSlices(run, to, from, copied);
  yield* zeroInSlices(run, to + copied, to + copied + zeros);
}
