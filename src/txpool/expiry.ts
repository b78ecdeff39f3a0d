import type { Clock, Timer } from "../primitives/clock.ts";
import type { TxPool } from "./txPool.ts";

/** Besu's interval for dropping expired transactions. */
const EXPIRY_INTERVAL_MS = 60_000;

/** Drops expired transactions from time to time. */
export class PoolExpiry {
  readonly #pool: Pick<TxPool, "expire">;
  readonly #retentionMs: number;
  readonly #clock: Clock;
  #timer: Timer | undefined;

  constructor(pool: Pick<TxPool, "expire">, retentionMs: number, clock: Clock) {
    this.#pool = pool;
    this.#retentionMs = retentionMs;
    this.#clock = clock;
  }

  /** Does nothing when transactions do not expire. */
  begin(): void {
    if (this.#retentionMs !== Number.POSITIVE_INFINITY) this.#expireLater();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #expireLater(): void {
    this.#timer = this.#clock.at(this.#clock.nowMs() + EXPIRY_INTERVAL_MS, () => {
      this.#pool.expire();
      this.#expireLater();
    });
  }
}
