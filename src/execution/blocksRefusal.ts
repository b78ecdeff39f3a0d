import type { SimulationRefusal } from "./simulation.ts";

/** Why blocks cannot be simulated. */
export type BlocksRefusal =
  | SimulationRefusal
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
export class BlocksRefused extends Error {
  override name = "BlocksRefused";
  readonly code: BlocksRefusal;

  constructor(code: BlocksRefusal, detail: string) {
    super(detail);
    this.code = code;
  }
}
