import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import { err, ok } from "../primitives/result.ts";
import { unwrappedBlobTransaction } from "../types/blobWrapper.ts";
import { decodeTransaction, withSender } from "../types/transaction.ts";
import { poolError, type SubmissionErrorCode } from "./errors.ts";
import type { RecoverSenders } from "./ports.ts";
import type { TxPool } from "./txPool.ts";

/**
 * Adds a caller's transaction to the pool: decodes it, recovers its sender on a worker thread, then validates it. A
 * blob transaction is validated without its blobs, and its type is refused.
 */
export function createSubmission(
  recoverSenders: RecoverSenders,
  pool: TxPool,
): (raw: Uint8Array) => Promise<Result<Hash, SubmissionErrorCode>> {
  return async (raw) => {
    const canonical = unwrappedBlobTransaction(raw);
    if (canonical === undefined)
      return err({
        code: "malformedTransaction",
        fault: "caller",
        message: "it comes without its blobs",
      });
    const decoded = decodeTransaction(canonical);
    if (!decoded.ok) return decoded;
    const [sender] = await recoverSenders([decoded.value]);
    if (sender === undefined) return poolError("invalidSignature", "local", "the signature fits no key");
    const added = pool.add(withSender(decoded.value, sender), "local");
    return added.ok ? ok(decoded.value.hash) : added;
  };
}
