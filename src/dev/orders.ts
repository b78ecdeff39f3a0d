import { fail, type Result } from "../primitives/result.ts";
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

/** Blocks that one request may ask for: some two minutes' work, for which the server's time for an answer suffices. */
export const MINED_BLOCKS_LIMIT = 100_000;
/** Blocks in place of others that one request may ask for. */
export const REPLACED_BLOCKS_LIMIT = 10_000;

export const tooManyBlocks = (limit: number): Result<never, "tooManyBlocks"> =>
  fail("caller", "tooManyBlocks", `more than ${limit} blocks at a time: mine the others by further requests`);

export const STOPPING = fail("caller", "halted", "no blocks are made: the node stops");

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
