import type { Header } from "./header.ts";

/** Intrinsic gas of the cheapest transaction (yellow paper, G_transaction). */
export const TRANSACTION_GAS = 21_000n;

/**
 * Maximum number of transactions in one of the next blocks, given the head; bounds the decoding of a block from a peer. A
 * block of a downloaded range follows within some hundred blocks, in which the gas limit grows by a quarter.
 */
export function maxTransactionsAfter({ gasLimit }: Header): number {
  const gas = MAX_GAS_FACTOR * Number(gasLimit);
  return Math.min(Math.ceil(gas / Number(TRANSACTION_GAS)), MAX_TRANSACTIONS);
}

/** The gas limit doubles at the London block; before London, refunds can return half of a transaction's gas. */
const MAX_GAS_FACTOR = 3;
/** Upper bound for any gas limit: decoding that many takes a second or two. */
const MAX_TRANSACTIONS = 262_144;
