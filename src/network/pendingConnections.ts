import type { Clock } from "../primitives/clock.ts";
import { TokenBucket } from "../primitives/tokenBucket.ts";
import { CONNECTION_BURST, CONNECTIONS_PER_SECOND, MAX_PENDING_CONNECTIONS } from "./limits.ts";
import type { Connection } from "./rlpx/connection.ts";

/** Inbound connections before Hello, which anyone can open: bounded in their rate and in their number. */
export class PendingConnections {
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly pending = new Set<Connection>();
  private readonly rate: TokenBucket;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.clock = clock;
    this.rate = new TokenBucket(RATE, clock.nowMs());
  }

  /** Counts a new connection; false when there are too many per second. */
  admit(): boolean {
    if (this.rate.refill(this.clock.nowMs()) < 1) return false;
    this.rate.spend(1);
    return true;
  }

  /** Removes and returns the connection to drop in favour of a new one; undefined when there is room. */
  takeSurplus(): Connection | undefined {
    const [oldest] = this.pending;
    if (oldest === undefined || this.pending.size < MAX_PENDING_CONNECTIONS) return undefined;
    this.pending.delete(oldest);
    return oldest;
  }

  add(connection: Connection): void {
    this.pending.add(connection);
  }

  /** Removes a connection; false when it was not pending. */
  remove(connection: Connection): boolean {
    return this.pending.delete(connection);
  }

  /** All pending connections, the oldest first. */
  get all(): Iterable<Connection> {
    return this.pending;
  }
}

/** Rate of new connections: when many nodes start together, a burst of them arrives at once. */
const RATE = { capacity: CONNECTION_BURST, perMs: CONNECTIONS_PER_SECOND / 1000, maxDebt: 0 };
