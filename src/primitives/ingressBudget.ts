import type { Clock, Timer } from "./clock.ts";

/**
 * How much of the thread's time goes into what others send: a share of it, for all of them together, whatever it is that
 * takes the time. Who comes when the share is spent waits: senders take turns, and what one of them sends keeps its order.
 */
export interface IngressBudget {
  /** Reads now, or in its turn; those who do not say who they are (`sender`) have one together. False when it has to wait. */
  take(read: () => void, sender?: string): boolean;
  /** Does at once what follows from something read before, and counts the time of that, too. */
  charge(work: () => void): void;
  /** So much time went into it elsewhere. */
  spend(durationMs: number): void;
  /** Nothing that waits is read any more, nor what comes later. */
  close(): void;
}

export interface IngressBudgetSettings {
  /** Part of the time. */
  readonly share: number;
  /** What of it is left over is kept, up to this. */
  readonly burstMs: number;
}

export function createIngressBudget(clock: Clock, { share, burstMs }: IngressBudgetSettings): IngressBudget {
  /** By sender, whose turn is next first; none of the lists is empty. */
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
