import type { SimulationErrorCode } from "./callRequest.ts";

/** Reason why blocks cannot be simulated. */
export type BlocksErrorCode =
  | SimulationErrorCode
  | "tooManyBlocks"
  | "tooManyCalls"
  | "tooMuchMemory"
  | "numberNotRising"
  | "timestampNotRising"
  | "nonceTooLow"
  | "nonceTooHigh"
  | "blockGasLimitReached"
  | "systemCallFailed";

/** Aborts a simulation of blocks. */
export class BlocksError extends Error {
  override name = "BlocksError";
  readonly code: BlocksErrorCode;

  constructor(code: BlocksErrorCode, detail: string) {
    super(detail);
    this.code = code;
  }
}
