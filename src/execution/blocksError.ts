import type { SimulationErrorCode } from "./simulation.ts";

/** Why blocks cannot be simulated. */
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

/** Ends a simulation in the midst of its blocks. */
export class BlocksError extends Error {
  override name = "BlocksRefused";
  readonly code: BlocksErrorCode;

  constructor(code: BlocksErrorCode, detail: string) {
    super(detail);
    this.code = code;
  }
}
