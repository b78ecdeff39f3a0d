import type { Clock, Timer } from "./clock.ts";

/**
 * Limits the share of the thread's time that incoming messages take, for all senders together. When the share is spent,
 * messages wait: the senders are served round-robin, and the messages of one sender keep their order.
 */
export interface IngressBudget {
  /** Runs `read` now or later, in turn; calls without a `sender` share one queue. Returns false when it has to wait. */
  take(read: () => void, sender?: string): boolean;
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

export function createIngressBudget(clock: Clock, { share, burstMs }: IngressBudgetSettings): IngressBudget {
  /** Queues by sender, the next one to serve first; none is empty. */
  const waiting = new Map<string, (() => void)[]>();
  let leftMs = burstMs;
  let countedMs = clock.nowMs();
  let timer: Timer | undefined;
  let isClosed = false;

  function refill(): void {
    const nowMs = clock.nowMs();
    leftMs = Math.min(leftMs + (nowMs - countedMs) * share, burstMs);
    countedMs = nowMs;
  }

  function run(work: () => void): void {
    const startMs = clock.nowMs();
    work();
    leftMs -= clock.nowMs() - startMs;
  }

  function runWaiting(): void {
    timer = undefined;
    refill();
    while (leftMs > 0) {
      const read = next();
      if (read === undefined) return;
      run(read);
    }
    schedule();
  }

  function next(): (() => void) | undefined {
    for (const [sender, reads] of waiting) {
      waiting.delete(sender);
      const read = reads.shift();
      if (reads.length > 0) waiting.set(sender, reads);
      return read;
    }
    return undefined;
  }

  function schedule(): void {
    if (timer !== undefined || waiting.size === 0) return;
    const waitMs = Math.max(1, Math.ceil(-leftMs / share));
    timer = clock.at(clock.nowMs() + waitMs, runWaiting);
  }

  return {
    take(read, sender = "") {
      if (isClosed) return false;
      refill();
      if (waiting.size === 0 && leftMs > 0) {
        run(read);
        return true;
      }
      const reads = waiting.get(sender);
      if (reads === undefined) waiting.set(sender, [read]);
      else reads.push(read);
      schedule();
      return false;
    },
    charge: run,
    spend(durationMs) {
      leftMs -= durationMs;
    },
    close() {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
      waiting.clear();
    },
  };
}
