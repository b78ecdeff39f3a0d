import type { RecoverSigners } from "../chain/signerRecovery.ts";
import type { Address } from "../primitives/address.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import type { RecoveryItem } from "../primitives/recoveryBatch.ts";
import { type CodedError, err, ok } from "../primitives/result.ts";
import { type Transaction, withSender } from "../types/transaction.ts";
import { recoveryItemOf } from "../types/transactionSignature.ts";
import { askPermissions } from "./contractPermissions.ts";
import { poolError, type SubmissionErrorCode } from "./errors.ts";
import type { AskContract, SenderPermission } from "./ports.ts";
import { decodeSubmission, type Submitted } from "./submission.ts";
import type { TxPool } from "./txPool.ts";

/** Why a transaction was not added. */
type Refusal = CodedError<SubmissionErrorCode>;

/** A decoded transaction whose sender is not known yet. */
export interface Submission {
  readonly transaction: Transaction;
  /** The hash that the sender signed, and the signature. */
  readonly signed: RecoveryItem;
  /** The sender, where it is known because this node has signed. */
  readonly sender?: Address | undefined;
}

/** The outcome of consecutive transactions: their number, and the refused ones by their places. */
interface Decided {
  readonly count: number;
  readonly refused: readonly (readonly [place: number, why: Refusal])[];
}

interface Decisions {
  /** Called for each run of transactions, in their order. */
  decided(decided: Decided): void;
  /** Called instead when the senders of `count` transactions could not be recovered: the node is stopping. */
  unrecovered(count: number, error: unknown): void;
  /**
   * Called instead when the pool threw, or `submissions` did while they were read: a fault of this node. In the latter case
   * `count` is the number of transactions that were read since the last ones that were decided.
   */
  failed(count: number, error: unknown): void;
}

interface Arrived {
  readonly submissions: Iterable<Submission>;
  readonly on: Decisions;
}

/** A transaction that may be added, or why not. */
type Screened = Submission | Refusal;

/** Transactions whose senders are being recovered. */
interface Batch extends Pick<Arrived, "on"> {
  readonly screened: readonly Screened[];
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
  private readonly recoverSigners: RecoverSigners;
  private readonly askContract: AskContract | undefined;
  private untilAnswer: (() => Promise<void> | undefined) | undefined;
  private readonly waiting: Arrived[] = [];
  private readonly batches: Batch[] = [];
  private isReading = false;
  private isAdding = false;

  constructor(
    pool: Pick<TxPool, "add" | "screen">,
    recoverSigners: RecoverSigners,
    askContract?: AskContract,
  ) {
    this.pool = pool;
    this.recoverSigners = recoverSigners;
    this.askContract = askContract;
  }

  /** Has callers wait for `until` once their transactions are in the pool; it gives undefined when there is nothing to wait for. */
  answerAfter(until: () => Promise<void> | undefined): void {
    this.untilAnswer = until;
  }

  /**
   * Adds one transaction that came to this thread, or that this node has signed for the sender. Rejects when the node stops, or when
   * the pool threw.
   */
  submit(raw: Uint8Array, sender?: Address): Promise<Submitted> {
    const decoded = decodeSubmission(raw);
    if (!decoded.ok) return Promise.resolve(decoded);
    const { value: transaction } = decoded;
    return new Promise((resolve, reject) => {
      const rejected = (_count: number, error: unknown): void => reject(error);
      this.add([{ transaction, signed: recoveryItemOf(transaction), sender }], {
        decided: ({ refused: [first] }) =>
          resolve(first === undefined ? ok(transaction.hash) : err(first[1])),
        unrecovered: rejected,
        failed: rejected,
      });
    });
  }

  /** Reads `submissions` at once, or later if others are ahead of them: an iterable may decode them lazily. */
  add(submissions: Iterable<Submission>, on: Decisions): void {
    this.waiting.push({ submissions, on });
    if (!this.isReading) void this.read();
  }

  private async read(): Promise<void> {
    this.isReading = true;
    const pacer = new EventLoopPacer();
    try {
      for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift())
        await this.readOne(next, pacer);
    } finally {
      this.isReading = false;
    }
  }

  private async readOne({ submissions, on }: Arrived, pacer: EventLoopPacer): Promise<void> {
    let gathered: Screened[] = [];
    try {
      for (const submission of submissions) {
        gathered.push(this.screen(submission));
        if (gathered.length < BATCH_LIMIT && !pacer.isDue()) continue;
        this.recover(gathered, on);
        gathered = [];
        if (pacer.isDue()) await pacer.yield();
      }
    } catch (error) {
      on.failed(gathered.length, error);
      return;
    }
    this.recover(gathered, on);
  }

  private recover(screened: readonly Screened[], on: Decisions): void {
    if (screened.length === 0) return;
    const senders = this.sendersOf(screened.filter(isSubmission));
    // A rejection before this batch's turn is handled at its turn.
    senders.catch(() => undefined);
    this.batches.push({ screened, senders, on });
    if (!this.isAdding) void this.addBatches();
  }

  private sendersOf(submissions: readonly Submission[]): Batch["senders"] {
    const known = submissions.map(({ sender }) => sender);
    return known.includes(undefined)
      ? this.recoverSigners(submissions.map(({ signed }) => signed))
      : Promise.resolve(known);
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

  private async decide({ screened, senders, on }: Batch): Promise<void> {
    const count = screened.length;
    const recovered = await senders.catch((error: unknown) => on.unrecovered(count, error));
    if (recovered === undefined) return;
    let refused: Decided["refused"];
    try {
      const judged = this.askContract && (await this.judge(this.askContract, screened, recovered));
      refused = this.addBatch(screened, recovered, judged);
      await this.untilAnswer?.();
    } catch (error) {
      on.failed(count, error);
      return;
    }
    on.decided({ count, refused });
  }

  /** Asks the contract about each transaction whose sender is known. */
  private judge(
    askContract: AskContract,
    screened: readonly Screened[],
    recovered: readonly (Address | undefined)[],
  ): Promise<readonly (SenderPermission | undefined)[]> {
    const sent = screened.filter(isSubmission).map(({ transaction }, index) => {
      const sender = recovered[index];
      return sender && ({ transaction: withSender(transaction, sender), origin: "local" } as const);
    });
    return askPermissions(askContract, sent);
  }

  /** Returns the refused transactions, by their places in the batch. A batch takes a millisecond or two. */
  private addBatch(
    screened: readonly Screened[],
    recovered: readonly (Address | undefined)[],
    judged: readonly (SenderPermission | undefined)[] = [],
  ): Decided["refused"] {
    const refused: [number, Refusal][] = [];
    const senders = recovered[Symbol.iterator]();
    const permissions = judged[Symbol.iterator]();
    for (const [index, one] of screened.entries()) {
      const reason = isSubmission(one)
        ? this.addOne(one.transaction, senders.next().value, permissions.next().value)
        : one;
      if (reason !== undefined) refused.push([index, reason]);
    }
    return refused;
  }

  private screen(submission: Submission): Screened {
    const refused = this.pool.screen(submission.transaction, "local");
    return refused === undefined ? submission : poolError(refused, "local", "no room at its price").error;
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

function isSubmission(screened: Screened): screened is Submission {
  return "signed" in screened;
}

const NO_SIGNER: Refusal = poolError("invalidSignature", "local", "the signature fits no key").error;
