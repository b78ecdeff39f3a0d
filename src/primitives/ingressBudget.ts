import type { Clock, Timer } from "./clock.ts";
import { TokenBucket } from "./tokenBucket.ts";

/**
 * Limits the share of the thread's time that incoming messages take, for all senders together. When the share is spent,
 * messages wait: the senders are served round-robin, and the messages of one sender keep their order.
 */
export interface IngressBudget {
  /** Runs `read` now or later, in turn; calls without a `sender` share one queue. Returns false when it has to wait. */
  take(read: () => void, sender?: string): boolean;
  /** Drops a message that waits for the turn of its sender. */
  withdraw(read: () => void, sender?: string): void;
  /** Runs `work` that follows from an earlier message at once, and charges its time to the budget. */
  charge(work: () => void): void;
  /** Charges time that was spent elsewhere. */
  spend(durationMs: number): void;
  /** Drops everything that waits, and refuses later calls. */
  close(): void;
}

export interface IngressBudgetSettings {
  /** Fraction of the time. */
  readonly share: number;
  /** Unused time accumulates up to this. */
  readonly burstMs: number;
}

/**
 * Most time beyond the share that is paid back. Reading takes less at a time; a longer one was measured while the system gave
 * its processor to others, and to pay that back would add a wait several times as long to the one that the senders had.
 */
const MAX_DEBT_MS = 500;

export function createIngressBudget(clock: Clock, { share, burstMs }: IngressBudgetSettings): IngressBudget {
  const waiting = createWaitingReads();
  const budgetMs = new TokenBucket({ capacity: burstMs, perMs: share, maxDebt: MAX_DEBT_MS }, clock.nowMs());
  let timer: Timer | undefined;
  let isClosed = false;

  function run(work: () => void): void {
    const startMs = clock.nowMs();
    work();
    budgetMs.spend(clock.nowMs() - startMs);
  }

  function runWaiting(): void {
    timer = undefined;
    budgetMs.refill(clock.nowMs());
    while (budgetMs.left > 0) {
      const read = waiting.next();
      if (read === undefined) return;
      run(read);
    }
    schedule();
  }

  function schedule(): void {
    if (timer !== undefined || waiting.isEmpty) return;
    timer = clock.at(clock.nowMs() + Math.max(1, Math.ceil(budgetMs.waitMs)), runWaiting);
  }

  function stopTimer(): void {
    timer?.cancel();
    timer = undefined;
  }

  return {
    take(read, sender = "") {
      if (isClosed) return false;
      if (budgetMs.refill(clock.nowMs()) > 0 && waiting.isEmpty) {
        run(read);
        return true;
      }
      waiting.add(read, sender);
      schedule();
      return false;
    },
    withdraw(read, sender = "") {
      waiting.remove(read, sender);
      if (waiting.isEmpty) stopTimer();
    },
    charge: run,
    spend: (durationMs) => budgetMs.spend(durationMs),
    close() {
      isClosed = true;
      stopTimer();
      waiting.clear();
    },
  };
}

/** Messages that wait, in the order of each sender. */
interface WaitingReads {
  readonly isEmpty: boolean;
  add(read: () => void, sender: string): void;
  /** Removes it, where it is. */
  remove(read: () => void, sender: string): void;
  /** Removes the first message of the sender whose turn it is; the sender goes to the end of the round. */
  next(): (() => void) | undefined;
  clear(): void;
}

function createWaitingReads(): WaitingReads {
  /** Queues by sender, the next one to serve first; none is empty. */
  const queues = new Map<string, (() => void)[]>();
  return {
    get isEmpty() {
      return queues.size === 0;
    },
    add(read, sender) {
      const reads = queues.get(sender);
      if (reads === undefined) queues.set(sender, [read]);
      else reads.push(read);
    },
    remove(read, sender) {
      const reads = queues.get(sender) ?? [];
      const place = reads.indexOf(read);
      if (place >= 0) reads.splice(place, 1);
      if (reads.length === 0) queues.delete(sender);
    },
    next() {
      for (const [sender, reads] of queues) {
        queues.delete(sender);
        const read = reads.shift();
        if (reads.length > 0) queues.set(sender, reads);
        return read;
      }
      return undefined;
    },
    clear: () => queues.clear(),
  };
}
