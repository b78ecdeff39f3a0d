import type { Clock } from "../primitives/clock.ts";
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
  const rate = createRateLimit(clock);
  return {
    admit: () => rate.take(),
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

/** Token bucket: CONNECTIONS_PER_SECOND on average, CONNECTION_BURST at once for when many nodes start together. */
function createRateLimit(clock: Pick<Clock, "nowMs">): { take(): boolean } {
  let tokens = CONNECTION_BURST;
  let filledMs = clock.nowMs();
  return {
    take() {
      const nowMs = clock.nowMs();
      const gained = (Math.max(nowMs - filledMs, 0) / 1000) * CONNECTIONS_PER_SECOND;
      tokens = Math.min(tokens + gained, CONNECTION_BURST);
      filledMs = nowMs;
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}
