import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import type { HttpSettings } from "../../config/settings.ts";
import type { Simulator } from "../../execution/simulation/callRequest.ts";
import type { RootLogger } from "../../observability/logger.ts";
import type { LogLine } from "../../observability/remoteLogger.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { CallAnswerer } from "../../rpc/dispatcher.ts";
import type { RpcSettings } from "../../rpc/ports.ts";
import type { RpcCount } from "../../rpc/rpcMetrics.ts";
import type { Objections } from "../../rpc/server/health.ts";
import { listening, type RpcServer, type ServerErrorCode } from "../../rpc/server/server.ts";
import {
  allConnections,
  type ConnectionMemory,
  createConnectionMemory,
  forgetConnections,
} from "../../rpc/server/sharedConnections.ts";
import { createPoolHost, type PoolHost } from "../../rpc/threads/poolHost.ts";
import type { FromThread, ToThread } from "../../rpc/threads/protocol.ts";
import { createRequestHost, type RequestHost } from "../../rpc/threads/requestHost.ts";
import { openSharedFloors } from "../../rpc/threads/sharedFloors.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import { SupervisedThread } from "../../workers/supervisedThread.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { openSharedListener, type SharedListener } from "./sharedListener.ts";
import type { RpcThreadData } from "./threadData.ts";
import { createThreadLines } from "./threadLines.ts";

export interface RpcThreadsSettings {
  readonly threads: number;
  readonly databasePath: string;
  readonly spec: ChainSpec;
  readonly gasCap: bigint;
  readonly http: HttpSettings;
  readonly answers: RpcSettings;
}

export interface RpcThreadsParts {
  /** Answers what threads do not answer themselves. */
  readonly dispatcher: CallAnswerer;
  readonly simulator: Simulator;
  readonly pool: Pick<TxPool, "add" | "blockFloors" | "onFloorsChanged">;
  readiness(query: URLSearchParams): Objections;
  /** Calls `listener` after each move of the head, when it was shown. */
  onHeadChanged(listener: () => void): () => void;
  /** Counts in the metrics; absent without metrics. */
  readonly count: ((one: RpcCount) => void) | undefined;
  /** Memory of the shown head. */
  readonly shownHead: SharedArrayBuffer;
  readonly logger: RootLogger;
}

/** JSON-RPC over HTTP on threads of its own, which share one port. */
export interface RpcThreads extends RpcServer {
  /** Has the threads answer. Until then the port is theirs, and connections wait. Resolves when all of them do. */
  begin(): Promise<void>;
  /** Resolves when all that the threads have counted is in the metrics. */
  flushCounts(): Promise<void>;
  /** Replaces what callers may do. */
  changeAccess(settings: HttpSettings): void;
}

/** Takes the port, and starts the threads. */
export async function openRpcThreads(
  settings: RpcThreadsSettings,
  parts: RpcThreadsParts,
): Promise<Result<RpcThreads, ServerErrorCode>> {
  const { host, port } = settings.http;
  let listener: SharedListener | undefined;
  const listened = await listening(
    async () => {
      listener = await openSharedListener(host, port, settings.threads);
    },
    host,
    port,
  );
  if (!listened.ok || listener === undefined) return listened as Result<never, ServerErrorCode>;
  return ok(new Threads(settings, parts, listener));
}

/** What all threads share. */
interface ThreadParts extends RpcThreadsParts {
  readonly listener: SharedListener;
  readonly writeLine: (thread: number, line: LogLine) => void;
}

class Threads implements RpcThreads {
  readonly host: string;
  readonly port: number;
  private readonly threads: readonly RpcThread[];
  private readonly listener: SharedListener;
  private readonly connections: ConnectionMemory;
  private readonly stopListening: () => void;

  constructor(settings: RpcThreadsSettings, parts: RpcThreadsParts, listener: SharedListener) {
    this.host = settings.http.host;
    this.port = listener.port;
    this.listener = listener;
    this.connections = createConnectionMemory(settings.threads);
    const floors = openSharedFloors();
    floors.write(parts.pool.blockFloors);
    parts.pool.onFloorsChanged(floors.write);
    const writeLine = createThreadLines(parts.logger, () => performance.now());
    const threadParts = { ...parts, listener, writeLine };
    this.threads = Array.from({ length: settings.threads }, (_, index) => {
      const data = dataOf(settings, parts, { index, connections: this.connections, floors: floors.memory });
      return new RpcThread(data, threadParts);
    });
    this.stopListening = parts.onHeadChanged(() => {
      for (const thread of this.threads) thread.post({ kind: "head" });
    });
  }

  get connectionCount(): number {
    return allConnections(this.connections);
  }

  async begin(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.begin()));
  }

  async flushCounts(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.flushCounts()));
  }

  changeAccess(access: HttpSettings): void {
    for (const thread of this.threads) thread.post({ kind: "access", access });
  }

  async close(): Promise<void> {
    this.stopListening();
    await Promise.all(this.threads.map((thread) => thread.close()));
    this.listener.close();
  }
}

function dataOf(
  { databasePath, spec, gasCap, http, answers }: RpcThreadsSettings,
  { shownHead, count, logger }: RpcThreadsParts,
  own: Pick<RpcThreadData, "index" | "connections" | "floors">,
): RpcThreadData {
  return {
    ...{
      databasePath,
      gasCap,
      http,
      shownHead,
      // The price floors become values here: those of the shared memory take their place.
      settings: { ...answers, gasPrice: { ...answers.gasPrice } },
      logLevels: logger.sharedLevels,
      isMetered: count !== undefined,
    },
    spec: { ...spec, genesis: { ...spec.genesis, alloc: [] } },
    ...own,
  };
}

/** One thread, started again whenever it ends. */
class RpcThread {
  private readonly parts: ThreadParts;
  private readonly thread: SupervisedThread<FromThread>;
  private readonly data: RpcThreadData;
  private host: RequestHost;
  private poolHost: PoolHost;
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
    this.post({ kind: "open", socket: await this.parts.listener.descriptor() });
  }

  private receive(message: FromThread): void {
    switch (message.kind) {
      case "requests":
        this.host.receive(message.requests);
        break;
      case "transactions":
        this.poolHost.receive(message);
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
    forgetConnections(this.data.connections, this.data.index);
    logger
      .child("rpc")
      .error(
        { error, thread: this.data.index },
        "a thread for callers ended, with its connections; another one starts",
      );
  }

  private newPoolHost(): PoolHost {
    return createPoolHost(this.parts.pool, (decided) => this.post(decided));
  }

  private newHost(): RequestHost {
    const { dispatcher, simulator, readiness, logger } = this.parts;
    return createRequestHost({
      dispatcher,
      simulator,
      readiness,
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
