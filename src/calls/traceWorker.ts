import { workerData } from "node:worker_threads";
import { loadInterpreter } from "../execution/blockSession.ts";
import { unlessRemoved } from "../state/keptNodes.ts";
import { StateHistory } from "../state/stateHistory.ts";
import { readBody } from "../storage/blocks/bodyStore.ts";
import { readHeader } from "../storage/blocks/headerStore.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { runTrace } from "../tracers/runTrace.ts";
import type { TraceJob, TraceResult } from "../tracers/traceJob.ts";
import type { TraceSource } from "../tracers/traceSource.ts";
import { type Unread, unseal } from "../workers/sealed.ts";
import { runJobs } from "../workers/workerHost.ts";
import type { CallWorkerData } from "./callWorker.ts";

/** The worker's start data. */
export interface TraceWorkerData extends CallWorkerData {
  readonly limitBytes: number;
}

/** Worker of the trace pool. Like a call worker, it reads the database itself and holds no state of its own. */
const { databasePath, spec, gasCap, limitBytes, history: limits } = workerData as TraceWorkerData;
const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });
const history = new StateHistory(database, limits);

const source: TraceSource = {
  spec,
  gasCap,
  limitBytes,
  nowNs: () => process.hrtime.bigint(),
  stateAt: (number) => history.at(number),
  hashOf: (number) => readHeader(database, number)?.hash,
  block(number) {
    const found = readHeader(database, number);
    const transactions = found && readBody(database, found);
    return transactions && { header: found.header, hash: found.hash, transactions };
  },
};

runJobs<Unread<TraceJob>, TraceResult>({
  prepare: loadInterpreter,
  perform: (job, slice) => unlessRemoved(() => runTrace(unseal(job), { ...source, slice })),
  transferred: (result) => (result.kind === "traced" ? result.pieces.map(({ buffer }) => buffer) : []),
});
