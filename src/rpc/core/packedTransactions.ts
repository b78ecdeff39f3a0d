import { asAddress } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { packBytesInSteps, unpackBytes } from "../../primitives/packedBytes.ts";
import { atOnce, type Steps } from "../../primitives/steps.ts";
import { decodeTransaction, type SentTransaction, withSender } from "../../types/transaction.ts";

/**
 * Pooled transactions on their way to the thread of a caller: encodings and senders, as one piece of memory. Copying decoded
 * transactions would take a thread some ten times as long as to decode them again.
 */
export type PackedTransactions = Uint8Array<ArrayBuffer>;

/** The pool by sender: senders are sorted by address, their transactions by nonce. */
export interface PoolListing {
  readonly pending: SubPoolListing;
  readonly queued: SubPoolListing;
}

export interface PackedListing {
  readonly transactions: PackedTransactions;
  /** Upper bound of their bytes as JSON text (listingLimit.ts). */
  readonly shownBytes: number;
}

export interface SubPoolListing extends PackedListing {
  /** Transactions that the listing has no room for. */
  readonly omitted: number;
}

export function packTransactions(transactions: readonly PackedFields[]): PackedTransactions {
  return atOnce(packTransactionsInSteps(transactions));
}

/** Like packTransactions, in steps: a listing has tens of thousands. */
export function packTransactionsInSteps(transactions: readonly PackedFields[]): Steps<PackedTransactions> {
  return packBytesInSteps(transactions.flatMap(({ raw, sender }) => [raw, sender]));
}

type PackedFields = Pick<SentTransaction, "raw" | "sender">;

/** Decodes each transaction when it is read. */
export function* unpackTransactions(packed: PackedTransactions): Generator<SentTransaction, void> {
  const strings = unpackBytes(packed);
  for (const raw of strings) {
    const decoded = decodeTransaction(raw);
    const sender = strings.next().value;
    const transaction = expectDefined(decoded.ok ? decoded.value : undefined, "a pooled transaction");
    yield withSender(transaction, asAddress(expectDefined(sender ?? undefined, "its sender")));
  }
}
