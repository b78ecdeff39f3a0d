import type { Hash } from "../primitives/hash.ts";
import { err, fail, ok, type Result } from "../primitives/result.ts";
import { unwrappedBlobTransaction } from "../types/blobWrapper.ts";
import { decodeTransaction, type Transaction } from "../types/transaction.ts";
import type { AdmissionQueue } from "./admissionQueue.ts";
import type { SubmissionErrorCode } from "./errors.ts";

/** The outcome of a caller's transaction: its hash, or why it was not added. */
export type Submitted = Result<Hash, SubmissionErrorCode>;

/**
 * Adds a caller's transaction to the pool of this thread. A blob transaction is validated without its blobs, and its type is
 * refused. Transactions of one batch of requests are recovered and added together, in their order.
 */
export function createSubmission(
  queue: Pick<AdmissionQueue, "add">,
): (raw: Uint8Array) => Promise<Submitted> {
  let gathered: Submission[] = [];

  function addGathered(): void {
    const waiting = gathered;
    gathered = [];
    const rejectNext = (count: number, error: unknown): void => {
      for (const { reject } of waiting.splice(0, count)) reject(error);
    };
    queue.add(
      waiting.map(({ transaction }) => transaction),
      {
        decided({ count, refused }) {
          const reasons = new Map(refused);
          for (const [index, { transaction, resolve }] of waiting.splice(0, count).entries()) {
            const reason = reasons.get(index);
            resolve(reason === undefined ? ok(transaction.hash) : err(reason));
          }
        },
        unrecovered: rejectNext,
        failed: rejectNext,
      },
    );
  }

  return (raw) => {
    const decoded = decodeSubmission(raw);
    if (!decoded.ok) return Promise.resolve(decoded);
    return new Promise((resolve, reject) => {
      if (gathered.length === 0) queueMicrotask(addGathered);
      gathered.push({ transaction: decoded.value, resolve, reject });
    });
  };
}

/** A transaction that waits for the pool. */
interface Submission {
  readonly transaction: Transaction;
  resolve(submitted: Submitted): void;
  reject(error: unknown): void;
}

/** Submits to a pool on another thread, which also has the sender recovered: only malformed transactions are refused here. */
export function createRemoteSubmission(
  addRemotely: (raw: Uint8Array, remoteHost: string) => Promise<SubmissionErrorCode | undefined>,
): (raw: Uint8Array, remoteHost: string) => Promise<Submitted> {
  return async (raw, remoteHost) => {
    const decoded = decodeSubmission(raw);
    if (!decoded.ok) return decoded;
    const { hash, raw: canonical } = decoded.value;
    const code = await addRemotely(canonical, remoteHost);
    return code === undefined ? ok(hash) : fail("caller", code, "the pool refused it");
  };
}

function decodeSubmission(raw: Uint8Array): Result<Transaction, SubmissionErrorCode> {
  const canonical = unwrappedBlobTransaction(raw);
  if (canonical !== undefined) return decodeTransaction(canonical);
  return fail("caller", "malformedTransaction", "it comes without its blobs");
}
