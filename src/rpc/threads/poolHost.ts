import type { Address } from "../../primitives/address.ts";
import { EventLoopSlice } from "../../primitives/eventLoopSlice.ts";
import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import type { RecoverSenders } from "../../txpool/ports.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import { decodeTransaction, type Transaction, withSender } from "../../types/transaction.ts";
import { unpackBytes } from "./packedBytes.ts";
import type { FromThread, ToThread } from "./protocol.ts";

type Transactions = FromThread & { readonly kind: "transactions" };
type Decided = ToThread & { readonly kind: "submitted" };

/** The main thread's side of a thread's transactions: adds them to the pool in their order, in slices. */
export interface PoolHost {
  receive(transactions: Transactions): void;
  /** The thread ended. What it had sent is added nevertheless. */
  drop(): void;
}

/** Transactions whose senders are being recovered. */
interface Batch {
  /** Number of the first one. */
  readonly first: number;
  readonly transactions: readonly (Transaction | SubmissionErrorCode)[];
  /** Undefined where the signature fits no key; rejects when the node is stopping. */
  readonly senders: Promise<readonly (Address | undefined)[]>;
}

/** As many as a recovery thread takes at a time (workers/recoveryPool.ts). */
const BATCH_LIMIT = 128;

/**
 *     message ──> decoded ──> senders recovered on threads, by the batch ──> pool ──> decided
 *
 * Senders are recovered by the threads that serve blocks and peers, too, and not on the thread for callers that sent them:
 * of as many threads as cores, one that recovers for its connections held up those of its neighbours for longer than clients
 * tolerate which send one account's transactions over several connections, nonce by nonce. All transactions keep the order in
 * which they come to this thread.
 */
export function createPoolHost(
  { pool, recoverSenders }: { readonly pool: Pick<TxPool, "add">; readonly recoverSenders: RecoverSenders },
  post: (decided: Decided) => void,
): PoolHost {
  const waiting: Transactions[] = [];
  const batches: Batch[] = [];
  let isDecoding = false;
  let isAdding = false;
  let isDropped = false;

  async function decode(): Promise<void> {
    isDecoding = true;
    const slice = new EventLoopSlice();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      let { first } = next;
      let transactions: Batch["transactions"][number][] = [];
      for (const raw of unpackBytes(next.bytes)) {
        const decoded = decodeTransaction(raw);
        transactions.push(decoded.ok ? decoded.value : decoded.error.code);
        if (transactions.length === BATCH_LIMIT || slice.isOver) {
          recover(first, transactions);
          first += transactions.length;
          transactions = [];
        }
        if (slice.isOver) await slice.yield();
      }
      recover(first, transactions);
    }
    isDecoding = false;
  }

  function recover(first: number, transactions: Batch["transactions"]): void {
    if (transactions.length === 0) return;
    const senders = recoverSenders(transactions.filter((one) => typeof one !== "string"));
    // A rejection before this batch's turn is handled at its turn.
    senders.catch(() => undefined);
    batches.push({ first, transactions, senders });
    if (!isAdding) void add();
  }

  async function add(): Promise<void> {
    isAdding = true;
    const slice = new EventLoopSlice();
    for (let next = batches.shift(); next !== undefined; next = batches.shift()) {
      const senders = await next.senders.catch(() => undefined);
      // The node is stopping, and its callers' connections are being closed.
      if (senders === undefined) continue;
      const refused = await addBatch(pool, next, senders[Symbol.iterator](), slice);
      const { first, transactions } = next;
      if (!isDropped) post({ kind: "submitted", first, count: transactions.length, refused });
    }
    isAdding = false;
  }

  return {
    receive(transactions) {
      waiting.push(transactions);
      if (!isDecoding) void decode();
    },
    drop() {
      isDropped = true;
    },
  };
}

/** The transactions that were refused, by their numbers. */
async function addBatch(
  pool: Pick<TxPool, "add">,
  { first, transactions }: Batch,
  senders: Iterator<Address | undefined>,
  slice: EventLoopSlice,
): Promise<[number, SubmissionErrorCode][]> {
  const refused: [number, SubmissionErrorCode][] = [];
  for (const [index, transaction] of transactions.entries()) {
    const reason =
      typeof transaction === "string" ? transaction : add(pool, transaction, senders.next().value);
    if (reason !== undefined) refused.push([first + index, reason]);
    if (slice.isOver) await slice.yield();
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
