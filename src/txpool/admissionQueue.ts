import type { RecoverSenders } from "../chain/signerRecovery.ts";
import type { Address } from "../primitives/address.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import type { CodedError } from "../primitives/result.ts";
import { type Transaction, withSender } from "../types/transaction.ts";
import { askPermissions } from "./contractPermissions.ts";
import { poolError, type SubmissionErrorCode } from "./errors.ts";
import type { AskContract, SenderPermission } from "./ports.ts";
import type { TxPool } from "./txPool.ts";

/** Why a transaction was not added. */
export type Refusal = CodedError<SubmissionErrorCode>;

/** A transaction, or the reason why the caller's bytes are not one. */
export type Readable = Transaction | Refusal;

/** The outcome of consecutive transactions: their number, and the refused ones by their places. */
export interface Decided {
  readonly count: number;
  readonly refused: readonly (readonly [place: number, why: Refusal])[];
}

export interface Decisions {
  /** Called for each run of transactions, in their order. */
  decided(decided: Decided): void;
  /** Called instead when the senders of `count` transactions could not be recovered: the node is stopping. */
  unrecovered(count: number, error: unknown): void;
  /** Called instead when the pool threw: a fault of this node. */
  failed(count: number, error: unknown): void;
}

interface Arrived {
  readonly transactions: Iterable<Readable>;
  readonly on: Decisions;
}

/** Transactions whose senders are being recovered. */
interface Batch extends Pick<Arrived, "on"> {
  readonly transactions: readonly Readable[];
  /** A sender is undefined when the signature fits no key. */
  readonly senders: Promise<readonly (Address | undefined)[]>;
}

/**
 * Number of transactions whose senders are recovered together: as many as a recovery thread takes at a time
 * (workers/recoveryPool.ts).
 */
const BATCH_LIMIT = 128;

/**
 * The one way of callers' transactions into the pool:
 *
 *     transactions ──> what price alone refuses ──> senders recovered on threads, by the batch ──> pool, in order ──> decided
 *                                                   and a contract asked, if one decides who may send
 *
 * Clients send an account's transactions over several connections, nonce by nonce, so the transactions of all connections
 * share one queue, whichever thread received them. The consensus thread pauses between two pieces of the work.
 */
export class AdmissionQueue {
  private readonly pool: Pick<TxPool, "add" | "screen">;
  private readonly recoverSenders: RecoverSenders;
  private readonly askContract: AskContract | undefined;
  private readonly waiting: Arrived[] = [];
  private readonly batches: Batch[] = [];
  private isReading = false;
  private isAdding = false;

  constructor(
    pool: Pick<TxPool, "add" | "screen">,
    recoverSenders: RecoverSenders,
    askContract?: AskContract,
  ) {
    this.pool = pool;
    this.recoverSenders = recoverSenders;
    this.askContract = askContract;
  }

  /** Reads `transactions` at once, or later if others are ahead of them: an iterable may decode them lazily. */
  add(transactions: Iterable<Readable>, on: Decisions): void {
    this.waiting.push({ transactions, on });
    if (!this.isReading) void this.read();
  }

  private async read(): Promise<void> {
    this.isReading = true;
    try {
      await this.readAll();
    } finally {
      this.isReading = false;
    }
  }

  private async readAll(): Promise<void> {
    const pacer = new EventLoopPacer();
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      let gathered: Readable[] = [];
      for (const transaction of next.transactions) {
        gathered.push(isTransaction(transaction) ? this.screened(transaction) : transaction);
        if (gathered.length < BATCH_LIMIT && !pacer.isDue()) continue;
        this.recover(gathered, next.on);
        gathered = [];
        if (pacer.isDue()) await pacer.yield();
      }
      this.recover(gathered, next.on);
    }
  }

  private recover(transactions: readonly Readable[], on: Decisions): void {
    if (transactions.length === 0) return;
    const senders = this.recoverSenders(transactions.filter(isTransaction));
    // A rejection before this batch's turn is handled at its turn.
    senders.catch(() => undefined);
    this.batches.push({ transactions, senders, on });
    if (!this.isAdding) void this.addBatches();
  }

  private async addBatches(): Promise<void> {
    this.isAdding = true;
    const pacer = new EventLoopPacer();
    try {
      for (let next = this.batches.shift(); next !== undefined; next = this.batches.shift()) {
        await this.decide(next);
        if (pacer.isDue()) await pacer.yield();
      }
    } finally {
      this.isAdding = false;
    }
  }

  private async decide({ transactions, senders, on }: Batch): Promise<void> {
    const count = transactions.length;
    const recovered = await senders.catch((error: unknown) => on.unrecovered(count, error));
    if (recovered === undefined) return;
    let refused: Decided["refused"];
    try {
      const judged = this.askContract && (await this.judge(this.askContract, transactions, recovered));
      refused = this.addBatch(transactions, recovered, judged);
    } catch (error) {
      on.failed(count, error);
      return;
    }
    on.decided({ count, refused });
  }

  /** Asks the contract about each transaction whose sender is known. */
  private judge(
    askContract: AskContract,
    transactions: readonly Readable[],
    recovered: readonly (Address | undefined)[],
  ): Promise<readonly (SenderPermission | undefined)[]> {
    const sent = transactions.filter(isTransaction).map((transaction, index) => {
      const sender = recovered[index];
      return sender && withSender(transaction, sender);
    });
    return askPermissions(askContract, "local", sent);
  }

  /** Returns the refused transactions, by their places in the batch. A batch takes a millisecond or two. */
  private addBatch(
    transactions: readonly Readable[],
    recovered: readonly (Address | undefined)[],
    judged: readonly (SenderPermission | undefined)[] = [],
  ): Decided["refused"] {
    const refused: [number, Refusal][] = [];
    const senders = recovered[Symbol.iterator]();
    const permissions = judged[Symbol.iterator]();
    for (const [index, transaction] of transactions.entries()) {
      const reason = isTransaction(transaction)
        ? this.addOne(transaction, senders.next().value, permissions.next().value)
        : transaction;
      if (reason !== undefined) refused.push([index, reason]);
    }
    return refused;
  }

  private screened(transaction: Transaction): Readable {
    const refused = this.pool.screen(transaction, "local");
    return refused === undefined ? transaction : poolError(refused, "local", "no room at its price").error;
  }

  private addOne(
    transaction: Transaction,
    sender: Address | undefined,
    permission: SenderPermission | undefined,
  ): Refusal | undefined {
    if (sender === undefined) return NO_SIGNER;
    const added = this.pool.add(withSender(transaction, sender), "local", permission);
    return added.ok ? undefined : added.error;
  }
}

function isTransaction(readable: Readable): readable is Transaction {
  return "raw" in readable;
}

const NO_SIGNER: Refusal = poolError("invalidSignature", "local", "the signature fits no key").error;
