import type { Address } from "../../primitives/address.ts";
import type { HaltReason } from "../haltReason.ts";
import type { Frame } from "./frame.ts";

/** Events of messages that the driver reports: for traces, and for observers of who called whom. */
export interface Watch {
  /** A call or creation was paid for, whether or not it can begin: the fields at `callee` have its gas, the stipend included. */
  paid(frame: Frame, callee: number, stipend: number): void;
  entered(frame: Frame): void;
  /** A message without code succeeded: Besu executes the implicit STOP there. */
  ranNothing(frame: Frame): void;
  /** SELFDESTRUCT of `from`, whose balance goes to `to`. */
  destroyed(from: Address, to: Address): void;
  left(frame: Frame, end: FrameEnd): void;
}

export interface FrameEnd {
  readonly output: () => Uint8Array;
  readonly hasReverted: boolean;
  readonly halt: HaltReason | undefined;
  readonly gasLeft: bigint;
}
