import type { MessagePort } from "node:worker_threads";
import { openIndexDatabase } from "../../accounts/indexDatabase.ts";
import { type AccountIndexReader, createIndexReader } from "../../accounts/indexReader.ts";
import { ChainView } from "../../chain/view/chainView.ts";
import { ShownHead } from "../../chain/view/shownHead.ts";
import { loadInterpreter } from "../../execution/blockSession.ts";
import { createRemoteLogger } from "../../observability/remoteLogger.ts";
import { durationClock, systemClock } from "../../primitives/clock.ts";
import { createRpcBackend } from "../../rpc/backend.ts";
import type { Core } from "../../rpc/core/core.ts";
import { createRemoteCore } from "../../rpc/core/remoteCore.ts";
import { METHODS } from "../../rpc/methods/registry.ts";
import { NewestHead, onNewestHead } from "../../rpc/onNewestHead.ts";
import { createRpcMetrics } from "../../rpc/rpcMetrics.ts";
import { CallerTime } from "../../rpc/server/callerTime.ts";
import { THREAD_HTTP_ANSWERS_BYTES, THREAD_MESSAGE_ANSWERS_BYTES } from "../../rpc/server/limits.ts";
import { MessageReader } from "../../rpc/server/messageReader.ts";
import { shareHosts } from "../../rpc/server/sharedHosts.ts";
import { shareTotals } from "../../rpc/server/sharedTotals.ts";
import { createHandshakeTime } from "../../rpc/server/tls/handshakeTime.ts";
import { EventFeed } from "../../rpc/threads/callerSide/eventFeed.ts";
import type { SharedHostCredit } from "../../rpc/threads/callerSide/hostCredit.ts";
import { HostCredit } from "../../rpc/threads/callerSide/hostCredit.ts";
import { LogForwarder } from "../../rpc/threads/callerSide/logForwarder.ts";
import { MetricsForwarder } from "../../rpc/threads/callerSide/metricsForwarder.ts";
import { TransactionSender } from "../../rpc/threads/callerSide/transactionSender.ts";
import { estimateSize } from "../../rpc/threads/estimateSize.ts";
import { openInterests } from "../../rpc/threads/interests.ts";
import {
  type FromThread,
  MESSAGES,
  type PostedToThread,
  type ThreadChannel,
  type ToThread,
} from "../../rpc/threads/messages.ts";
import type { CoreOutcome, CoreRequest } from "../../rpc/threads/protocol.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { MadeUpCalls } from "../../warmup/madeUpCalls.ts";
import { Channel, type Handlers } from "../../workers/channel/channel.ts";
import { RequestSender } from "../../workers/channel/requestSender.ts";
import { localPorts } from "./localPorts.ts";
import type { ServerSettings } from "./serverSettings.ts";
import type { OpenMessage, RpcThreadData } from "./threadData.ts";
import { openThreadServers } from "./threadServers.ts";

/** What answers the callers of one thread, once it is open. */
export interface CallerThread {
  receive(posted: PostedToThread): void;
}

/**
 * Reads the database at a snapshot of the newest head, answers callers on ports that all such threads share, and asks the
 * main thread for the rest. Resolves when it listens, or has reported why it does not.
 */
export async function openCallerThread(
  { data, sockets }: OpenMessage,
  port: MessagePort,
): Promise<CallerThread> {
  const place = { memory: data.held.credits, thread: data.index };
  const channel = new Channel<FromThread, ToThread>(MESSAGES, place, (posted, transferred) =>
    port.postMessage(posted, transferred),
  );
  const totals = shareTotals(data.held.totals, data.index, {
    httpAnswers: THREAD_HTTP_ANSWERS_BYTES,
    messageAnswers: THREAD_MESSAGE_ANSWERS_BYTES,
  });
  const lines = new LogForwarder(channel);
  const logger = createRemoteLogger(data.logLevels, systemClock, (line) => lines.forward(line));
  const database = await openLevelDatabase({ path: data.databasePath, readOnlyThread: true });
  const accounts = accountsOf(data, channel);
  const interests = openInterests(1, data.interests);
  const feed = new EventFeed((kinds) => interests.change(data.index, kinds));
  const view = new ChainView({
    database,
    spec: data.spec,
    shownHead: new ShownHead(data.shownHead),
    logger: logger.child("chain"),
    limits: data.viewLimits,
    onAwaited: (isAwaited) => feed.awaitHeads(isAwaited),
  });
  const transactions = new TransactionSender(
    channel,
    new HostCredit("transactions", hostCreditOf(data, "transactions", "transactionBytes")),
  );
  const counts = data.isMetered ? new MetricsForwarder(channel) : undefined;
  const metrics =
    counts &&
    createRpcMetrics(
      () => performance.now() / 1000,
      (one) => counts.count(one),
    );
  const reader = new MessageReader(durationClock, metrics, shareHosts(data.held.reading, data.index));
  const requests = new RequestSender<CoreRequest, CoreOutcome>(
    channel,
    new HostCredit("requests", hostCreditOf(data, "requests", "requestBytes")),
    estimateSize,
  );
  const coreWith = (sender: TransactionSender): Core => createRemoteCore(requests, sender);
  const core = coreWith(transactions);
  const newest = new NewestHead(view);
  const local = localPorts(data, { view, newest, jobs: core.jobs, accounts });
  const methods = onNewestHead(METHODS, newest);
  const servers = await openThreadServers(data, sockets, {
    methods,
    backend: createRpcBackend(local, core),
    view,
    serving: core.serving,
    reader,
    callerTime: new CallerTime(),
    handshakeTime: createHandshakeTime(durationClock),
    metrics,
    feed,
    totals,
    logger: logger.child("rpc"),
  });
  channel.send("opened", servers.failure);
  // The first answer does not wait for it: meanwhile calls run on the threads for them.
  void loadInterpreter();

  const madeUp = new MadeUpCalls(
    methods,
    (sender) => createRpcBackend(local, coreWith(sender)),
    durationClock,
  );

  async function close(): Promise<void> {
    await servers.close();
    madeUp.close();
    counts?.flush();
    requests.close();
    view.close();
    await accounts?.close();
    await database.close();
    channel.send("closed", undefined);
  }

  const handlers: Handlers<ToThread> = {
    answers: (answers) => requests.receive(answers),
    decided: (decided) => transactions.receive(decided),
    poolEvents: (events) => feed.receive(events),
    syncing: (status) => feed.syncChanged(status),
    head: () => view.refresh(),
    access: (access) => servers.changeAccess(access as ServerSettings),
    warmUp: (calls) => madeUp.answer(calls),
    flush() {
      counts?.flush();
      channel.send("flushed", undefined);
    },
    close: () => void close(),
  };
  return { receive: (posted) => channel.receive(posted, handlers) };
}

function hostCreditOf(
  { held, index }: RpcThreadData,
  messages: "requests" | "transactions",
  bytes: "requestBytes" | "transactionBytes",
): SharedHostCredit {
  return { messages: shareHosts(held[messages], index), bytes: shareHosts(held[bytes], index) };
}

/** The index by address, opened when it is asked for the first time. The main thread hears of damage. */
function accountsOf({ accountIndex }: RpcThreadData, channel: ThreadChannel): AccountIndexReader | undefined {
  if (accountIndex === undefined) return undefined;
  const { path } = accountIndex;
  const open = () => openIndexDatabase({ path, readOnlyThread: true });
  return createIndexReader(open, accountIndex, (damage) => channel.send("indexDamage", damage));
}
