import type { Address } from "../primitives/address.ts";
import type { Transaction } from "../types/transaction.ts";
import { recoverSender } from "../types/transactionSignature.ts";

/** Recovers the sender of a transaction; undefined when the signature fits no key, "busy" when too many wait. */
export type SlicedRecovery = (transaction: Transaction) => Promise<Address | undefined | "busy">;

/** Transactions that may wait, and their bytes. */
const WAITING_LIMIT = 16_384;
const WAITING_BYTES = 64 * 1024 * 1024;
/** Time at a stretch, some eighty recoveries. */
const SLICE_MS = 4;

/**
 * Recovers senders on this thread, in their order and in slices between which it serves other callers: all requests that
 * arrive in one event-loop cycle would otherwise hold up reads for as long as their recoveries take together.
 */
export function createSlicedRecovery(): SlicedRecovery {
  let waiting: Waiting[] = [];
  let next = 0;
  let waitingBytes = 0;

  function work(): void {
    const endMs = performance.now() + SLICE_MS;
    do {
      const one = waiting[next++];
      if (one === undefined) break;
      waitingBytes -= one.transaction.raw.length;
      one.resolve(recoverSender(one.transaction));
    } while (performance.now() < endMs);
    if (next < waiting.length) {
      setImmediate(work);
      return;
    }
    waiting = [];
    next = 0;
  }

  return (transaction) => {
    const { length } = transaction.raw;
    if (waiting.length - next >= WAITING_LIMIT || waitingBytes + length > WAITING_BYTES)
      return Promise.resolve("busy");
    return new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(work);
      waiting.push({ transaction, resolve });
      waitingBytes += length;
    });
  };
}

interface Waiting {
  readonly transaction: Transaction;
  resolve(sender: Address | undefined): void;
}
