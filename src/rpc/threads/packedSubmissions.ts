import { expectDefined } from "../../primitives/assert.ts";
import { asHash } from "../../primitives/hash.ts";
import { viewsOf } from "../../primitives/packedBytes.ts";
import { RECOVERY_ITEM_BYTES, WrittenItem } from "../../primitives/recoveryBatch.ts";
import type { Submission } from "../../txpool/admissionQueue.ts";
import { decodeTransaction, type Transaction } from "../../types/transaction.ts";
import { recoveryItemOf } from "../../types/transactionSignature.ts";

/*
 * Both sides: a caller's transaction on its way to the pool, with what its thread has computed from it. The two hashes take the main
 * thread twice as long as to read the fields.
 *
 *   signed hash, r, s, parity (97) | hash (32) | encoding
 */
const HASH_AT = RECOVERY_ITEM_BYTES;
const ENCODING_AT = HASH_AT + 32;

/** Bytes of a transaction beside its encoding. */
export const SUBMISSION_BYTES = ENCODING_AT;

export function packSubmission(transaction: Transaction): Uint8Array {
  const packed = new Uint8Array(ENCODING_AT + transaction.raw.length);
  recoveryItemOf(transaction).writeTo(packed, 0);
  packed.set(transaction.hash, HASH_AT);
  packed.set(transaction.raw, ENCODING_AT);
  return packed;
}

/** Reads each transaction when it is asked for. `packed` are packed submissions that were packed together (packedBytes.ts). */
export function* unpackSubmissions(packed: Uint8Array<ArrayBuffer>): Generator<Submission, void> {
  for (const bytes of viewsOf(packed)) {
    // Copies, since pooled transactions are kept one by one.
    const hash = asHash(bytes.slice(HASH_AT, ENCODING_AT));
    const decoded = decodeTransaction(bytes.slice(ENCODING_AT), hash);
    yield {
      transaction: expectDefined(
        decoded.ok ? decoded.value : undefined,
        "a transaction that was decoded before",
      ),
      signed: new WrittenItem(bytes.subarray(0, HASH_AT)),
    };
  }
}
