import type { FrameState } from "./frame.ts";

/**
 * One of our instructions: synchronous. It charges its own gas, and the program counter already points behind it.
 * Throws EVMError to halt.
 */
export type QuickInstruction = (state: FrameState) => void;

/** Our instructions by opcode; undefined where there is none. */
export type QuickTable = (QuickInstruction | undefined)[];
