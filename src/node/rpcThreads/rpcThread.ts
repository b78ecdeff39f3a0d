import { forgetConnections } from "../../rpc/server/sharedConnections.ts";
import { createEventSource, type EventSource } from "../../rpc/threads/eventFeed.ts";
import { createPoolHost, type PoolHost } from "../../rpc/threads/poolHost.ts";
import type { FromThread, ToThread } from "../../rpc/threads/protocol.ts";
import { createRequestHost, type RequestHost } from "../../rpc/threads/requestHost.ts";
import { SupervisedThread } from "../../workers/supervisedThread.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import type { RpcThreadData } from "./threadData.ts";
import type { ThreadParts } from "./threadParts.ts";

/** One thread, started again whenever it ends. */
export class RpcThread {
  private readonly parts: ThreadParts;
  private readonly thread: SupervisedThread<FromThread>;
  private readonly data: RpcThreadData;
  private host: RequestHost;
  private poolHost: PoolHost;
  /** Events for its subscribers. */
  events: EventSource;
  private hasBegun = false;
  private onFlushed: (() => void)[] = [];
  private onOpened: () => void = () => undefined;
  private onClosed: () => void = () => undefined;
  private isClosing = false;

  constructor(data: RpcThreadData, parts: ThreadParts) {
    this.parts = parts;
    this.data = data;
    this.host = this.newHost();
    this.poolHost = this.newPoolHost();
    this.events = this.newEvents();
    this.thread = new SupervisedThread<FromThread>(
      { entry: workerEntry("rpcWorker"), workerData: data, ...MEMORY },
      {
        ready: () => void this.open(),
        receive: (message) => this.receive(message),
        died: (error) => this.died(error),
      },
    );
    this.thread.start();
  }

  post(message: ToThread): void {
    this.thread.post(message);
  }

  /** Resolves when it listens for the first time. */
  begin(): Promise<void> {
    this.hasBegun = true;
    return new Promise((resolve) => {
      this.onOpened = resolve;
      if (this.thread.isReady) void this.open();
    });
  }

  /** Waits a little for the counts: a thread may be busy. */
  async flushCounts(): Promise<void> {
    if (!this.thread.isReady) return;
    const flushed = new Promise<void>((resolve) => this.onFlushed.push(resolve));
    this.post({ kind: "flush" });
    await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, FLUSH_LIMIT_MS).unref())]);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    if (this.thread.isReady) {
      const closed = new Promise<void>((resolve) => {
        this.onClosed = resolve;
      });
      this.post({ kind: "close" });
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSING_LIMIT_MS).unref())]);
    }
    this.host.drop();
    await this.thread.close();
  }

  private async open(): Promise<void> {
    if (this.isClosing || !this.hasBegun) return;
    this.thread.setBusy(true);
    const { http, webSocket } = this.parts.listeners;
    const sockets = await Promise.all([http?.descriptor(), webSocket?.descriptor()]);
    this.post({ kind: "open", http: sockets[0], webSocket: sockets[1] });
  }

  private receive(message: FromThread): void {
    switch (message.kind) {
      case "requests":
        this.host.receive(message.requests);
        break;
      case "transactions":
        this.poolHost.receive(message);
        break;
      case "credit":
        this.events.credit(message.bytes);
        break;
      case "abandoned":
        this.host.abandon(message.ids);
        break;
      case "log":
        this.parts.writeLine(this.data.index, message.line);
        break;
      case "counted":
        for (const one of message.counts) this.parts.count?.(one);
        break;
      case "flushed":
        for (const resolve of this.onFlushed.splice(0)) resolve();
        break;
      case "opened":
        if (message.failure !== undefined)
          this.parts.logger
            .child("rpc")
            .error({ error: message.failure }, "a thread for callers cannot listen");
        this.onOpened();
        break;
      case "closed":
        this.onClosed();
        break;
    }
  }

  private died(error: Error): void {
    const { logger } = this.parts;
    this.host.drop();
    this.poolHost.drop();
    this.host = this.newHost();
    this.poolHost = this.newPoolHost();
    const { connections, index } = this.data;
    this.parts.interests.change(index, 0);
    this.events = this.newEvents();
    forgetConnections(connections.http, index);
    forgetConnections(connections.webSocket, index);
    logger
      .child("rpc")
      .error(
        { error, thread: this.data.index },
        "a thread for callers ended, with its connections; another one starts",
      );
  }

  private newEvents(): EventSource {
    const { interests } = this.parts;
    return createEventSource(
      () => interests.of(this.data.index),
      (events) => this.post(events),
    );
  }

  private newPoolHost(): PoolHost {
    return createPoolHost(this.parts.pool, (decided) => this.post(decided));
  }

  private newHost(): RequestHost {
    const { dispatcher, simulator, readiness, logins, logger } = this.parts;
    return createRequestHost({
      dispatcher,
      simulator,
      readiness,
      logins,
      post: (answers) => this.post({ kind: "answers", answers }),
      logger: logger.child("rpc"),
    });
  }
}

/** Limits of a thread's heap. */
const MEMORY = { heapMb: 512, youngMb: 96 };

const FLUSH_LIMIT_MS = 200;

/** Longer than the servers of a thread take (server/limits.ts). */
const CLOSING_LIMIT_MS = 4000;
