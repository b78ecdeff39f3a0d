import type { Chain } from "../chain/createChain.ts";
import { createNextBlockView } from "../chain/nextBlockView.ts";
import type { RecoverSenders } from "../chain/signerRecovery.ts";
import type { Settings } from "../config/settings.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Clock } from "../primitives/clock.ts";
import type { StateReader } from "../state/stateReader.ts";
import { AdmissionQueue } from "../txpool/admissionQueue.ts";
import { logDepartures } from "../txpool/departureLog.ts";
import { PoolExpiry } from "../txpool/expiry.ts";
import { createPoolFile } from "../txpool/poolFile.ts";
import type { PoolParts } from "../txpool/ports.ts";
import { TxPool } from "../txpool/txPool.ts";
import { type UnminedWatch, watchUnmined } from "../txpool/unminedWatch.ts";

/** The pool with its expiry timer and its saved file. */
export interface OpenPool {
  readonly pool: TxPool;
  /** The way of callers' transactions into it. */
  readonly admission: AdmissionQueue;
  readonly unmined: UnminedWatch;
  /** Starts the expiry and restores the saved pool in the background; called once the servers are open. */
  begin(): void;
  /** Saves the pool; called when no more transactions arrive. */
  close(): Promise<void>;
}

export interface OpenPoolParts {
  readonly chain: Chain;
  readonly state: StateReader;
  readonly recoverSenders: RecoverSenders;
  readonly isSenderPermitted?: PoolParts["isSenderPermitted"];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent where metrics are off. */
  readonly metrics?: Metrics | undefined;
}

/** Logs, at DEBUG, why transactions are refused and dropped. */
function logRefusals(pool: Pick<TxPool, "onRefused" | "onDropped">, logger: Logger): void {
  pool.onRefused(({ transaction: { hash }, origin, code }) =>
    logger.often("debug", "transaction refused", () => ({ hash, origin, code })),
  );
  pool.onDropped(({ transaction: { hash, sender, nonce } }, reason) =>
    logger.often("debug", "transaction dropped", () => ({ hash, sender, nonce, reason })),
  );
}

export function openPool(
  settings: Pick<Settings, "chainSpec" | "pool" | "poolFile">,
  parts: OpenPoolParts,
): OpenPool {
  const { chain, state, recoverSenders, isSenderPermitted, clock, logger } = parts;
  const pool = new TxPool(settings.pool, {
    chain: createNextBlockView(settings.chainSpec, chain, state, clock),
    clock,
    ...(isSenderPermitted !== undefined && { isSenderPermitted }),
  });
  chain.onHeadChanged("pool", (change) => pool.headChanged(change));
  logRefusals(pool, logger);
  logDepartures(pool, logger, clock);
  const unmined = watchUnmined({ pool, chain, clock, logger, metrics: parts.metrics });
  const file =
    settings.poolFile === undefined
      ? undefined
      : createPoolFile(settings.poolFile, { pool, recoverSenders, clock, logger });
  const expiry = new PoolExpiry(pool, settings.pool.retentionMs, clock);

  return {
    pool,
    admission: new AdmissionQueue(pool, recoverSenders),
    unmined,
    begin() {
      expiry.begin();
      file?.restore();
    },
    async close() {
      expiry.close();
      await file?.save();
    },
  };
}
