import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { SentTransaction } from "../types/transaction.ts";

/** What the comforts of the development network change in the pool. */
export class PoolChanges {
  private readonly pool: Pick<TxPool, "drop" | "add" | "get" | "entries">;

  constructor(pool: Pick<TxPool, "drop" | "add" | "get" | "entries">) {
    this.pool = pool;
  }

  /** All that waits, pending and queued. */
  get waiting(): readonly SentTransaction[] {
    return [...this.pool.entries()].map(({ transaction }) => transaction);
  }

  /** Drops a transaction that waits; false when there is none of that hash. */
  drop(hash: SentTransaction["hash"]): boolean {
    const isThere = this.pool.get(hash) !== undefined;
    if (isThere) this.pool.drop(hash, DROPPED);
    return isThere;
  }

  /** Drops what waits of one sender. */
  dropOf(sender: Address): Promise<void> {
    return this.dropAll((transaction) => equalBytes(transaction.sender, sender));
  }

  /** Drops what waits, or those that are wanted. */
  async dropAll(isWanted: (transaction: SentTransaction) => boolean = () => true): Promise<void> {
    const pacer = new EventLoopPacer();
    for (const transaction of this.waiting) {
      if (isWanted(transaction)) this.pool.drop(transaction.hash, DROPPED);
      if (pacer.isDue()) await pacer.yield();
    }
  }

  /** Adds what the chain as it is now lets in. */
  async add(transactions: readonly SentTransaction[]): Promise<void> {
    const pacer = new EventLoopPacer();
    for (const transaction of transactions) {
      this.pool.add(transaction, "local");
      if (pacer.isDue()) await pacer.yield();
    }
  }
}

const DROPPED = "dropped by a request of development";
