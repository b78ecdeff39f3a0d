import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { SimulationResult, Simulator } from "../execution/simulation.ts";
import type { StateQuery, StateQueryResult, StateQueryRunner } from "../execution/stateQuery.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Requester } from "../primitives/requester.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import { createThreads, type ThreadSettings } from "../workers/workerPool.ts";
import type { WorkLoad } from "../workers/workLoad.ts";
import type { CallJob, SimulationWorkerData } from "./callWorker.ts";

/** Simulated calls and looks into states, each for some seconds at most, on threads that read the database themselves. */
export interface SimulationPool extends Simulator, StateQueryRunner {
  /** Starts the threads for calls, which start with the first call otherwise. */
  start(): void;
  /** Threads, those of them at work, and jobs that wait for one. */
  readonly load: WorkLoad;
  close(): Promise<void>;
}

export interface SimulationSettings extends ThreadSettings {
  /** --rpc-gas-cap; 0 for none. */
  readonly gasCap: bigint;
}

export interface SimulationParts {
  /** Folder of the database, which this thread has open. */
  readonly databasePath: string;
  readonly spec: ChainSpec;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const DEFAULT_SIMULATION_SETTINGS: SimulationSettings = {
  threads: 1,
  timeoutMs: 5000,
  waitingLimit: 10_000,
  gasCap: 0n,
};

/**
 * Looks into states have a thread of their own, with more time: a block of thousands of transactions may have to be
 * executed again, and short calls do not wait behind that.
 */
const STATE_QUERY_SETTINGS: ThreadSettings = { threads: 1, timeoutMs: 30_000, waitingLimit: 1000 };

export function createSimulationPool(settings: SimulationSettings, parts: SimulationParts): SimulationPool {
  const threadParts = {
    name: "simulationWorker",
    entry: workerEntry(import.meta.url, "callWorker"),
    workerData: workerDataOf(settings, parts),
    clock: parts.clock,
    logger: parts.logger,
    timedOut: (limitMs: number) => ({ kind: "timedOut", limitMs }) as const,
    exhausted: { kind: "tooLarge" } as const,
    busy: { kind: "busy" } as const,
  };
  const threads = createThreads<CallJob, SimulationResult | StateQueryResult>(settings, threadParts);
  const stateQueries = createThreads<CallJob, SimulationResult | StateQueryResult>(
    STATE_QUERY_SETTINGS,
    threadParts,
  );
  return {
    // A thread answers a job with a result of its kind.
    run: (job, requester) => threads.run({ task: "simulate", job }, requester) as Promise<SimulationResult>,
    query: <Job extends StateQuery>(job: Job, requester: Requester) =>
      stateQueries.run({ task: "inspect", job }, requester) as Promise<StateQueryResult<Job>>,
    start: () => threads.start(),
    get load() {
      return threads.load;
    },
    async close() {
      await Promise.all([threads.close(), stateQueries.close()]);
    },
  };
}

/** The accounts of genesis stay here: nobody there asks for them. */
export function workerDataOf(
  { gasCap }: Pick<SimulationSettings, "gasCap">,
  { databasePath, spec }: Pick<SimulationParts, "databasePath" | "spec">,
): SimulationWorkerData {
  return { databasePath, spec: { ...spec, genesis: { ...spec.genesis, alloc: [] } }, gasCap };
}
