import type { Address } from "../primitives/address.ts";
import type { Overlay } from "../state/overlay.ts";
import type { HaltReason } from "./haltReason.ts";

/**
 * Observes the execution of code: every trace is built from these events.
 *
 *     entered ─> begun ─> performed ─> begun ─> performed ─┐            ┌─> resumed ─> begun ─> … ─> left
 *                                            a call or creation: entered ─> … ─> left
 *
 * Each `begun` is followed by one `performed`, whether or not the instruction halted. For a call or creation
 * `performed` comes once it is paid for, before the callee begins; `resumed` follows when the callee has ended, or
 * could not begin. An exception from an observer ends the execution.
 */
export interface ExecutionObserver {
  entered(callee: Callee): void;
  begun(step: Step): void;
  performed(step: Step): void;
  resumed(step: Step): void;
  left(end: CalleeEnd): void;
}

type CallKind = "call" | "callcode" | "delegatecall" | "staticcall" | "create" | "create2";

/** The kind of call by instruction. */
export const CALL_KINDS: ReadonlyMap<number, CallKind> = new Map([
  [0xf0, "create"],
  [0xf1, "call"],
  [0xf2, "callcode"],
  [0xf4, "delegatecall"],
  [0xf5, "create2"],
  [0xfa, "staticcall"],
]);

export function isCreation(kind: CallKind): boolean {
  return kind === "create" || kind === "create2";
}

/** A message whose execution begins, including the transaction's own. */
export interface Callee {
  readonly kind: CallKind;
  /** 0 for the transaction's own. */
  readonly depth: number;
  /** The calling account, whatever CALLER returns in the callee. */
  readonly from: Address;
  /** The account whose code runs, or which is created. */
  readonly to: Address;
  /** Wei, as CALLVALUE returns it; a delegated call transfers none. */
  readonly value: bigint;
  /** Call data, or init code. */
  readonly input: Uint8Array;
  readonly gas: bigint;
  /** Number of the precompiled contract that is called, if it is one. */
  readonly precompile: number | undefined;
}

export interface CalleeEnd {
  readonly callee: Callee;
  readonly gasUsed: bigint;
  /** The data of RETURN or REVERT, or the code of a creation. */
  readonly output: Uint8Array;
  readonly hasReverted: boolean;
  readonly halt: HaltReason | undefined;
  /** What a failed precompiled contract would have cost; undefined if unknown or if it succeeded. */
  readonly price?: bigint | undefined;
}

/** One instruction. All of its events carry the same object. */
export interface Step {
  /** The frame at the time of the event. */
  readonly state: FrameView;
  readonly depth: number;
  readonly at: number;
  /** The opcode; STOP beyond the end of the code. */
  readonly instruction: number;
  /** True for the STOP beyond the end of the code. */
  readonly isVirtual: boolean;
  /** Gas before it. */
  readonly gas: bigint;
  /** Cost of the instruction, known once performed; Besu's figure for a halt. Excludes the gas passed to a callee. */
  readonly cost: bigint;
  /** Gas passed to the callee, including the stipend; zero unless it is a call. */
  readonly calleeGas: bigint;
  /** The part of `calleeGas` that comes with a transfer of value; zero without one. */
  readonly stipend: bigint;
  /** True for a call or creation that could not begin: too deep, or insufficient balance. */
  readonly isDenied: boolean;
  readonly halt: HaltReason | undefined;
}

/** Read-only view of a running frame: reads the current values at each access. */
export interface FrameView {
  /** The account whose storage and balance code sees. */
  readonly address: Address;
  readonly code: Uint8Array;
  readonly overlay: Overlay;
  readonly stack: StackView;
  /** The memory that has been paid for. */
  readonly memory: Uint8Array;
  readonly gasLeft: bigint;
  /** The transaction's refund counter. */
  readonly gasRefund: bigint;
  /** Return data of the last callee. */
  readonly returnBytes: Uint8Array;
  /** The data of the frame's RETURN or REVERT; empty before. */
  readonly output: Uint8Array;
  /** True if the fork has an instruction with this opcode. */
  isKnown(instruction: number): boolean;
  /** Number of the precompiled contract at an address. */
  precompileNumber(address: Uint8Array): number | undefined;
}

export interface StackView {
  readonly length: number;
  /** The item that lies `depth` positions below the top. */
  at(depth: number): bigint;
  /** The topmost items, the deepest of them first. */
  top(count: number): readonly bigint[];
  /** All items, 32 bytes each, the topmost first. */
  bytes(): Uint8Array;
}
