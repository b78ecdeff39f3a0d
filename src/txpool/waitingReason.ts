import { feeCap } from "../types/transaction.ts";
import type { PoolEntry } from "./entry.ts";
import type { BlockFloors } from "./limits.ts";
import type { SenderAccount } from "./senderQueue.ts";
import { judgePrice, type PriceJudgement, type UnminedReason } from "./unminedReason.ts";

/**
 * Why a pooled transaction waits, as far as one node can know; the first that applies:
 *
 *     nonceGap             a lower nonce of its sender is missing
 *     belowBaseFee …       its price is too low (unminedReason.ts)
 *     gasAboveBlock        its gas limit exceeds that of a block
 *     insufficientBalance  its sender has less than it may cost
 *     earlierNonce         earlier transactions of its sender wait as well
 *     fullBlock            the newest block had no room for it
 *     unknown              the newest block passed over it: validators may ask for more
 *     nextBlock            no block came since it arrived
 */
type WaitingReason =
  | "nonceGap"
  | UnminedReason
  | "gasAboveBlock"
  | "insufficientBalance"
  | "earlierNonce"
  | "fullBlock"
  | "nextBlock";

/** A waiting transaction, its price and the reason. */
export interface WaitingTransaction extends Omit<PriceJudgement, "reason"> {
  readonly entry: PoolEntry;
  readonly reason: WaitingReason;
  /** The first nonce of the sender that neither the chain nor a pending transaction uses. */
  readonly nextNonce: bigint;
  /** The most that the transaction may cost, and what its sender has at the head. */
  readonly costWei: bigint;
  readonly balanceWei: bigint;
}

/** The newest block, which has passed over a transaction or has not. */
export interface NewestBlock {
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Seconds since 1970. */
  readonly timestamp: bigint;
}

interface Surroundings {
  readonly floors: BlockFloors;
  /** Base fee of the next block; undefined before London. */
  readonly baseFeePerGas: bigint | undefined;
  readonly account: Pick<SenderAccount, "nonce" | "balanceWei">;
  readonly nextNonce: bigint;
  readonly newest: NewestBlock;
}

/** Time before a block's stamp within which a transaction may come too late for it: validators build some moments before. */
const LATE_MS = 2_000;

/** Judges why a transaction waits. */
export function judgeWaiting(
  entry: PoolEntry,
  { floors, baseFeePerGas, account, nextNonce, newest }: Surroundings,
): WaitingTransaction {
  const { transaction, addedAtMs } = entry;
  const { reason: ofPrice, priceWei, askedWei } = judgePrice(transaction, { floors, baseFeePerGas });
  const costWei = transaction.gasLimit * feeCap(transaction) + transaction.value;
  const { balanceWei } = account;
  const reasonOf = (): WaitingReason => {
    if (transaction.nonce >= nextNonce) return "nonceGap";
    if (ofPrice !== "unknown") return ofPrice;
    if (transaction.gasLimit > newest.gasLimit) return "gasAboveBlock";
    if (costWei > balanceWei) return "insufficientBalance";
    if (transaction.nonce > account.nonce) return "earlierNonce";
    if (addedAtMs + LATE_MS > Number(newest.timestamp) * 1000) return "nextBlock";
    return transaction.gasLimit > newest.gasLimit - newest.gasUsed ? "fullBlock" : "unknown";
  };
  return { entry, reason: reasonOf(), priceWei, askedWei, nextNonce, costWei, balanceWei };
}
