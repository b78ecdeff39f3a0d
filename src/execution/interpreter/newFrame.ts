import type { Frame } from "./frame.ts";
import type { Run } from "./run.ts";

/** The part of a message that its caller decides. */
type NewFrame = Omit<
  Frame,
  | "caller"
  | "depth"
  | "codeHash"
  | "mark"
  | "refundBefore"
  | "countedBytes"
  | "keptBytesBefore"
  | "isPrecompile"
>;

/** A message that a frame sends, or, without a caller, the transaction's own. */
export function newFrame(run: Run, caller: Frame | undefined, message: NewFrame): Frame {
  return {
    at: message.at,
    caller,
    depth: caller === undefined ? 0 : caller.depth + 1,
    kind: message.kind,
    address: message.address,
    codeAddress: message.codeAddress,
    sender: message.sender,
    isStatic: message.isStatic,
    input: message.input,
    inputSize: message.inputSize,
    outputAt: message.outputAt,
    outputSize: message.outputSize,
    codeHash: undefined,
    mark: run.substate.mark(),
    refundBefore: run.refund,
    countedBytes: 0,
    keptBytesBefore: run.keptBytes,
    isPrecompile: false,
  };
}
