import type { RecoverSenders } from "../../chain/signerRecovery.ts";
import type { Address } from "../../primitives/address.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import { decodeTransaction, type Transaction, withSender } from "../../types/transaction.ts";
import { unpackBytes } from "./packedBytes.ts";
import type { FromThread, ToThread } from "./protocol.ts";

type Transactions = FromThread & { readonly kind: "transactions" };
type Decided = ToThread & { readonly kind: "submitted" };

/** The main thread's side of the transactions of all threads: adds them to the pool in the order of arrival, in slices. */
export interface PoolHost {
  /** `decide` is called in the order of the transactions. They are added also when their thread has ended meanwhile. */
  receive(transactions: Transactions, decide: (decided: Decided) => void): void;
}

interface Arrived {
  readonly bytes: Uint8Array<ArrayBuffer>;
  decide(decided: Decided): void;
}

/** Transactions whose senders are being recovered. */
interface Batch extends Pick<Arrived, "decide"> {
  readonly transactions: readonly (Transaction | SubmissionErrorCode)[];
  /** Undefined where the signature fits no key; rejects when the node is stopping. */
  readonly senders: Promise<readonly (Address | undefined)[]>;
}

/** As many as a recovery thread takes at a time (workers/recoveryPool.ts). */
const BATCH_LIMIT = 128;

/**
 *     message ──> decoded ──> senders recovered on threads, by the batch ──> pool ──> decided
 *
 * Senders are recovered on the recovery threads, not on the thread that the transactions came by: one connection may bring
 * most of them. Clients send an account's transactions over several connections, nonce by nonce, so those of all threads are in
 * one queue.
 */
export function createPoolHost({
  pool,
  recoverSenders,
}: {
  readonly pool: Pick<TxPool, "add" | "screen">;
  readonly recoverSenders: RecoverSenders;
}): PoolHost {
  const waiting: Arrived[] = [];
  const batches: Batch[] = [];
  let isDecoding = false;
  let isAdding = false;

  async function decode(): Promise<void> {
    isDecoding = true;
    const pacer = new EventLoopPacer();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      let transactions: Batch["transactions"][number][] = [];
      for (const raw of unpackBytes(next.bytes)) {
        const decoded = decodeTransaction(raw);
        transactions.push(
          decoded.ok ? (pool.screen(decoded.value, "local") ?? decoded.value) : decoded.error.code,
        );
        if (transactions.length < BATCH_LIMIT && !pacer.isDue()) continue;
        recover(transactions, next);
        transactions = [];
        if (pacer.isDue()) await pacer.yield();
      }
      recover(transactions, next);
    }
    isDecoding = false;
  }

  function recover(transactions: Batch["transactions"], { decide }: Arrived): void {
    if (transactions.length === 0) return;
    const senders = recoverSenders(transactions.filter((one) => typeof one !== "string"));
    // A rejection before this batch's turn is handled at its turn.
    senders.catch(() => undefined);
    batches.push({ transactions, senders, decide });
    if (!isAdding) void add();
  }

  async function add(): Promise<void> {
    isAdding = true;
    const pacer = new EventLoopPacer();
    for (let next = batches.shift(); next !== undefined; next = batches.shift()) {
      const senders = await next.senders.catch(() => undefined);
      // The node is stopping, and its callers' connections are being closed.
      if (senders === undefined) continue;
      const refused = addBatch(pool, next.transactions, senders);
      next.decide({ kind: "submitted", count: next.transactions.length, refused });
      if (pacer.isDue()) await pacer.yield();
    }
    isAdding = false;
  }

  return {
    receive({ bytes }, decide) {
      waiting.push({ bytes, decide });
      if (!isDecoding) void decode();
    },
  };
}

/** The transactions that were refused, by their places in the batch. A batch takes a millisecond or two. */
function addBatch(
  pool: Pick<TxPool, "add">,
  transactions: Batch["transactions"],
  recovered: readonly (Address | undefined)[],
): [number, SubmissionErrorCode][] {
  const refused: [number, SubmissionErrorCode][] = [];
  const senders = recovered[Symbol.iterator]();
  for (const [index, transaction] of transactions.entries()) {
    const reason =
      typeof transaction === "string" ? transaction : add(pool, transaction, senders.next().value);
    if (reason !== undefined) refused.push([index, reason]);
  }
  return refused;
}

function add(
  pool: Pick<TxPool, "add">,
  transaction: Transaction,
  sender: Address | undefined,
): SubmissionErrorCode | undefined {
  if (sender === undefined) return "invalidSignature";
  const added = pool.add(withSender(transaction, sender), "local");
  return added.ok ? undefined : added.error.code;
}
