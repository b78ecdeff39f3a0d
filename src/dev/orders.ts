import type { PoolErrorCode } from "../txpool/errors.ts";
import type { TransactionErrorCode } from "../types/transaction.ts";
import type { SignedTransaction } from "./signedTransaction.ts";

/** What callers ask of the comforts of the development network, and why they may be refused. */

export type DevelopmentErrorCode =
  | "timeTooEarly"
  | "timeTooLate"
  | "tooManyBlocks"
  | "tooManySnapshots"
  | "gasLimitOutOfBounds"
  | "tooDeep"
  | "notStored"
  | "halted"
  | TransactionErrorCode
  | PoolErrorCode;

export interface MineOrder {
  readonly blocks: number;
  /** Time of the first of these blocks. */
  readonly timestamp?: bigint | undefined;
  /** Seconds between their times. */
  readonly spacingSeconds?: bigint | undefined;
}

/** Blocks in place of the newest ones. */
export interface Reorganisation {
  /** How many blocks are removed. */
  readonly depth: bigint;
  /** What each new block is to hold. */
  readonly blocks: readonly (readonly SignedTransaction[])[];
}
