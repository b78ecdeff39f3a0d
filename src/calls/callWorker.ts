import { workerData } from "node:worker_threads";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { loadInterpreter } from "../execution/blockSession.ts";
import type { SimulationJob, SimulationResult } from "../execution/simulation/callRequest.ts";
import { runSimulation } from "../execution/simulation/runSimulation.ts";
import type { StateQuery, StateQueryResult } from "../execution/simulation/stateQuery.ts";
import type { TimeSlice } from "../primitives/timeSlice.ts";
import { unlessRemoved } from "../state/keptNodes.ts";
import { type HistoryLimits, StateHistory } from "../state/stateHistory.ts";
import { readHeader } from "../storage/blocks/headerStore.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { type Unread, unseal } from "../workers/sealed.ts";
import { runJobs } from "../workers/workerHost.ts";
import { queryState } from "./queryState.ts";

/** The worker's start data. */
export interface CallWorkerData {
  readonly databasePath: string;
  /** The chain's specification without the genesis accounts, which are not needed here. */
  readonly spec: ChainSpec;
  readonly gasCap: bigint;
  /** Sizes of the worker's caches. */
  readonly history: HistoryLimits;
}

/**
 * Worker of the call pool. It reads headers and states from the database that the main thread has open, so a job is a few
 * hundred bytes. It holds no state of its own, because the pool terminates it when a job takes too long.
 */
const { databasePath, spec, gasCap, history: limits } = workerData as CallWorkerData;
const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });
const history = new StateHistory(database, limits);

/** A job that the worker receives. */
export type CallJob =
  | { readonly task: "simulate"; readonly job: Unread<SimulationJob> }
  | { readonly task: "query"; readonly job: Unread<StateQuery> };

runJobs<CallJob, SimulationResult | StateQueryResult>({
  prepare: loadInterpreter,
  perform: ({ task, job }, slice) =>
    unlessRemoved(async () =>
      task === "simulate"
        ? run(unseal(job), slice)
        : queryState({ spec, database, history, gasCap, slice }, unseal(job)),
    ),
});

async function run(job: SimulationJob, slice: TimeSlice | undefined): Promise<SimulationResult> {
  const found = readHeader(database, job.blockNumber);
  const state = found === undefined ? undefined : history.at(job.blockNumber);
  if (found === undefined || state === undefined) return { kind: "stateUnavailable" };
  const ancestorHash = (number: bigint) => readHeader(database, number)?.hash;
  return runSimulation(job, { spec, header: found.header, state, ancestorHash, gasCap, slice });
}
