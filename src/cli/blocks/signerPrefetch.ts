import type { RecoverSealers, RecoverSenders } from "../../chain/signerRecovery.ts";
import type { Address } from "../../primitives/address.ts";
import type { Block } from "../../types/block.ts";
import { sealDigest } from "../../types/blockHash.ts";
import { decodeExtraData } from "../../types/extraData.ts";
import type { Header } from "../../types/header.ts";
import { recoveryItemOf, type Transaction } from "../../types/transaction.ts";
import type { RecoveryItem, RecoveryPool } from "../../workers/recoveryPool.ts";

type Signers = Promise<readonly (Address | undefined)[]>;

/** Recovers the signers of upcoming blocks on worker threads while earlier blocks are executed. */
export interface SignerPrefetch {
  /** Starts the recovery for a block that will be imported soon. */
  begin(block: Block): void;
  readonly recoverSenders: RecoverSenders;
  readonly recoverSealers: RecoverSealers;
}

/** The recover functions only know blocks passed to begin(). */
export function createSignerPrefetch(pool: Pick<RecoveryPool, "recoverMany">): SignerPrefetch {
  const senders = new WeakMap<readonly Transaction[], Signers>();
  const sealers = new WeakMap<Header, Signers>();
  const recover = (items: readonly RecoveryItem[]): Signers => {
    const signers = pool.recoverMany(items);
    // The import of the block reports a failure, if the block is still imported.
    signers.catch(() => undefined);
    return signers;
  };
  return {
    begin({ header, transactions }) {
      const extra = decodeExtraData(header.extraData);
      if (extra.ok) {
        const digest = sealDigest(header, extra.value);
        sealers.set(header, recover(extra.value.seals.map((signature) => ({ digest, signature }))));
      }
      if (transactions.length > 0) senders.set(transactions, recover(transactions.map(recoveryItemOf)));
    },
    recoverSenders: (transactions) => senders.get(transactions) ?? Promise.resolve([]),
    recoverSealers: (header) => sealers.get(header) ?? [],
  };
}
