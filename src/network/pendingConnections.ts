import type { Clock } from "../primitives/clock.ts";
import { TokenBucket } from "../primitives/tokenBucket.ts";
import { CONNECTION_BURST, CONNECTIONS_PER_SECOND, MAX_PENDING_CONNECTIONS } from "./limits.ts";
import type { Connection } from "./rlpx/connection.ts";

/** Inbound connections before Hello, which anyone can open: bounded in their rate and in their number. */
export interface PendingConnections {
  /** Counts a new connection; false when there are too many per second. */
  admit(): boolean;
  /** The connection to drop in favour of a new one; undefined when there is room. It is forgotten. */
  takeSurplus(): Connection | undefined;
  add(connection: Connection): void;
  /** False when it was not pending. */
  remove(connection: Connection): boolean;
  /** Oldest first. */
  readonly all: Iterable<Connection>;
}

export function createPendingConnections(clock: Pick<Clock, "nowMs">): PendingConnections {
  /** Oldest first. */
  const pending = new Set<Connection>();
  const rate = new TokenBucket(RATE, clock.nowMs());
  return {
    admit() {
      if (rate.refill(clock.nowMs()) < 1) return false;
      rate.spend(1);
      return true;
    },
    takeSurplus() {
      const [oldest] = pending;
      if (oldest === undefined || pending.size < MAX_PENDING_CONNECTIONS) return undefined;
      pending.delete(oldest);
      return oldest;
    },
    add: (connection) => void pending.add(connection),
    remove: (connection) => pending.delete(connection),
    all: pending,
  };
}

/** When many nodes start together, a burst of them comes at once. */
const RATE = { capacity: CONNECTION_BURST, perMs: CONNECTIONS_PER_SECOND / 1000, maxDebt: 0 };
