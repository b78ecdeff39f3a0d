import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { SimulationJob, SimulationResult } from "../execution/simulation/callRequest.ts";
import type { StateQuery, StateQueryResult } from "../execution/simulation/stateQuery.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import type { Requester } from "../primitives/requester.ts";
import { DEFAULT_HISTORY_LIMITS, type HistoryLimits } from "../state/stateHistory.ts";
import type { Unread } from "../workers/sealed.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import { WorkerPool, type WorkerPoolSettings } from "../workers/workerPool.ts";
import type { WorkLoad } from "../workers/workLoad.ts";
import type { CallJob, CallWorkerData } from "./callWorker.ts";

/**
 * Runs simulated calls and state queries on worker threads that read the database themselves, for at most some seconds each.
 */
export interface CallPool {
  /** A job whose requester has disconnected ends as timed out. */
  run(job: Unread<SimulationJob>, requester: Requester): Promise<SimulationResult>;
  query(job: Unread<StateQuery>, requester: Requester): Promise<StateQueryResult>;
  /** Starts the workers for calls in a moment, unless the first call does. A node that is stopped at once saves them. */
  begin(): void;
  /** Number of workers for calls, of busy ones, and of waiting calls. */
  readonly load: WorkLoad;
  close(): Promise<void>;
}

export interface CallPoolSettings extends WorkerPoolSettings {
  /** The gas cap (--rpc-gas-cap); 0 for none. */
  readonly gasCap: bigint;
}

export interface CallPoolParts {
  /** Directory of the database, which this thread has open. */
  readonly databasePath: string;
  readonly spec: ChainSpec;
  /** Sizes of the caches of each worker; DEFAULT_HISTORY_LIMITS unless given. */
  readonly history?: HistoryLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const DEFAULT_CALL_POOL_SETTINGS: CallPoolSettings = {
  threads: 1,
  timeoutMs: 5000,
  waitingLimit: 10_000,
  gasCap: 0n,
};

/**
 * State queries have a worker of their own, with a longer time limit: one may execute a block of thousands of transactions
 * again, and short calls must not wait behind it.
 */
const STATE_QUERY_SETTINGS: WorkerPoolSettings = { threads: 1, timeoutMs: 30_000, waitingLimit: 1000 };

/** Leaves the first seconds to the rest of the start. */
const BEGIN_AFTER_MS = 5000;

export function createCallPool(settings: CallPoolSettings, parts: CallPoolParts): CallPool {
  const { clock } = parts;
  let later: Timer | undefined;
  const poolParts = {
    name: "callWorker",
    entry: workerEntry("callWorker"),
    workerData: workerDataOf(settings, parts),
    clock,
    logger: parts.logger,
    timedOut: (limitMs: number) => ({ kind: "timedOut", limitMs }) as const,
    exhausted: { kind: "tooLarge" } as const,
    busy: { kind: "busy" } as const,
  };
  const calls = new WorkerPool<CallJob, SimulationResult | StateQueryResult>(settings, poolParts);
  const stateQueries = new WorkerPool<CallJob, SimulationResult | StateQueryResult>(
    STATE_QUERY_SETTINGS,
    poolParts,
  );
  return {
    // A worker answers each job with a result of its kind, hence the casts.
    run: (job, requester) => calls.run({ task: "simulate", job }, requester) as Promise<SimulationResult>,
    query: (job, requester) =>
      stateQueries.run({ task: "query", job }, requester) as Promise<StateQueryResult>,
    begin() {
      later = clock.at(clock.nowMs() + BEGIN_AFTER_MS, () => calls.start());
    },
    get load() {
      return calls.load;
    },
    async close() {
      later?.cancel();
      await Promise.all([calls.close(), stateQueries.close()]);
    },
  };
}

/** Start data of call and trace workers, without the genesis accounts, which they do not need. */
export function workerDataOf(
  { gasCap }: Pick<CallPoolSettings, "gasCap">,
  {
    databasePath,
    spec,
    history = DEFAULT_HISTORY_LIMITS,
  }: Pick<CallPoolParts, "databasePath" | "spec" | "history">,
): CallWorkerData {
  return { databasePath, spec: { ...spec, genesis: { ...spec.genesis, alloc: [] } }, gasCap, history };
}
