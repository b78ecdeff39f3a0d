import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { SubstateMark } from "./substate.ts";

/**
 * A message in progress: a call or a creation, whether or not it runs code. Its fields in the machine's memory, at `at`,
 * hold what the core needs, and always its gas.
 */
export interface Frame {
  readonly at: number;
  /** Absent for the transaction's own message. */
  readonly caller: Frame | undefined;
  readonly depth: number;
  readonly kind: FrameKind;
  /** The account whose storage and balance code sees. */
  readonly address: Address;
  /** The account whose code runs; for a creation the new one. */
  readonly codeAddress: Address;
  /** The account that CALLER returns. */
  readonly sender: Address;
  readonly isStatic: boolean;
  /** Call data or init code in the machine's memory. */
  readonly input: number;
  readonly inputSize: number;
  /** Position at which the caller wants the output. */
  readonly outputAt: number;
  readonly outputSize: number;
  /** Hash of the code; undefined for creations, because the hash of their init code is not known. */
  codeHash: Hash | undefined;
  mark: SubstateMark;
  refundBefore: number;
  /** Memory counted against the budget, apart from what stays after the message. */
  countedBytes: number;
  keptBytesBefore: number;
  /** True for a precompiled contract. */
  isPrecompile: boolean;
}

type FrameKind = "call" | "delegatecall" | "create";
