import type { Hash } from "../primitives/hash.ts";
import { fail, type Result } from "../primitives/result.ts";
import { unwrappedBlobTransaction } from "../types/blobWrapper.ts";
import { decodeTransaction, type Transaction } from "../types/transaction.ts";
import type { SubmissionErrorCode } from "./errors.ts";

/** The outcome of a caller's transaction: its hash, or why it was not added. */
export type Submitted = Result<Hash, SubmissionErrorCode>;

/** Decodes what a caller sends. A blob transaction is validated without its blobs, and its type is refused. */
export function decodeSubmission(raw: Uint8Array): Result<Transaction, SubmissionErrorCode> {
  const canonical = unwrappedBlobTransaction(raw);
  if (canonical !== undefined) return decodeTransaction(canonical);
  return fail("caller", "malformedTransaction", "it comes without its blobs");
}
