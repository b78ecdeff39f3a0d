import type { Address } from "../primitives/address.ts";
import type { Overlay } from "../state/overlay.ts";
import type { HaltReason } from "./haltReason.ts";

/**
 * Somebody who watches code being executed: every trace is made of what comes in here.
 *
 *     entered ─> begun ─> performed ─> begun ─> performed ─┐            ┌─> resumed ─> begun ─> … ─> left
 *                                            a call or creation: entered ─> … ─> left
 *
 * Each instruction that is begun is performed once, halted or not. Of a call or creation this comes when it has been
 * paid for, before the callee begins; `resumed` follows when the callee is done, or could not begin. What an observer
 * throws ends the execution.
 */
export interface ExecutionObserver {
  entered(callee: Callee): void;
  begun(step: Step): void;
  performed(step: Step): void;
  resumed(step: Step): void;
  left(end: CalleeEnd): void;
}

export type CallKind = "call" | "callcode" | "delegatecall" | "staticcall" | "create" | "create2";

/** By the instruction that makes such a call. */
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

/** A message that begins to be executed, the transaction's own included. */
export interface Callee {
  readonly kind: CallKind;
  /** 0 for the transaction's own. */
  readonly depth: number;
  /** The account that calls, whatever the callee takes for its caller. */
  readonly from: Address;
  /** The account whose code runs, or that is created. */
  readonly to: Address;
  /** Wei that the callee sees; a delegated call moves none of it. */
  readonly value: bigint;
  /** Call data, or init code. */
  readonly input: Uint8Array;
  readonly gas: bigint;
  /** Number of the precompiled contract that answers. */
  readonly precompile: number | undefined;
}

export interface CalleeEnd {
  readonly callee: Callee;
  readonly gasUsed: bigint;
  /** Returned, given to REVERT, or the code of a creation. */
  readonly output: Uint8Array;
  readonly hasReverted: boolean;
  readonly halt: HaltReason | undefined;
  /** What a precompiled contract that failed would have cost; undefined where that is not known, or all was well. */
  readonly price?: bigint | undefined;
}

/** One instruction. The same object comes with each of its events. */
export interface Step {
  /** The frame as it is at the event. */
  readonly state: FrameView;
  readonly depth: number;
  readonly at: number;
  /** The byte of the code; STOP where the code ends. */
  readonly instruction: number;
  /** True for the STOP beyond the end of the code. */
  readonly isVirtual: boolean;
  /** Gas before it. */
  readonly gas: bigint;
  /**
   * Its price, known when it is performed; for a halt the incumbent's figure. Without what a callee is given.
   */
  readonly cost: bigint;
  /** Gas that the callee is given, stipend included; zero for what calls nobody. */
  readonly calleeGas: bigint;
  /** Of that, what comes with a transfer of value; zero without one. */
  readonly stipend: bigint;
  /** True for a call or creation that could not begin: too deep, or more value than there is. */
  readonly isDenied: boolean;
  readonly halt: HaltReason | undefined;
}

/** What can be seen of a running frame: the interpreter's own, for reading. */
export interface FrameView {
  readonly stack: {
    readonly length: number;
    /** Those from `length` on are leftovers. */
    readonly items: readonly bigint[];
    /** The item `depth` places below the top. */
    at(depth: number): bigint;
  };
  /** Bytes of memory, as far as they were ever written; what lies beyond is zero. */
  readonly memory: { readonly _store: Uint8Array };
  /** Words of memory paid for. */
  readonly memoryWords: number;
  readonly gasLeft: bigint;
  /** The transaction's refund counter. */
  readonly gasRefund: bigint;
  /** What the last callee returned. */
  readonly returnBytes: Uint8Array;
  readonly env: { readonly address: { readonly bytes: Uint8Array }; readonly code: Uint8Array };
  readonly evm: {
    readonly overlay: Overlay;
    /** Whether the fork has an instruction of that code. */
    isKnown(instruction: number): boolean;
    /** Of the precompiled contract that answers at an address. */
    precompileNumber(address: Uint8Array): number | undefined;
  };
  /** What the frame returns, or gives to REVERT. */
  readonly interpreter: { readonly _result: { readonly returnValue: Uint8Array | undefined } };
}
