import type { Logger } from "../observability/logger.ts";
import { OftenLines } from "../observability/often.ts";
import type { Clock } from "../primitives/clock.ts";
import type { RemovalCause } from "./events.ts";
import type { TxPool } from "./txPool.ts";

/** Most lines in an interval: a flood of better paid transactions may push out thousands. */
const LINES = 10;
const INTERVAL_MS = 10_000;

/** Causes that the sender intended, or that are no loss. */
const EXPECTED: ReadonlySet<RemovalCause> = new Set(["mined", "superseded", "replaced"]);

/**
 * Logs each transaction of a local caller that leaves the pool without having been mined or replaced: its caller holds a
 * hash that no block will have.
 */
export function logDepartures(pool: Pick<TxPool, "onDropped">, logger: Logger, clock: Clock): void {
  const lines = new OftenLines({ lines: LINES, intervalMs: INTERVAL_MS }, clock);
  pool.onDropped(({ transaction: { hash, sender, nonce }, origin }, reason, cause) => {
    if (origin !== "local" || EXPECTED.has(cause)) return;
    const report = (more: number): void =>
      logger.info({ more }, `${MESSAGE} (and ${more.toLocaleString("en")} more in ten seconds)`);
    if (lines.admits(cause, report)) logger.info({ hash, sender, nonce, reason }, MESSAGE);
  });
}

const MESSAGE = "a local transaction left the pool without being mined";
