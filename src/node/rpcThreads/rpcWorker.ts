import { workerData } from "node:worker_threads";
import { createInlineCalls } from "../../calls/inline/inlineCalls.ts";
import { openChainView } from "../../chain/view/chainView.ts";
import { openShownHead } from "../../chain/view/shownHead.ts";
import type { HttpSettings } from "../../config/settings.ts";
import { loadInterpreter } from "../../execution/blockSession.ts";
import type { SimulationJob, SimulationResult, Simulator } from "../../execution/simulation/callRequest.ts";
import { createRemoteLogger } from "../../observability/remoteLogger.ts";
import { durationClock, systemClock } from "../../primitives/clock.ts";
import type { Requester } from "../../primitives/requester.ts";
import { createDispatcher } from "../../rpc/dispatcher.ts";
import { METHODS } from "../../rpc/methods/registry.ts";
import { createRpcMetrics } from "../../rpc/rpcMetrics.ts";
import type { Objections } from "../../rpc/server/health.ts";
import { openHttpServer } from "../../rpc/server/http.ts";
import { createMessageReader } from "../../rpc/server/messageReader.ts";
import type { RpcServer } from "../../rpc/server/server.ts";
import { shareConnections } from "../../rpc/server/sharedConnections.ts";
import { createCountSender } from "../../rpc/threads/countSender.ts";
import { callerNumbers, createMainThread } from "../../rpc/threads/mainThread.ts";
import type { FromThread, ToThread } from "../../rpc/threads/protocol.ts";
import { createTransactionSender } from "../../rpc/threads/sender.ts";
import { threadBackend, threadMethods } from "../../rpc/threads/threadMethods.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { createRemoteSubmission } from "../../txpool/submission.ts";
import { openWorkerPort, receiveMessages } from "../../workers/workerPort.ts";
import { httpServerSettings, offered } from "../callerAccess.ts";
import { localPorts } from "./localPorts.ts";
import type { RpcThreadData } from "./threadData.ts";

/*
 * A thread that answers callers of JSON-RPC over HTTP: reads the port that all such threads share, the database at a
 * snapshot of the newest head, and asks the main thread for the rest.
 */
const data = workerData as RpcThreadData;
const port = openWorkerPort();
const post = (message: FromThread): void => port.postMessage(message);
const logger = createRemoteLogger(data.logLevels, systemClock, (line) => post({ kind: "log", line }));
const database = await openLevelDatabase({ path: data.databasePath, readOnlyThread: true });
const view = openChainView({
  database,
  spec: data.spec,
  shownHead: openShownHead(data.shownHead),
  logger: logger.child("chain"),
});
const main = createMainThread(post);
const transactions = createTransactionSender((message, transferred) =>
  port.postMessage(message, [...transferred]),
);
await loadInterpreter();

let access = data.http;
let server: RpcServer | undefined;
const current = (): HttpSettings => access;
const counts = data.isMetered
  ? createCountSender((all) => post({ kind: "counted", counts: all }))
  : undefined;
const metrics = counts && createRpcMetrics(() => performance.now() / 1000, counts.count);
const reader = createMessageReader(durationClock, metrics);

async function open(socket: number): Promise<void> {
  const rpcLogger = logger.child("rpc");
  const methods = threadMethods(METHODS, { main, view });
  const backend = threadBackend({
    ...localPorts(data, view),
    simulator: simulatorOfThread(),
    submit: createRemoteSubmission(transactions.add),
  });
  const dispatcher = createDispatcher(offered(methods, current), { backend, logger: rpcLogger, metrics });
  const readiness = async (query: URLSearchParams): Promise<Objections> => {
    const objections = await main.ask({ kind: "readiness", query: query.toString() });
    return objections === "busy" ? ["too many requests wait"] : objections;
  };
  const shared = shareConnections(data.connections, data.index);
  const settings = { ...httpServerSettings(data.http, current), socket, shared };
  const opened = await openHttpServer(settings, {
    dispatcher,
    readiness,
    reader,
    logger: rpcLogger,
    metrics,
  });
  if (opened.ok) server = opened.value;
  post({ kind: "opened", failure: opened.ok ? undefined : opened.error.message });
}

/** Short calls run here; others on the threads for calls, by way of the main thread. */
function simulatorOfThread(): Simulator {
  const callerOf = callerNumbers();
  const lasting: Simulator = {
    async run(job: SimulationJob, requester: Requester): Promise<SimulationResult> {
      const result = await main.ask({ kind: "simulate", job, caller: callerOf(requester) }, requester);
      return result === "busy" ? { kind: "busy" } : result;
    },
  };
  return createInlineCalls({
    spec: data.spec,
    gasCap: data.gasCap,
    chain: Object.assign(view, { isExecuting: false, isRewriting: false }),
    pool: lasting,
    nowMs: () => performance.now(),
  });
}

async function close(): Promise<void> {
  await server?.close();
  reader.close();
  counts?.flush();
  main.close();
  view.close();
  await database.close();
  post({ kind: "closed" });
}

receiveMessages<ToThread>(port, (message) => {
  switch (message.kind) {
    case "answers":
      main.receive(message.answers);
      break;
    case "submitted":
      transactions.receive(message);
      break;
    case "head":
      view.refresh();
      break;
    case "flush":
      counts?.flush();
      post({ kind: "flushed" });
      break;
    case "open":
      void open(message.socket);
      break;
    case "access":
      access = message.access as HttpSettings;
      break;
    case "close":
      void close();
      break;
  }
});
