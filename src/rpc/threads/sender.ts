import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import { addWithin, type SharedTotals, shareTotals } from "../server/sharedTotals.ts";
import { packBytes } from "./packedBytes.ts";
import type { FromThread, ToThread } from "./protocol.ts";

/** Hands the transactions of a thread's callers to the pool on the main thread. */
export interface TransactionSender {
  /** Resolves to why the pool refused it, or to undefined when it was added. */
  add(raw: Uint8Array): Promise<SubmissionErrorCode | undefined>;
  /** Takes the pool's decisions. */
  receive(decided: ToThread & { readonly kind: "submitted" }): void;
}

/** Transactions of all threads on which the pool has not decided, and their bytes. */
const WAITING_LIMIT = 16_384;
const WAITING_BYTES = 64 * 1024 * 1024;

/** Transactions of one event-loop cycle go as one message. `totals` counts those of all threads. */
export function createTransactionSender(
  post: (message: FromThread, transferred: readonly ArrayBuffer[]) => void,
  totals: Pick<SharedTotals, "transactions" | "transactionBytes"> = shareTotals(),
): TransactionSender {
  const waiting: Waiting[] = [];
  let unsent: Uint8Array[] = [];

  function send(): void {
    const bytes = packBytes(unsent);
    unsent = [];
    post({ kind: "transactions", bytes }, [bytes.buffer]);
  }

  return {
    add(raw) {
      if (!addWithin(totals.transactions, 1, WAITING_LIMIT)) return Promise.resolve("tooManyWaiting");
      if (!addWithin(totals.transactionBytes, raw.length, WAITING_BYTES)) {
        totals.transactions.add(-1);
        return Promise.resolve("tooManyWaiting");
      }
      return new Promise((resolve) => {
        if (unsent.length === 0) setImmediate(send);
        unsent.push(raw);
        waiting.push({ resolve, length: raw.length });
      });
    },
    receive({ count, refused }) {
      const reasons = new Map(refused);
      for (const [place, { resolve, length }] of waiting.splice(0, count).entries()) {
        totals.transactions.add(-1);
        totals.transactionBytes.add(-length);
        resolve(reasons.get(place));
      }
    },
  };
}

interface Waiting {
  readonly length: number;
  resolve(reason: SubmissionErrorCode | undefined): void;
}
