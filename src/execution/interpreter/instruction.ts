import type { FrameState } from "./frame.ts";

/**
 * An instruction of ours: nothing in it is waited for. It charges for itself, and runs with the program counter behind
 * it already. Throws EVMError to halt.
 */
export type QuickInstruction = (state: FrameState) => void;

/** The instruction at each code; a hole where there is none of ours. */
export type QuickTable = (QuickInstruction | undefined)[];
