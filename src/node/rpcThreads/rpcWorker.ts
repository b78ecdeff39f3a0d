import { workerData } from "node:worker_threads";
import { createInlineCalls } from "../../calls/inline/inlineCalls.ts";
import { openChainView } from "../../chain/view/chainView.ts";
import { openShownHead } from "../../chain/view/shownHead.ts";
import type { HttpSettings, RpcServerSettings, Settings, WebSocketSettings } from "../../config/settings.ts";
import { loadInterpreter } from "../../execution/blockSession.ts";
import type { SimulationJob, SimulationResult, Simulator } from "../../execution/simulation/callRequest.ts";
import { createRemoteLogger } from "../../observability/remoteLogger.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { durationClock, systemClock } from "../../primitives/clock.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { Result } from "../../primitives/result.ts";
import type { Login } from "../../rpc/access/gate.ts";
import { createDispatcher } from "../../rpc/dispatcher.ts";
import { METHODS } from "../../rpc/methods/registry.ts";
import { createRpcMetrics } from "../../rpc/rpcMetrics.ts";
import type { Objections } from "../../rpc/server/health.ts";
import { openHttpServer } from "../../rpc/server/http.ts";
import { createMessageReader } from "../../rpc/server/messageReader.ts";
import type { RpcServer, ServerErrorCode } from "../../rpc/server/server.ts";
import { shareConnections } from "../../rpc/server/sharedConnections.ts";
import { openWebSocketServer } from "../../rpc/server/websocket.ts";
import { createSubscriptionMethods } from "../../rpc/subscriptions/subscriptions.ts";
import { createCountSender } from "../../rpc/threads/countSender.ts";
import { createEventFeed, openInterests } from "../../rpc/threads/eventFeed.ts";
import { callerNumbers, createMainThread } from "../../rpc/threads/mainThread.ts";
import type { FromThread, ToThread } from "../../rpc/threads/protocol.ts";
import { createTransactionSender } from "../../rpc/threads/sender.ts";
import { threadBackend, threadMethods } from "../../rpc/threads/threadMethods.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { createRemoteSubmission } from "../../txpool/submission.ts";
import { openWorkerPort, receiveMessages } from "../../workers/workerPort.ts";
import { serverGate } from "../access/serverGate.ts";
import { httpServerSettings, offered, webSocketServerSettings } from "../callerAccess.ts";
import { localPorts } from "./localPorts.ts";
import type { RpcThreadData } from "./threadData.ts";

/*
 * A thread that answers callers of JSON-RPC: reads the ports that all such threads share, the database at a
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

let access: Pick<Settings, "http" | "webSocket"> = data.servers;
const servers: RpcServer[] = [];
const counts = data.isMetered
  ? createCountSender((all) => post({ kind: "counted", counts: all }))
  : undefined;
const metrics = counts && createRpcMetrics(() => performance.now() / 1000, counts.count);
const reader = createMessageReader(durationClock, metrics);
const rpcLogger = logger.child("rpc");
const backend = threadBackend({
  ...localPorts(data, view),
  simulator: simulatorOfThread(),
  submit: createRemoteSubmission(transactions.add),
});
const methods = threadMethods(METHODS, { main, view });
const interests = openInterests(1, data.interests);
const lostListeners: (() => void)[] = [];
const events = createEventFeed(
  (kinds) => interests.change(data.index, kinds),
  post,
  () => {
    for (const listener of lostListeners) listener();
  },
);

async function open({ http, webSocket }: ToThread & { readonly kind: "open" }): Promise<void> {
  const opened = [
    http === undefined ? undefined : await openHttp(http),
    webSocket === undefined ? undefined : await openWebSocket(webSocket),
  ];
  let failure: string | undefined;
  for (const server of opened) {
    if (server?.ok === true) servers.push(server.value);
    else failure ??= server?.error.message;
  }
  post({ kind: "opened", failure });
}

function openHttp(socket: number): Promise<Result<RpcServer, ServerErrorCode>> {
  const configured = expectDefined(data.servers.http, "the settings of HTTP");
  const current = (): HttpSettings => access.http ?? configured;
  const dispatcher = createDispatcher(offered(methods, current), { backend, logger: rpcLogger, metrics });
  const readiness = async (query: URLSearchParams): Promise<Objections> => {
    const objections = await main.ask({ kind: "readiness", query: query.toString() });
    return objections === "busy" ? ["too many requests wait"] : objections;
  };
  const shared = shareConnections(data.connections.http, data.index);
  const settings = { ...httpServerSettings(configured, current), socket, shared };
  const gate = serverGate(configured, current, gateParts("http", configured));
  return openHttpServer(settings, { dispatcher, readiness, reader, gate, logger: rpcLogger, metrics });
}

function openWebSocket(socket: number): Promise<Result<RpcServer, ServerErrorCode>> {
  const configured = expectDefined(data.servers.webSocket, "the settings of WebSocket");
  const current = (): WebSocketSettings => access.webSocket ?? configured;
  const newest = new Int32Array(data.subscriptions);
  const subscriptions = createSubscriptionMethods({
    chain: view,
    pool: events.pool,
    onSyncChanged: events.onSyncChanged,
    logger: rpcLogger,
    metrics,
    nextId: () => Atomics.add(newest, 0, 1) + 1,
    onLost: (listener) => void lostListeners.push(listener),
  });
  const offer = offered([...methods, ...subscriptions], current);
  const dispatcher = createDispatcher(offer, { backend, logger: rpcLogger, metrics });
  const shared = shareConnections(data.connections.webSocket, data.index);
  const settings = { ...webSocketServerSettings(configured, current), socket, shared };
  const gate = serverGate(configured, current, gateParts("webSocket", configured));
  return openWebSocketServer(settings, {
    dispatcher,
    reader,
    gate,
    clock: durationClock,
    logger: rpcLogger,
    metrics,
  });
}

/** Log-ins are checked on the main thread's behalf, where the keys are. */
function gateParts(
  server: "http" | "webSocket",
  { authentication }: RpcServerSettings,
): Parameters<typeof serverGate>[2] {
  const login: Login = (attempt) => main.ask({ kind: "login", server, attempt });
  return {
    issuedKey: data.issuedKeys[server],
    login: authentication?.users === undefined ? undefined : login,
    nowMs: systemClock.nowMs,
    logger: rpcLogger,
    metrics,
  };
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
  await Promise.all(servers.map((server) => server.close()));
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
    case "poolEvents":
    case "syncing":
      events.receive(message);
      break;
    case "head":
      view.refresh();
      break;
    case "flush":
      counts?.flush();
      post({ kind: "flushed" });
      break;
    case "open":
      void open(message);
      break;
    case "access":
      access = message.access as typeof access;
      break;
    case "close":
      void close();
      break;
  }
});
