import type { RecoverSenders, RecoverSigners } from "../chain/signerRecovery.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { recoveryItemOf } from "../types/transactionSignature.ts";

/**
 * Finds the senders of a block's transactions: those of pooled transactions are known, because the hash covers the signature
 * and so has only one sender. The others are recovered.
 */
export function withKnownSenders(
  recoverSigners: RecoverSigners,
  senderOf: (hash: Hash) => Address | undefined,
): RecoverSenders {
  return async (transactions) => {
    const senders = transactions.map(({ hash }) => senderOf(hash));
    const unknown = transactions.filter((_, index) => senders[index] === undefined);
    if (unknown.length === 0) return senders;
    const recovered = (await recoverSigners(unknown.map(recoveryItemOf)))[Symbol.iterator]();
    return senders.map((sender) => sender ?? recovered.next().value);
  };
}
