import type { Clock, Timer } from "../primitives/clock.ts";
import type { TxPool } from "./txPool.ts";

/** Besu's interval for dropping expired transactions. */
const EXPIRY_INTERVAL_MS = 60_000;

/** Drops expired transactions from time to time. */
export interface PoolExpiry {
  /** Does nothing when transactions do not expire. */
  begin(): void;
  close(): void;
}

export function createPoolExpiry(
  pool: Pick<TxPool, "expire">,
  retentionMs: number,
  clock: Clock,
): PoolExpiry {
  let timer: Timer | undefined;

  function expireLater(): void {
    timer = clock.at(clock.nowMs() + EXPIRY_INTERVAL_MS, () => {
      pool.expire();
      expireLater();
    });
  }

  return {
    begin() {
      if (retentionMs !== Number.POSITIVE_INFINITY) expireLater();
    },
    close: () => timer?.cancel(),
  };
}
