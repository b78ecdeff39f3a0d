import { parentPort, workerData } from "node:worker_threads";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { InspectionJob, InspectionResult } from "../execution/inspection.ts";
import { runSimulation } from "../execution/runSimulation.ts";
import type { SimulationJob, SimulationResult } from "../execution/simulation.ts";
import { present } from "../primitives/assert.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { createStateHistory } from "../state/history.ts";
import { readHeader } from "../storage/headerStore.ts";
import { openLevelDatabase } from "../storage/levelDatabase.ts";
import { inspect } from "./inspect.ts";
import type { ThreadAnswer } from "./killableThreads.ts";
import { createTurns } from "./turns.ts";

/** What a thread is started with. */
export interface SimulationWorkerData {
  readonly databasePath: string;
  /** Without the accounts of genesis, which nothing here asks for. */
  readonly spec: ChainSpec;
  readonly gasCap: bigint;
}

/**
 * A thread of the simulation pool. It reads headers and states from the database that the main thread has open, so a
 * job is a few hundred bytes; and since the main thread ends it when a job takes too long, it keeps nothing of value.
 */
const port = present(parentPort, "the port of a worker thread");
const { databasePath, spec, gasCap } = workerData as SimulationWorkerData;
const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });
const history = createStateHistory(database);

/** What a thread is asked. */
export type ThreadJob =
  | { readonly task: "simulate"; readonly job: SimulationJob }
  | { readonly task: "inspect"; readonly job: InspectionJob };

/** A job may have to wait (for code that is loaded at its first use), and the next one must not overtake it. */
const turns = createTurns();

port.on("message", ({ task, job }: ThreadJob) => {
  turns
    .take<SimulationResult | InspectionResult>(() =>
      task === "simulate" ? run(job) : inspect({ spec, database, history, gasCap }, job),
    )
    .then(
      (result) => answer({ kind: "done", result }),
      (error: unknown) => answer({ kind: "failed", message: messageOf(error) }),
    );
});
answer({ kind: "ready" });

async function run(job: SimulationJob): Promise<SimulationResult> {
  const found = readHeader(database, job.blockNumber);
  const state = found === undefined ? undefined : history.at(job.blockNumber);
  if (found === undefined || state === undefined) return { kind: "stateUnavailable" };
  const ancestorHash = (number: bigint) => readHeader(database, number)?.hash;
  return runSimulation(job, { spec, header: found.header, state, ancestorHash, gasCap });
}

function answer(message: ThreadAnswer<SimulationResult | InspectionResult>): void {
  port.postMessage(message);
}
