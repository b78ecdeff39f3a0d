import { dropOldest } from "../../../primitives/boundedCache.ts";
import type { Clock } from "../../../primitives/clock.ts";
import { TokenBucket } from "../../../primitives/tokenBucket.ts";
import {
  OVERHEAD_BURST_MS,
  OVERHEAD_BYTES_PER_MS,
  OVERHEAD_PER_CONTENT,
  OVERHEAD_SHORT_BURST_MS,
  OVERHEAD_TIME_SHARE,
  OVERHEAD_TOTAL_BURST_MS,
  OVERHEAD_TOTAL_SHARE,
  RECORD_BYTES,
  SHORT_RECORD_BYTES,
  SHUT_OUT_HOSTS,
} from "./handshakeLimits.ts";

/** What a connection has received that content does not explain. */
export class UnexplainedBytes {
  private received: number;
  private content: number;
  private unexplained = 0;
  private charged = 0;

  constructor(received: number, content: number) {
    this.received = received;
    this.content = content;
  }

  /**
   * Bytes to charge since the last call, or to give back where they are negative; `freeBytes` may be of a record on its way, and are
   * not charged. Content explains what came before it and never what comes later, so that nobody saves up by sending much of it.
   */
  count(received: number, content: number, freeBytes: number): number {
    const explained = (1 + OVERHEAD_PER_CONTENT) * (content - this.content);
    this.unexplained = Math.max(0, this.unexplained + received - this.received - explained);
    this.received = received;
    this.content = content;
    const bytes = Math.max(0, this.unexplained - freeBytes);
    const more = bytes - this.charged;
    this.charged = bytes;
    return more;
  }
}

/** The time that hosts take of the thread by bytes that are no content. */
export class OverheadTime {
  private readonly clock: Clock;
  private readonly budgets = new Map<string, TokenBucket>();
  private readonly total: TokenBucket;

  constructor(clock: Clock) {
    this.clock = clock;
    this.total = new TokenBucket(
      { capacity: OVERHEAD_TOTAL_BURST_MS, perMs: OVERHEAD_TOTAL_SHARE, maxDebt: OVERHEAD_TOTAL_BURST_MS },
      clock.nowMs(),
    );
  }

  /** Bytes of a connection that are not charged, for they may be of a record on its way. */
  get freeBytes(): number {
    return this.isShort() ? SHORT_RECORD_BYTES : RECORD_BYTES;
  }

  /** Charges a host; how long it has to wait until it has had no more than its share, ms; 0 while it may go on. */
  spend(host: string, bytes: number): number {
    if (bytes === 0) return 0;
    const budget = this.budgetOf(host);
    budget.refill(this.clock.nowMs());
    budget.spend(bytes / OVERHEAD_BYTES_PER_MS);
    this.total.spend(bytes / OVERHEAD_BYTES_PER_MS);
    const isOver = budget.left < (this.isShort() ? OVERHEAD_BURST_MS - OVERHEAD_SHORT_BURST_MS : 0);
    return isOver ? Math.max(1, budget.waitMs) : 0;
  }

  private isShort(): boolean {
    return this.total.refill(this.clock.nowMs()) < 0;
  }

  private budgetOf(host: string): TokenBucket {
    const { budgets } = this;
    const known = budgets.get(host);
    if (known !== undefined) return known;
    const budget = new TokenBucket(
      { capacity: OVERHEAD_BURST_MS, perMs: OVERHEAD_TIME_SHARE, maxDebt: Number.POSITIVE_INFINITY },
      this.clock.nowMs(),
    );
    budgets.set(host, budget);
    dropOldest(budgets, SHUT_OUT_HOSTS);
    return budget;
  }
}
