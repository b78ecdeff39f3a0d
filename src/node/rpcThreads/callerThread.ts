import type { MessagePort } from "node:worker_threads";
import { openIndexDatabase } from "../../accounts/indexDatabase.ts";
import { type AccountIndexReader, createIndexReader } from "../../accounts/indexReader.ts";
import { InlineCalls } from "../../calls/inline/inlineCalls.ts";
import { ChainView } from "../../chain/view/chainView.ts";
import { openShownHead } from "../../chain/view/shownHead.ts";
import { loadInterpreter } from "../../execution/blockSession.ts";
import type { Simulator } from "../../execution/simulation/callRequest.ts";
import { createRemoteLogger } from "../../observability/remoteLogger.ts";
import { durationClock, systemClock } from "../../primitives/clock.ts";
import { METHODS } from "../../rpc/methods/registry.ts";
import type { RpcBackend } from "../../rpc/ports.ts";
import { createRpcMetrics } from "../../rpc/rpcMetrics.ts";
import { CallerTime } from "../../rpc/server/callerTime.ts";
import { THREAD_HTTP_ANSWERS_BYTES, THREAD_WEBSOCKET_ANSWERS_BYTES } from "../../rpc/server/limits.ts";
import { MessageReader } from "../../rpc/server/messageReader.ts";
import { shareHosts } from "../../rpc/server/sharedHosts.ts";
import { shareTotals } from "../../rpc/server/sharedTotals.ts";
import { createHandshakeTime } from "../../rpc/server/tls/handshakeTime.ts";
import { createEventFeed, type EventFeed, openInterests } from "../../rpc/threads/callerSide/eventFeed.ts";
import { createLastingWork, type LastingWork } from "../../rpc/threads/callerSide/lastingWork.ts";
import { createLogForwarder } from "../../rpc/threads/callerSide/logForwarder.ts";
import {
  createMainThread,
  type MainThread,
  type SharedRequests,
} from "../../rpc/threads/callerSide/mainThread.ts";
import {
  createMetricsForwarder,
  type MetricsForwarder,
} from "../../rpc/threads/callerSide/metricsForwarder.ts";
import { threadBackend, threadMethods } from "../../rpc/threads/callerSide/threadMethods.ts";
import {
  createTransactionSender,
  type SharedTransactions,
  type TransactionSender,
} from "../../rpc/threads/callerSide/transactionSender.ts";
import type { FromThread, ToThread } from "../../rpc/threads/protocol.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { createRemoteSubmission } from "../../txpool/submission.ts";
import { MadeUpCalls } from "../../warmup/madeUpCalls.ts";
import { localPorts } from "./localPorts.ts";
import type { OpenMessage, RpcThreadData, ServerSettings } from "./threadData.ts";
import { openThreadServers, type ThreadServers } from "./threadServers.ts";

/** What answers the callers of one thread, once it is open. */
export interface CallerThread {
  receive(message: ToThread): void;
}

/**
 * Reads the database at a snapshot of the newest head, answers callers on ports that all such threads share, and asks the
 * main thread for the rest. Resolves when it listens, or has reported why it does not.
 */
export async function openCallerThread(
  { data, http, webSocket, explorer }: OpenMessage,
  port: MessagePort,
): Promise<CallerThread> {
  const post = (message: FromThread, transferred: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...transferred]);
  const totals = shareTotals(data.held.totals, data.index, {
    httpAnswers: THREAD_HTTP_ANSWERS_BYTES,
    webSocketAnswers: THREAD_WEBSOCKET_ANSWERS_BYTES,
  });
  const sendLine = createLogForwarder((line, bytes) => post({ kind: "log", line, bytes }), totals);
  const logger = createRemoteLogger(data.logLevels, systemClock, sendLine);
  const database = await openLevelDatabase({ path: data.databasePath, readOnlyThread: true });
  const accounts = accountsOf(data, post);
  const view = new ChainView({
    database,
    spec: data.spec,
    shownHead: openShownHead(data.shownHead),
    logger: logger.child("chain"),
    limits: data.viewLimits,
  });
  const transactions = createTransactionSender(post, transactionsOfAll(data));
  const { feed, onLost } = openEvents(data, post);
  const counts = data.isMetered
    ? createMetricsForwarder((all) => post({ kind: "counted", counts: all }), totals.counts)
    : undefined;
  const metrics = counts && createRpcMetrics(() => performance.now() / 1000, counts.count);
  const reader = new MessageReader(durationClock, metrics, shareHosts(data.held.reading, data.index));
  const main = createMainThread(post, totals, requestsOfAll(data));
  const backendWith = backendsOf(data, { view, main, accounts });
  const methods = threadMethods(METHODS, { main, view });
  const servers = await openThreadServers(
    data,
    { http, webSocket, explorer },
    {
      methods,
      backend: backendWith(createRemoteSubmission(transactions.add)),
      view,
      main,
      reader,
      callerTime: new CallerTime(),
      handshakeTime: createHandshakeTime(durationClock),
      metrics,
      feed,
      totals,
      onLost,
      logger: logger.child("rpc"),
    },
  );
  post({ kind: "opened", failure: servers.failure });
  // The first answer does not wait for it: meanwhile calls run on the threads for them.
  void loadInterpreter();

  const madeUp = new MadeUpCalls(methods, backendWith, durationClock);

  async function close(): Promise<void> {
    await servers.close();
    madeUp.close();
    counts?.flush();
    main.close();
    view.close();
    await accounts?.close();
    await database.close();
    post({ kind: "closed" });
  }

  return receiver({ main, transactions, feed, view, counts, servers, madeUp, post, close });
}

/** The thread's backend with any way to the pool. */
function backendsOf(
  data: RpcThreadData,
  {
    view,
    main,
    accounts,
  }: {
    readonly view: ChainView;
    readonly main: MainThread;
    readonly accounts: AccountIndexReader | undefined;
  },
): (submit: RpcBackend["submit"]) => RpcBackend {
  const lasting = createLastingWork(main);
  const ports = {
    ...lasting,
    ...localPorts(data, view, lasting),
    accounts,
    simulator: simulatorOf(data, view, lasting),
  };
  return (submit) => threadBackend({ ...ports, submit });
}

function requestsOfAll({ held, index }: RpcThreadData): SharedRequests {
  return {
    requests: shareHosts(held.requests, index),
    requestBytes: shareHosts(held.requestBytes, index),
  };
}

function transactionsOfAll({ held, index }: RpcThreadData): SharedTransactions {
  return {
    transactions: shareHosts(held.transactions, index),
    transactionBytes: shareHosts(held.transactionBytes, index),
  };
}

interface Parts {
  readonly main: MainThread;
  readonly transactions: TransactionSender;
  readonly feed: EventFeed;
  readonly view: ChainView;
  readonly counts: MetricsForwarder | undefined;
  readonly servers: ThreadServers;
  readonly madeUp: MadeUpCalls;
  post(message: FromThread): void;
  close(): Promise<void>;
}

function receiver(parts: Parts): CallerThread {
  const { main, transactions, feed, view, counts, servers, madeUp, post, close } = parts;
  return {
    receive(message) {
      switch (message.kind) {
        case "answers":
          main.receive(message.answers, message.bytes);
          break;
        case "submitted":
          transactions.receive(message);
          break;
        case "poolEvents":
          feed.receive(message);
          break;
        case "syncing":
          feed.receive(message);
          post({ kind: "worked", on: message.kind });
          break;
        case "head":
          view.refresh();
          post({ kind: "worked", on: message.kind });
          break;
        case "flush":
          counts?.flush();
          post({ kind: "flushed" });
          break;
        case "access":
          servers.changeAccess(message.access as ServerSettings);
          post({ kind: "worked", on: message.kind });
          break;
        case "warmUp":
          void madeUp.answer(message.calls).then(() => post({ kind: "worked", on: message.kind }));
          break;
        case "close":
          void close();
          break;
      }
    },
  };
}

/** The events of the main thread, and what is to be called when some were lost. */
function openEvents(
  { interests: memory, index }: RpcThreadData,
  post: (message: FromThread) => void,
): { readonly feed: EventFeed; readonly onLost: (listener: () => void) => void } {
  const interests = openInterests(1, memory);
  const listeners: (() => void)[] = [];
  const feed = createEventFeed(
    (kinds) => interests.change(index, kinds),
    post,
    () => {
      for (const listener of listeners) listener();
    },
  );
  return { feed, onLost: (listener) => void listeners.push(listener) };
}

/** The index by address, opened when it is asked for the first time. The main thread hears of damage. */
function accountsOf(
  { accountIndex }: RpcThreadData,
  post: (message: FromThread) => void,
): AccountIndexReader | undefined {
  if (accountIndex === undefined) return undefined;
  const { path } = accountIndex;
  const open = () => openIndexDatabase({ path, readOnlyThread: true });
  return createIndexReader(open, accountIndex, (damage) => post({ kind: "indexDamage", damage }));
}

/** Calls have a slice here, and then a thread that can be terminated. */
function simulatorOf(
  { spec, gasCap }: RpcThreadData,
  view: ChainView,
  { simulator }: Pick<LastingWork, "simulator">,
): Simulator {
  return new InlineCalls({ spec, gasCap, chain: view, pool: simulator, nowMs: () => performance.now() });
}
