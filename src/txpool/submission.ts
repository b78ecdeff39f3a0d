import type { RecoverSenders } from "../chain/signerRecovery.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { unwrappedBlobTransaction } from "../types/blobWrapper.ts";
import { decodeTransaction, type Transaction, withSender } from "../types/transaction.ts";
import { poolError, type SubmissionErrorCode } from "./errors.ts";
import type { TxPool } from "./txPool.ts";

/** What becomes of a caller's transaction: its hash, or why it was not added. */
export type Submitted = Result<Hash, SubmissionErrorCode>;

/**
 * Adds a caller's transaction to the pool: decodes it, recovers its sender on a worker thread, then validates it. A
 * blob transaction is validated without its blobs, and its type is refused. Those of one batch of requests are recovered and
 * added together, in their order.
 */
export function createSubmission(
  recoverSenders: RecoverSenders,
  pool: Pick<TxPool, "add" | "screen">,
): (raw: Uint8Array) => Promise<Submitted> {
  let gathered: Submission[] = [];

  function add(transaction: Transaction, sender: Address | undefined): Submitted {
    if (sender === undefined) return NO_SIGNER;
    const added = pool.add(withSender(transaction, sender), "local");
    return added.ok ? ok(transaction.hash) : added;
  }

  async function addGathered(): Promise<void> {
    const submissions = gathered;
    gathered = [];
    try {
      const senders = await recoverSenders(submissions.map(({ transaction }) => transaction));
      for (const [index, { transaction, resolve }] of submissions.entries())
        resolve(add(transaction, senders[index]));
    } catch (error) {
      for (const { reject } of submissions) reject(error);
    }
  }

  return (raw) => {
    const decoded = decodeSubmission(raw);
    if (!decoded.ok) return Promise.resolve(decoded);
    const refused = pool.screen(decoded.value, "local");
    if (refused !== undefined) return Promise.resolve(poolError(refused, "local", "no place for its price"));
    return new Promise((resolve, reject) => {
      if (gathered.length === 0) queueMicrotask(addGathered);
      gathered.push({ transaction: decoded.value, resolve, reject });
    });
  };
}

/** A transaction whose sender is about to be recovered. */
interface Submission {
  readonly transaction: Transaction;
  resolve(submitted: Submitted): void;
  reject(error: unknown): void;
}

/** The same where the pool is on another thread, which has the sender recovered too: only what cannot be read is refused here. */
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

const NO_SIGNER = poolError("invalidSignature", "local", "the signature fits no key");
