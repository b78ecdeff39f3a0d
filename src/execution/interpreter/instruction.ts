import type { FrameState } from "./frame.ts";

/** An instruction of ours: nothing in it is waited for. */
export interface QuickInstruction {
  /** Charged before it runs; zero where it charges for itself. */
  readonly fee: bigint;
  /** Runs with the program counter behind it already. Throws EVMError to halt. */
  run(state: FrameState): void;
}

/** The instruction at each code; a hole where the library's is used. */
export type QuickTable = (QuickInstruction | undefined)[];
