import type { Address } from "../primitives/address.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import { recoverAddress, type Signature } from "../primitives/secp256k1.ts";
import type { SentTransaction } from "./transaction.ts";

/**
 * The signature of a transaction that a development network sends for an account without its key. The lowest 20 bytes of r are the
 * sender's address; above them is the lowest number with which no point of the curve has r as its abscissa. So no key fits, whatever
 * was signed, and every node that recovers the sender refuses the transaction.
 */
export function impersonatedSignature(sender: Address): Signature {
  const address = bytesToBigint(sender);
  for (let above = 1n; ; above++) {
    const signature = { r: (above << 160n) | address, s: 1n, yParity: 0 as const };
    if (recoverAddress(ANY_DIGEST, signature) === undefined) return signature;
  }
}

/** Whether the transaction has that signature for its sender. One whose sender was recovered never has. */
export function isImpersonated({ r, s, sender }: Pick<SentTransaction, "r" | "s" | "sender">): boolean {
  return s === 1n && (r & ADDRESS_BITS) === bytesToBigint(sender) && r === impersonatedSignature(sender).r;
}

const ADDRESS_BITS = 2n ** 160n - 1n;

/** Whether a point has the abscissa does not depend on what was signed. */
const ANY_DIGEST = new Uint8Array(32).fill(1);
