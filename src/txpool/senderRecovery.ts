import type { RecoverSenders, RecoverSigners } from "../chain/signerRecovery.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { recoveryItemOf } from "../types/transactionSignature.ts";

/** Transactions whose senders are known. */
interface KnownTransactions {
  get(hash: Hash): { readonly transaction: { readonly sender: Address } } | undefined;
}

/**
 * Finds the senders of a block's transactions: those of pooled transactions are known, because the hash covers the signature
 * and so has only one sender. The others are recovered.
 */
export class SenderRecovery {
  private readonly recoverSigners: RecoverSigners;
  /** Undefined while the chain opens, which the pool follows: blocks that come before have no sender known. */
  private pool: KnownTransactions | undefined;

  constructor(recoverSigners: RecoverSigners) {
    this.recoverSigners = recoverSigners;
  }

  /** Asks the pool for senders from now on. */
  know(pool: KnownTransactions): void {
    this.pool = pool;
  }

  readonly recover: RecoverSenders = async (transactions) => {
    const senders = transactions.map(({ hash }) => this.pool?.get(hash)?.transaction.sender);
    const unknown = transactions.filter((_, index) => senders[index] === undefined);
    if (unknown.length === 0) return senders;
    const recovered = (await this.recoverSigners(unknown.map(recoveryItemOf)))[Symbol.iterator]();
    return senders.map((sender) => sender ?? recovered.next().value);
  };
}
