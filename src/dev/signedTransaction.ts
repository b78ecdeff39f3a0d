import type { Address } from "../primitives/address.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { impersonatedSignature } from "../types/impersonatedSignature.ts";
import {
  decodeTransaction,
  type SentTransaction,
  type TransactionErrorCode,
  withSender,
} from "../types/transaction.ts";
import { withRecoveredSender } from "../types/transactionSignature.ts";

/** A transaction of the development network that is not in the pool yet. */
export interface SignedTransaction {
  readonly raw: Uint8Array;
  /** The sender, where the signature is that of types/impersonatedSignature.ts. */
  readonly impersonated: Address | undefined;
}

/** The transaction with its sender: the signer, or the account that its signature impersonates. */
export function readSigned({
  raw,
  impersonated,
}: SignedTransaction): Result<SentTransaction, TransactionErrorCode | "invalidSignature"> {
  const decoded = decodeTransaction(raw);
  if (!decoded.ok) return decoded;
  if (impersonated === undefined) {
    const sent = withRecoveredSender(decoded.value);
    return sent === undefined
      ? fail("caller", "invalidSignature", "no sender can be recovered from the signature")
      : ok(sent);
  }
  const { r, s } = impersonatedSignature(impersonated);
  return decoded.value.r === r && decoded.value.s === s
    ? ok(withSender(decoded.value, impersonated))
    : fail("caller", "invalidSignature", "the signature is not that of an impersonated sender");
}

/** The transactions of several blocks, of which none may be wrong. */
export async function readBlocks(
  blocks: readonly (readonly SignedTransaction[])[],
): Promise<Result<readonly (readonly SentTransaction[])[], TransactionErrorCode | "invalidSignature">> {
  const read: SentTransaction[][] = [];
  const pacer = new EventLoopPacer();
  for (const block of blocks) {
    const transactions: SentTransaction[] = [];
    for (const signed of block) {
      const sent = readSigned(signed);
      if (!sent.ok) return sent;
      transactions.push(sent.value);
      if (pacer.isDue()) await pacer.yield();
    }
    read.push(transactions);
  }
  return ok(read);
}
