import type { Chain } from "../chain/createChain.ts";
import type { RecoverSigners } from "../chain/signerRecovery.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Clock } from "../primitives/clock.ts";
import { AdmissionQueue } from "./admissionQueue.ts";
import { logDepartures } from "./departureLog.ts";
import { PoolExpiry } from "./expiry.ts";
import type { TxPoolLimits } from "./limits.ts";
import { PoolFile } from "./poolFile.ts";
import { declarePoolMetrics } from "./poolMetrics.ts";
import type { AskContract, PoolChainView, PoolParts } from "./ports.ts";
import { TxPool } from "./txPool.ts";
import { UnminedWatch } from "./unminedWatch.ts";

/** The pool with its expiry timer and its saved file. */
export interface OpenPool {
  readonly pool: TxPool;
  /** The way of callers' transactions into it. */
  readonly admission: AdmissionQueue;
  readonly unmined: UnminedWatch;
  /** Asks about what passes all checks before the sender's; absent where no contract decides who may send. */
  readonly askContract: AskContract | undefined;
  /** Starts the expiry and restores the saved pool in the background; called once the servers are open. */
  begin(): void;
  /** Saves the pool; called when no more transactions arrive. */
  close(): Promise<void>;
}

interface OpenPoolSettings {
  readonly limits: TxPoolLimits;
  /** File that keeps the pool over a restart; undefined when it is not kept. */
  readonly file: string | undefined;
}

export interface OpenPoolParts {
  readonly chain: Pick<Chain, "onHeadChanged">;
  /** The chain as the rules of the pool need it. */
  readonly view: PoolChainView;
  readonly recoverSigners: RecoverSigners;
  readonly isSenderPermitted?: PoolParts["isSenderPermitted"];
  /** Absent where no contract decides who may send. */
  readonly askContract?: AskContract | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent where metrics are off. */
  readonly metrics?: Metrics | undefined;
}

export function openPool(settings: OpenPoolSettings, parts: OpenPoolParts): OpenPool {
  const { chain, view, recoverSigners, isSenderPermitted, clock, logger } = parts;
  const pool = new TxPool(settings.limits, {
    chain: view,
    clock,
    ...(isSenderPermitted !== undefined && { isSenderPermitted }),
  });
  const askContract = parts.askContract && askingFor(pool, parts.askContract);
  chain.onHeadChanged("pool", (change) => pool.headChanged(change));
  logRefusals(pool, logger);
  logDepartures(pool, logger, clock);
  if (parts.metrics !== undefined) declarePoolMetrics(parts.metrics, pool, settings.limits);
  const unmined = new UnminedWatch({ pool, chain, clock, logger, metrics: parts.metrics });
  const file =
    settings.file === undefined
      ? undefined
      : new PoolFile(settings.file, { pool, recoverSigners, askContract, clock, logger });
  const expiry = new PoolExpiry(pool, settings.limits.retentionMs, clock);

  return {
    pool,
    admission: new AdmissionQueue(pool, recoverSigners, askContract),
    unmined,
    askContract,
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

/** A call of the contract takes far longer than the pool's own checks, so what these refuse is not asked about. */
function askingFor(pool: Pick<TxPool, "mustAskContract">, ask: AskContract): AskContract {
  return async (transaction, origin) =>
    pool.mustAskContract(transaction, origin) ? ask(transaction, origin) : "notAsked";
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
