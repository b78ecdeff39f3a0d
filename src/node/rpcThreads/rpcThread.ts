import { forgetHosts } from "../../rpc/server/sharedHosts.ts";
import { forgetTotals, type SharedTotals, shareTotals } from "../../rpc/server/sharedTotals.ts";
import { createEventSource, type EventSource } from "../../rpc/threads/callerSide/eventFeed.ts";
import { lineWritten } from "../../rpc/threads/callerSide/logForwarder.ts";
import { createFlushes, type Flushes } from "../../rpc/threads/mainSide/flushes.ts";
import {
  createNoticeSource,
  type Notice,
  type NoticeSource,
} from "../../rpc/threads/mainSide/notifications.ts";
import { createRequestHost, type RequestHost } from "../../rpc/threads/mainSide/requestHost.ts";
import type { FromThread, ToThread } from "../../rpc/threads/protocol.ts";
import type { SupervisedThread } from "../../workers/supervisedThread.ts";
import type { LoadingThread } from "./loadingThreads.ts";
import type { RpcThreadData, ServerSettings, ThreadMessage } from "./threadData.ts";
import type { ThreadParts } from "./threadParts.ts";

/** The main thread's side of a thread, from its start to its end. */
interface Hosts {
  readonly requests: RequestHost;
  /** Events for its subscribers. */
  readonly events: EventSource;
  readonly notices: NoticeSource;
  readonly counts: Flushes;
  /** What lies between the thread and this one, of which each takes off what it has received. */
  readonly totals: SharedTotals;
}

/**
 * One thread, started again whenever it ends:
 *
 *     loads its code ──┬──> is told what to open ──> listens ──(ends)──> loads its code ──> ...
 *     begin ───────────┘
 */
export class RpcThread {
  private readonly thread: SupervisedThread<FromThread>;
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
      receive: (message) => this.receive(message),
      died: (error) => this.died(error),
    };
  }

  /** Has it answer callers. Resolves when it listens for the first time, or cannot for now, which is logged. */
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
    this.tell({ kind: "access", access: servers });
  }

  /** Tells the thread if it is open. */
  tell(notice: Notice): void {
    this.hosts?.notices.tell(notice);
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
      this.send({ kind: "close" });
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
        "a thread for callers did not close its ports in time, and is ended",
      );
    this.onClosed();
  }

  private send(message: ThreadMessage, transferred?: readonly ArrayBuffer[]): void {
    this.thread.post(message, transferred);
  }

  private async open(): Promise<void> {
    if (this.isClosing || this.begun === undefined) return;
    this.thread.setBusy(true);
    const { http, webSocket, explorer } = this.begun.parts.listeners;
    const { index } = this.begun.data;
    const { ends } = this;
    const sockets = await Promise.all(
      [http, webSocket, explorer].map((listener) => listener?.descriptor(index)),
    );
    if (this.ends !== ends) return;
    const { data, parts } = this.begun;
    this.hosts = newHosts(data, parts, (...sent) => this.send(...sent));
    this.send({ kind: "open", data, http: sockets[0], webSocket: sockets[1], explorer: sockets[2] });
  }

  private receive(message: FromThread): void {
    const { begun, hosts } = this;
    if (begun === undefined || hosts === undefined) return;
    const { data, parts } = begun;
    switch (message.kind) {
      case "requests":
        hosts.requests.receive(message.requests);
        break;
      case "transactions":
        parts.transactions.receive(message, (decided) => {
          if (this.hosts === hosts) this.send(decided);
        });
        break;
      case "credit":
        hosts.events.credit(message);
        break;
      case "indexDamage":
        parts.reportIndexDamage(message.damage);
        break;
      case "worked":
        hosts.notices.worked(message.on);
        break;
      case "abandoned":
        hosts.requests.abandon(message.ids);
        break;
      case "log":
        lineWritten(hosts.totals, message.bytes);
        parts.writeLine(data.index, message.line);
        break;
      case "counted":
        hosts.totals.counts.add(-message.counts.length);
        for (const one of message.counts) parts.count?.(one);
        break;
      case "flushed":
        hosts.counts.flushed();
        break;
      case "opened":
        if (message.failure !== undefined)
          parts.logger.child("rpc").error({ error: message.failure }, "a thread for callers cannot listen");
        this.onOpened();
        break;
      case "closed":
        this.onClosed();
        break;
    }
  }

  private died(error: Error): void {
    this.end();
    if (this.begun === undefined) return;
    const { data, parts } = this.begun;
    const { held, index } = data;
    parts.interests.change(index, 0);
    const { totals, ...hosts } = held;
    for (const memory of Object.values(hosts)) forgetHosts(memory, index);
    forgetTotals(totals, index);
    for (const listener of Object.values(parts.listeners)) listener.ended(index);
    const logger = parts.logger.child("rpc");
    if (this.thread.failure === undefined) {
      logger.error(
        { error, thread: index },
        "a thread for callers ended, with its connections; another one starts",
      );
      return;
    }
    logger.error(
      { error, thread: index },
      "a thread for callers cannot run; it is tried again from time to time",
    );
    this.onOpened();
  }

  private end(): void {
    this.ends++;
    this.onClosed();
    this.hosts?.requests.drop();
    this.hosts?.events.drop();
    this.hosts = undefined;
  }
}

function newHosts(
  { index, held }: RpcThreadData,
  parts: ThreadParts,
  post: (message: ToThread, transferred?: readonly ArrayBuffer[]) => void,
): Hosts {
  const { logger, interests } = parts;
  const totals = shareTotals(held.totals, index);
  return {
    requests: createRequestHost({
      ...parts,
      descriptor: (server) => parts.listeners[server]?.spare(index),
      post: (answers, bytes, transferred) => post({ kind: "answers", answers, bytes }, transferred),
      answerBytes: totals.answerBytes,
      logger: logger.child("rpc"),
    }),
    events: createEventSource(() => interests.of(index), post),
    notices: createNoticeSource(post),
    counts: createFlushes(() => post({ kind: "flush" })),
    totals,
  };
}

/** Time for a thread to close, longer than its servers take (server/limits.ts). */
const CLOSING_LIMIT_MS = 4000;
