import { EventLoopSlice } from "../../primitives/eventLoopSlice.ts";
import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import { decodeTransaction, withSender } from "../../types/transaction.ts";
import type { FromThread, ToThread } from "./protocol.ts";
import { type SentItem, unpackTransactions } from "./sentTransactions.ts";

type Transactions = FromThread & { readonly kind: "transactions" };
type Decided = ToThread & { readonly kind: "submitted" };

/** The main thread's side of a thread's transactions: adds them to the pool in their order, in slices. */
export interface PoolHost {
  receive(transactions: Transactions): void;
  /** The thread ended. What it had sent is added nevertheless. */
  drop(): void;
}

export function createPoolHost(pool: Pick<TxPool, "add">, post: (decided: Decided) => void): PoolHost {
  const waiting: Transactions[] = [];
  let isWorking = false;
  let isDropped = false;

  async function work(): Promise<void> {
    isWorking = true;
    const slice = new EventLoopSlice();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      let { first } = next;
      let count = 0;
      let refused: [number, SubmissionErrorCode][] = [];
      const decide = (): void => {
        if (!isDropped && count > 0) post({ kind: "submitted", first, count, refused });
        first += count;
        count = 0;
        refused = [];
      };
      for (const item of unpackTransactions(next.bytes)) {
        const reason = add(pool, item);
        if (reason !== undefined) refused.push([first + count, reason]);
        count++;
        if (!slice.isOver) continue;
        decide();
        await slice.yield();
      }
      decide();
    }
    isWorking = false;
  }

  return {
    receive(transactions) {
      waiting.push(transactions);
      if (!isWorking) void work();
    },
    drop() {
      isDropped = true;
    },
  };
}

function add(pool: Pick<TxPool, "add">, { raw, sender }: SentItem): SubmissionErrorCode | undefined {
  const decoded = decodeTransaction(raw);
  if (!decoded.ok) return decoded.error.code;
  const added = pool.add(withSender(decoded.value, sender), "local");
  return added.ok ? undefined : added.error.code;
}
