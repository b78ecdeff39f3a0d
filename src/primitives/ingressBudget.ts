import type { Clock, Timer } from "./clock.ts";
import { TokenBucket } from "./tokenBucket.ts";

interface IngressBudgetSettings {
  /** Fraction of the thread's time. */
  readonly share: number;
  /** Most unused time that accumulates. */
  readonly burstMs: number;
}

/**
 * Most time beyond the share that is paid back. One read takes less; a longer one was measured while the system gave the
 * processor to others, and paying that back would add a wait several times as long to the one that the senders had.
 */
const MAX_DEBT_MS = 500;

/**
 * Limits the share of the thread's time that incoming messages take, for all senders together. When the share is spent,
 * messages wait: the senders are served round-robin, and the messages of one sender keep their order.
 */
export class IngressBudget {
  private readonly clock: Clock;
  private readonly waiting = new WaitingReads();
  private readonly budgetMs: TokenBucket;
  private timer: Timer | undefined;
  private isClosed = false;

  constructor(clock: Clock, { share, burstMs }: IngressBudgetSettings) {
    this.clock = clock;
    this.budgetMs = new TokenBucket({ capacity: burstMs, perMs: share, maxDebt: MAX_DEBT_MS }, clock.nowMs());
  }

  /** Runs `read` now or later, in turn; calls without a `sender` share one queue. Returns false when it has to wait. */
  take(read: () => void, sender: string = ""): boolean {
    if (this.isClosed) return false;
    if (this.budgetMs.refill(this.clock.nowMs()) > 0 && this.waiting.isEmpty) {
      this.charge(read);
      return true;
    }
    this.waiting.add(read, sender);
    this.schedule();
    return false;
  }

  /** Drops a message that waits for the turn of its sender. */
  withdraw(read: () => void, sender: string = ""): void {
    this.waiting.remove(read, sender);
    if (this.waiting.isEmpty) this.stopTimer();
  }

  /** Runs `work` that follows from an earlier message at once, and charges its time to the budget. */
  charge(work: () => void): void {
    const startMs = this.clock.nowMs();
    work();
    this.budgetMs.spend(this.clock.nowMs() - startMs);
  }

  /** Charges time that was spent elsewhere. */
  spend(durationMs: number): void {
    this.budgetMs.spend(durationMs);
  }

  /** Drops everything that waits, and refuses later calls. */
  close(): void {
    this.isClosed = true;
    this.stopTimer();
    this.waiting.clear();
  }

  private schedule(): void {
    if (this.timer !== undefined || this.waiting.isEmpty) return;
    this.timer = this.clock.at(this.clock.nowMs() + Math.max(1, Math.ceil(this.budgetMs.waitMs)), () =>
      this.runWaiting(),
    );
  }

  private runWaiting(): void {
    this.timer = undefined;
    this.budgetMs.refill(this.clock.nowMs());
    while (this.budgetMs.left > 0) {
      const read = this.waiting.next();
      if (read === undefined) return;
      this.charge(read);
    }
    this.schedule();
  }

  private stopTimer(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
}

/** Messages that wait, in the order of each sender. */
class WaitingReads {
  /** Queues by sender, the next one to serve first; none is empty. */
  private readonly queues = new Map<string, (() => void)[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  add(read: () => void, sender: string): void {
    const reads = this.queues.get(sender);
    if (reads === undefined) this.queues.set(sender, [read]);
    else reads.push(read);
  }

  /** Removes the message, if it waits here. */
  remove(read: () => void, sender: string): void {
    const reads = this.queues.get(sender) ?? [];
    const place = reads.indexOf(read);
    if (place >= 0) reads.splice(place, 1);
    if (reads.length === 0) this.queues.delete(sender);
  }

  /** Removes the first message of the sender whose turn it is; the sender goes to the end of the round. */
  next(): (() => void) | undefined {
    for (const [sender, reads] of this.queues) {
      this.queues.delete(sender);
      const read = reads.shift();
      if (reads.length > 0) this.queues.set(sender, reads);
      return read;
    }
    return undefined;
  }

  clear(): void {
    this.queues.clear();
  }
}
