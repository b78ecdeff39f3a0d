import type { RecoverSenders } from "../chain/signerRecovery.ts";
import type { Address } from "../primitives/address.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import { type Transaction, withSender } from "../types/transaction.ts";
import type { SubmissionErrorCode } from "./errors.ts";
import type { TxPool } from "./txPool.ts";

/** A transaction, or why what a caller sent is none. */
export type Readable = Transaction | SubmissionErrorCode;

/** What became of transactions that stand together: of so many, those refused, by their places. */
export interface Decided {
  readonly count: number;
  readonly refused: [number, SubmissionErrorCode][];
}

export interface Decisions {
  /** Called for one piece of the transactions after the other, in their order. */
  decided(decided: Decided): void;
  /** Called instead where senders cannot be recovered: the node is stopping. */
  failed?(count: number, error: unknown): void;
}

interface Arrived {
  readonly transactions: Iterable<Readable>;
  readonly on: Decisions;
}

/** Transactions whose senders are being recovered. */
interface Batch extends Pick<Arrived, "on"> {
  readonly transactions: readonly Readable[];
  /** Undefined where the signature fits no key. */
  readonly senders: Promise<readonly (Address | undefined)[]>;
}

/** Transactions whose senders are recovered at once: as many as a recovery thread takes at a time (workers/recoveryPool.ts). */
const BATCH_LIMIT = 128;

/**
 * The one way of callers' transactions into the pool:
 *
 *     transactions ──> what price alone refuses ──> senders recovered on threads, by the batch ──> pool, in order ──> decided
 *
 * Clients send an account's transactions over several connections, nonce by nonce, so those of all connections are in one queue,
 * whichever thread they come by. The thread of consensus pauses between two pieces of the work.
 */
export class AdmissionQueue {
  private readonly pool: Pick<TxPool, "add" | "screen">;
  private readonly recoverSenders: RecoverSenders;
  private readonly waiting: Arrived[] = [];
  private readonly batches: Batch[] = [];
  private isReading = false;
  private isAdding = false;

  constructor(pool: Pick<TxPool, "add" | "screen">, recoverSenders: RecoverSenders) {
    this.pool = pool;
    this.recoverSenders = recoverSenders;
  }

  /** `transactions` are read at once, or later where others are before them: an iterable may decode them as they are read. */
  add(transactions: Iterable<Readable>, on: Decisions): void {
    this.waiting.push({ transactions, on });
    if (!this.isReading) void this.read();
  }

  private async read(): Promise<void> {
    this.isReading = true;
    const pacer = new EventLoopPacer();
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      let gathered: Readable[] = [];
      for (const transaction of next.transactions) {
        const refused =
          typeof transaction === "string" ? transaction : this.pool.screen(transaction, "local");
        gathered.push(refused ?? transaction);
        if (gathered.length < BATCH_LIMIT && !pacer.isDue()) continue;
        this.recover(gathered, next.on);
        gathered = [];
        if (pacer.isDue()) await pacer.yield();
      }
      this.recover(gathered, next.on);
    }
    this.isReading = false;
  }

  private recover(transactions: readonly Readable[], on: Decisions): void {
    if (transactions.length === 0) return;
    const senders = this.recoverSenders(transactions.filter((one) => typeof one !== "string"));
    // A rejection before this batch's turn is handled at its turn.
    senders.catch(() => undefined);
    this.batches.push({ transactions, senders, on });
    if (!this.isAdding) void this.addBatches();
  }

  private async addBatches(): Promise<void> {
    this.isAdding = true;
    const pacer = new EventLoopPacer();
    for (let next = this.batches.shift(); next !== undefined; next = this.batches.shift()) {
      const { transactions, on } = next;
      const senders = await next.senders.catch((error: unknown) => {
        on.failed?.(transactions.length, error);
      });
      if (senders === undefined) continue;
      on.decided({ count: transactions.length, refused: this.addBatch(transactions, senders) });
      if (pacer.isDue()) await pacer.yield();
    }
    this.isAdding = false;
  }

  /** The transactions that were refused, by their places in the batch. A batch takes a millisecond or two. */
  private addBatch(
    transactions: readonly Readable[],
    recovered: readonly (Address | undefined)[],
  ): [number, SubmissionErrorCode][] {
    const refused: [number, SubmissionErrorCode][] = [];
    const senders = recovered[Symbol.iterator]();
    for (const [index, transaction] of transactions.entries()) {
      const reason =
        typeof transaction === "string" ? transaction : this.addOne(transaction, senders.next().value);
      if (reason !== undefined) refused.push([index, reason]);
    }
    return refused;
  }

  private addOne(transaction: Transaction, sender: Address | undefined): SubmissionErrorCode | undefined {
    if (sender === undefined) return "invalidSignature";
    const added = this.pool.add(withSender(transaction, sender), "local");
    return added.ok ? undefined : added.error.code;
  }
}
