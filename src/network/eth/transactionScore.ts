import type { Clock } from "../../primitives/clock.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";
import type { PeerCounts } from "../../txpool/peerValidation.ts";
import {
  HIGHEST_TRANSACTION_SCORE,
  IGNORED_MESSAGE_SCORE,
  IGNORED_SCORE,
  SCORE_LEAK_PER_SECOND,
} from "./limits.ts";

export const NO_COUNTS: PeerCounts = { accepted: 0, rejected: 0 };

/**
 * Score of the work that a peer's rejected transactions caused recently. It leaks, and accepted ones reduce it: an honest
 * peer has some rejections whenever a block supersedes what it sends, and more only if most of its transactions are invalid
 * for long.
 */
export class TransactionScore {
  private readonly clock: Pick<Clock, "nowMs">;
  /** The bucket holds the distance to the highest score. */
  private readonly left: TokenBucket;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.clock = clock;
    this.left = new TokenBucket(LEAK, clock.nowMs());
  }

  note({ accepted, rejected }: PeerCounts): void {
    this.add(rejected - accepted);
  }

  /** Notes that a message arrived from the ignored peer. */
  noteIgnored(): void {
    this.add(IGNORED_MESSAGE_SCORE);
  }

  /** True while the peer's transactions are ignored. */
  get isIgnored(): boolean {
    return HIGHEST_TRANSACTION_SCORE - this.left.refill(this.clock.nowMs()) >= IGNORED_SCORE;
  }

  /** True when the peer continues although it is ignored. */
  get isAtLimit(): boolean {
    return this.left.left <= 0;
  }

  private add(change: number): void {
    this.left.refill(this.clock.nowMs());
    this.left.spend(change);
  }
}

const LEAK = { capacity: HIGHEST_TRANSACTION_SCORE, perMs: SCORE_LEAK_PER_SECOND / 1000, maxDebt: 0 };
