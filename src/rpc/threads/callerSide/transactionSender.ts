import type { SubmissionErrorCode } from "../../../txpool/errors.ts";
import { HostShares } from "../../server/hostShares.ts";
import type { SharedHosts } from "../../server/sharedHosts.ts";
import { packBytes } from "../packedBytes.ts";
import type { FromThread, ToThread } from "../protocol.ts";

/** Hands the transactions of a thread's callers to the pool on the main thread. */
export interface TransactionSender {
  /** Resolves to why the pool refused it, or to undefined when it was added. */
  add(raw: Uint8Array, remoteHost: string): Promise<SubmissionErrorCode | undefined>;
  /** Takes the pool's decisions. */
  receive(decided: ToThread & { readonly kind: "submitted" }): void;
}

/** Transactions of all threads on which the pool has not decided, and their bytes; one remote host alone can have half of them. */
export const WAITING_LIMIT = 16_384;
const WAITING_BYTES = 64 * 1024 * 1024;

/** What remote hosts have of such transactions, and of their bytes, on other threads. */
export interface SharedTransactions {
  readonly transactions: SharedHosts;
  readonly transactionBytes: SharedHosts;
}

/** Transactions of one event-loop cycle go as one message. */
export function createTransactionSender(
  post: (message: FromThread, transferred: readonly ArrayBuffer[]) => void,
  shared?: SharedTransactions,
): TransactionSender {
  const counts = new HostShares(WAITING_LIMIT, shared?.transactions);
  const sizes = new HostShares(WAITING_BYTES, shared?.transactionBytes);
  const waiting: Waiting[] = [];
  let unsent: Uint8Array[] = [];

  function send(): void {
    const bytes = packBytes(unsent);
    unsent = [];
    post({ kind: "transactions", bytes }, [bytes.buffer]);
  }

  return {
    add(raw, remoteHost) {
      if (!counts.take(remoteHost, 1)) return Promise.resolve("tooManyWaiting");
      if (!sizes.take(remoteHost, raw.length)) {
        counts.giveBack(remoteHost, 1);
        return Promise.resolve("tooManyWaiting");
      }
      return new Promise((resolve) => {
        if (unsent.length === 0) setImmediate(send);
        unsent.push(raw);
        waiting.push({ resolve, remoteHost, length: raw.length });
      });
    },
    receive({ count, refused }) {
      const reasons = new Map(refused);
      for (const [place, { resolve, remoteHost, length }] of waiting.splice(0, count).entries()) {
        counts.giveBack(remoteHost, 1);
        sizes.giveBack(remoteHost, length);
        resolve(reasons.get(place));
      }
    },
  };
}

interface Waiting {
  readonly remoteHost: string;
  readonly length: number;
  resolve(reason: SubmissionErrorCode | undefined): void;
}
