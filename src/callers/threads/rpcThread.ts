import type { Core } from "../../rpc/core/core.ts";
import { THREAD_SERVERS } from "../../rpc/server/serverTable.ts";
import { forgetHosts } from "../../rpc/server/sharedHosts.ts";
import { forgetTotals } from "../../rpc/server/sharedTotals.ts";
import { admitPacked } from "../../rpc/threads/mainSide/admitPacked.ts";
import { EventSource } from "../../rpc/threads/mainSide/eventSource.ts";
import { Flushes } from "../../rpc/threads/mainSide/flushes.ts";
import { HeadNews } from "../../rpc/threads/mainSide/headNews.ts";
import { Notifications } from "../../rpc/threads/mainSide/notifications.ts";
import { RequestHost } from "../../rpc/threads/mainSide/requestHost.ts";
import {
  type FromThread,
  type MainChannel,
  MESSAGES,
  type PostedFromThread,
  type ToThread,
} from "../../rpc/threads/messages.ts";
import { Channel, type Handlers } from "../../workers/channel/channel.ts";
import { forgetCredits } from "../../workers/channel/credit.ts";
import type { SupervisedThread } from "../../workers/supervisedThread.ts";
import type { LoadingThread } from "./loadingThreads.ts";
import type { ServerSettings } from "./serverSettings.ts";
import type { OpenMessage, RpcThreadData } from "./threadData.ts";
import type { ThreadParts } from "./threadParts.ts";

/** The main thread's side of a thread, from its start to its end. */
interface Hosts {
  readonly channel: MainChannel;
  readonly requests: RequestHost;
  /** Events for its subscribers. */
  readonly events: EventSource;
  readonly notifications: Notifications;
  readonly heads: HeadNews;
  readonly counts: Flushes;
  readonly handlers: Handlers<FromThread>;
}

/**
 * One thread, started again whenever it ends:
 *
 *     loads its code ──┬──> is told what to open ──> listens ──(ends)──> loads its code ──> ...
 *     begin ───────────┘
 */
export class RpcThread {
  private readonly thread: SupervisedThread<PostedFromThread>;
  /** What it opens; undefined before `begin`. */
  private begun: { readonly data: RpcThreadData; readonly parts: ThreadParts } | undefined;
  private hosts: Hosts | undefined;
  /** Times that the thread ended. */
  private ends = 0;
  private onOpened: () => void = () => undefined;
  private onClosed: () => void = () => undefined;
  private isClosing = false;

  constructor(loading: LoadingThread) {
    this.thread = loading.supervised;
    loading.user = {
      ready: () => void this.open(),
      receive: (posted) => this.receive(posted),
      died: (error) => this.died(error),
    };
  }

  /** Lets the thread answer callers. Resolves when it listens for the first time, or cannot for now, which is logged. */
  begin(data: RpcThreadData, parts: ThreadParts): Promise<void> {
    this.begun = { data, parts };
    return new Promise((resolve) => {
      this.onOpened = resolve;
      if (this.thread.isReady) void this.open();
      else this.thread.start();
      if (this.thread.failure !== undefined) this.died(this.thread.failure);
    });
  }

  get events(): EventSource | undefined {
    return this.hosts?.events;
  }

  /** Replaces what callers may do, also for when it is started again. */
  changeAccess(servers: ServerSettings): void {
    if (this.begun === undefined) return;
    this.begun = { ...this.begun, data: { ...this.begun.data, servers } };
    this.notifications?.tell("access", servers);
  }

  /** Undefined while the thread is not open, as are its events. */
  get notifications(): Notifications | undefined {
    return this.hosts?.notifications;
  }

  get heads(): HeadNews | undefined {
    return this.hosts?.heads;
  }

  /** Resolves when what the thread has counted has come, or after a little while: it may be held up. */
  async flushCounts(): Promise<void> {
    await this.hosts?.counts.flush();
  }

  async close(): Promise<void> {
    this.isClosing = true;
    if (this.hosts !== undefined) {
      const closed = new Promise<void>((resolve) => {
        this.onClosed = resolve;
      });
      this.hosts.channel.send("close", undefined);
      // Keeps the process alive: it must not end before the rest of the node was closed.
      const limit = setTimeout(() => this.giveUpClosing(), CLOSING_LIMIT_MS);
      await closed;
      clearTimeout(limit);
    }
    this.end();
    await this.thread.close();
  }

  private giveUpClosing(): void {
    this.begun?.parts.logger
      .child("rpc")
      .warn(
        { thread: this.begun.data.index },
        "an RPC worker thread did not close its ports in time; terminating it",
      );
    this.onClosed();
  }

  private async open(): Promise<void> {
    if (this.isClosing || this.begun === undefined) return;
    this.thread.setBusy(true);
    const { listeners } = this.begun.parts;
    const { index } = this.begun.data;
    const { ends } = this;
    const given = THREAD_SERVERS.map(
      async (name) => [name, await listeners[name]?.descriptor(index)] as const,
    );
    const sockets = Object.fromEntries(await Promise.all(given));
    if (this.ends !== ends) return;
    const { data, parts } = this.begun;
    this.hosts = this.newHosts(data, parts);
    const opened: OpenMessage = { kind: "open", data, sockets };
    this.thread.post(opened);
  }

  private newHosts(data: RpcThreadData, parts: ThreadParts): Hosts {
    const { index, held } = data;
    const { interests } = parts;
    const logger = parts.logger.child("rpc");
    const channel = new Channel<ToThread, FromThread>(
      MESSAGES,
      { memory: held.credits, thread: index },
      (...sent) => this.thread.post(...sent),
    );
    const requests = new RequestHost(channel, { core: withDescriptors(parts, index), logger });
    const counts = new Flushes(channel);
    const notifications = new Notifications(channel);
    const wanted = (): number => interests.of(index);
    return {
      channel,
      requests,
      events: new EventSource(wanted, channel),
      notifications,
      heads: new HeadNews(wanted, notifications, () => performance.now()),
      counts,
      handlers: {
        requests: (content) => requests.receive(content),
        abandoned: (ids) => requests.abandon(ids),
        transactions: (bytes) =>
          admitPacked(parts.admission, bytes, (decided) => channel.send("decided", decided)),
        logLine: (line) => parts.writeLine(index, line),
        counts: (all) => {
          for (const one of all) parts.count?.(one);
        },
        flushed: () => counts.flushed(),
        indexDamage: (damage) => parts.accountIndex?.reportDamage(damage),
        opened: (failure) => {
          if (failure !== undefined) logger.error({ error: failure }, "an RPC worker thread cannot listen");
          this.onOpened();
        },
        closed: () => this.onClosed(),
      },
    };
  }

  private receive(posted: PostedFromThread): void {
    this.hosts?.channel.receive(posted, this.hosts.handlers);
  }

  private died(error: Error): void {
    this.end();
    if (this.begun === undefined) return;
    const { data, parts } = this.begun;
    const { held, index } = data;
    parts.interests.change(index, 0);
    const { totals, credits, ...hosts } = held;
    for (const memory of Object.values(hosts)) forgetHosts(memory, index);
    forgetTotals(totals, index);
    forgetCredits(credits, index);
    for (const listener of Object.values(parts.listeners)) listener.ended(index);
    const logger = parts.logger.child("rpc");
    if (this.thread.failure === undefined) {
      logger.error(
        { error, thread: index },
        "an RPC worker thread exited, and its connections were closed; restarting it",
      );
      return;
    }
    logger.error({ error, thread: index }, "an RPC worker thread cannot start; retrying from time to time");
    this.onOpened();
  }

  private end(): void {
    this.ends++;
    this.onClosed();
    this.hosts?.channel.drop();
    this.hosts = undefined;
  }
}

/** The core of one thread, for which the listeners have descriptors. */
function withDescriptors({ core, listeners }: ThreadParts, thread: number): Core {
  const descriptor: Core["serving"]["descriptor"] = async (server) => listeners[server]?.spare(thread);
  return { ...core, serving: { ...core.serving, descriptor } };
}

/** Time for a thread to close, longer than its servers take (server/limits.ts). */
const CLOSING_LIMIT_MS = 4000;
