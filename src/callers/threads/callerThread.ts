import type { MessagePort } from "node:worker_threads";
import { openIndexReader } from "../../accounts/indexDatabase.ts";
import { InlineCalls } from "../../calls/inline/inlineCalls.ts";
import { ChainView } from "../../chain/view/chainView.ts";
import { ShownHead } from "../../chain/view/shownHead.ts";
import { loadInterpreter } from "../../execution/blockSession.ts";
import { durationClock } from "../../primitives/clock.ts";
import { createRpcBackend } from "../../rpc/backend.ts";
import { createLocalPorts } from "../../rpc/localPorts.ts";
import { METHODS } from "../../rpc/methods/registry.ts";
import { NewestHead, onNewestHead } from "../../rpc/onNewestHead.ts";
import { CallerTime } from "../../rpc/server/callerTime.ts";
import { THREAD_HTTP_ANSWERS_BYTES, THREAD_MESSAGE_ANSWERS_BYTES } from "../../rpc/server/limits.ts";
import { MessageReader } from "../../rpc/server/messageReader.ts";
import { shareHosts } from "../../rpc/server/sharedHosts.ts";
import { shareTotals } from "../../rpc/server/sharedTotals.ts";
import { createHandshakeTime } from "../../rpc/server/tls/handshakeTime.ts";
import { MainThread } from "../../rpc/threads/callerSide/mainThread.ts";
import type { PostedToThread, ToThread } from "../../rpc/threads/messages.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { MadeUpCalls } from "../../warmup/madeUpCalls.ts";
import type { Handlers } from "../../workers/channel/channel.ts";
import { ServedThread } from "./servedThread.ts";
import type { ServerSettings } from "./serverSettings.ts";
import type { OpenMessage } from "./threadData.ts";
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
  const { spec, gasCap, held, index, accountIndex } = data;
  const main = new MainThread(data, (posted, transferred) => port.postMessage(posted, transferred));
  const { channel, core, feed, logger, metrics } = main;
  const database = await openLevelDatabase({ path: data.databasePath, readOnlyThread: true });
  const accounts =
    accountIndex && openIndexReader(accountIndex, (damage) => channel.send("indexDamage", damage));
  const view = new ChainView({
    database,
    spec,
    shownHead: new ShownHead(data.shownHead),
    logger: logger.child("chain"),
    limits: data.viewLimits,
    onAwaited: (isAwaited) => feed.awaitHeads(isAwaited),
  });
  const { jobs } = core;
  const { nowMs } = durationClock;
  const simulator = new InlineCalls({ spec, gasCap, chain: view, pool: { run: jobs.simulate }, nowMs });
  const newest = new NewestHead(view);
  const local = createLocalPorts(data, { view, newest, accounts, simulator, jobs });
  const methods = onNewestHead(METHODS, newest);
  const thread = new ServedThread(data, sockets, {
    methods,
    backend: createRpcBackend(local, core),
    view,
    serving: core.serving,
    reader: new MessageReader(durationClock, metrics, shareHosts(held.reading, index)),
    callerTime: new CallerTime(),
    handshakeTime: createHandshakeTime(durationClock),
    metrics,
    feed,
    totals: shareTotals(held.totals, index, {
      httpAnswers: THREAD_HTTP_ANSWERS_BYTES,
      messageAnswers: THREAD_MESSAGE_ANSWERS_BYTES,
    }),
    logger: logger.child("rpc"),
  });
  const servers = await openThreadServers(thread);
  channel.send("opened", servers.failure);
  // The first answer does not wait for it: meanwhile calls run on the threads for them.
  void loadInterpreter();
  const madeUp = new MadeUpCalls(
    methods,
    (sender) => createRpcBackend(local, main.coreWith(sender)),
    durationClock,
  );

  async function close(): Promise<void> {
    await servers.close();
    madeUp.close();
    main.close();
    view.close();
    await accounts?.close();
    await database.close();
    channel.send("closed", undefined);
  }

  const handlers: Handlers<ToThread> = {
    ...main.handlers,
    head: () => view.refresh(),
    access: (access) => servers.changeAccess(access as ServerSettings),
    warmUp: (calls) => madeUp.answer(calls),
    close: () => void close(),
  };
  return { receive: (posted) => channel.receive(posted, handlers) };
}
