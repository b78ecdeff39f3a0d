import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { forgetThread } from "../primitives/threadPages.ts";
import { terminateWorker } from "../primitives/workerTermination.ts";
import { isLoadedMessage } from "./loadedMessage.ts";
import { countThreadFailure, expectThread } from "./threadFailures.ts";

export interface WorkerThreadSettings {
  /** File that the thread runs (workerEntry.ts). */
  readonly entry: URL;
  readonly workerData?: unknown;
  /** Limit of the heap; default the limit of Node.js. */
  readonly heapMb?: number;
  /** Limit of the room for young objects; default that of Node.js, 48 MB. */
  readonly youngMb?: number;
  /** Time that its end waits for the loading of its code, milliseconds. */
  readonly loadingLimitMs?: number;
}

interface WorkerThreadListener<Message> {
  receive(message: Message): void;
  /** The thread ended by itself: its work is done, or `error` says why it failed. */
  ended(error: Error): void;
}

/** One worker thread, from its start to its end. */
export interface WorkerThread {
  post(message: unknown, transferred?: readonly ArrayBuffer[]): void;
  /** Whether the process goes on while only this thread runs, as it does from the start of the thread. */
  keepProcessAlive(isNeeded: boolean): void;
  /** Asks the thread to end by itself with `message`, and ends it when it has not done so in time. Resolves once it has ended. */
  close(message: unknown): Promise<void>;
  /**
   * Ends the thread, of which nothing is heard any more, but not while it loads its code: Node.js 20 can abort the whole
   * process when that is interrupted between two modules. Resolves once it has ended.
   */
  terminate(): Promise<void>;
}

/**
 * A thread that has not loaded its code after so long hangs, and is terminated nevertheless, milliseconds. Most take less than 500. On
 * a busy machine ten seconds were too few: Node.js 26 aborts the process when the loading is interrupted, as bufferutil's native
 * code does.
 */
const LOADING_LIMIT_MS = 60_000;

/** Time that a thread that is closed has to end by itself, milliseconds. */
const CLOSING_LIMIT_MS = 5_000;

/** Starts a thread. One that cannot even be created, as when the system has no more threads, ends at once. */
export function startWorkerThread<Message>(
  { entry, workerData, heapMb, youngMb, loadingLimitMs = LOADING_LIMIT_MS }: WorkerThreadSettings,
  listener: WorkerThreadListener<Message>,
): WorkerThread {
  let isTerminated = false;
  let error = new Error("the thread ended");
  expectThread(entry);
  const fail = (thrown: unknown): void => {
    error = thrown instanceof Error ? thrown : new Error(String(thrown));
  };
  let setEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    setEnded = resolve;
  });
  const end = (): void => {
    setEnded();
    if (!isTerminated) listener.ended(error);
  };
  let worker: Worker | undefined;
  let setLoaded = (): void => undefined;
  /** Resolves with the first message, or when the thread ends. */
  const loaded = new Promise<void>((resolve) => {
    setLoaded = resolve;
  });
  try {
    const resourceLimits = {
      ...(heapMb !== undefined && { maxOldGenerationSizeMb: heapMb }),
      ...(youngMb !== undefined && { maxYoungGenerationSizeMb: youngMb }),
    };
    worker = new Worker(entry, { workerData, resourceLimits });
    worker.on("message", (message: Message) => {
      setLoaded();
      if (!isTerminated && !isLoadedMessage(message)) listener.receive(message);
    });
    worker.on("error", fail);
    const { threadId } = worker;
    worker.on("exit", (code) => {
      setLoaded();
      forgetThread(threadId);
      if (code !== 0 && !isTerminated) countThreadFailure(entry);
      end();
    });
  } catch (thrown) {
    fail(thrown);
    countThreadFailure(entry);
    setImmediate(end);
  }
  const terminate = async (): Promise<void> => {
    isTerminated = true;
    if (worker === undefined) return;
    const limit = new AbortController();
    const wait = setTimeout(loadingLimitMs, undefined, limit).catch(() => undefined);
    await Promise.race([loaded, wait]);
    limit.abort();
    await terminateWorker(worker);
  };
  return {
    post: (message, transferred) => worker?.postMessage(message, transferred),
    keepProcessAlive(isNeeded) {
      if (isNeeded) worker?.ref();
      else worker?.unref();
    },
    async close(message) {
      worker?.postMessage(message);
      await Promise.race([ended, setTimeout(CLOSING_LIMIT_MS, undefined, { ref: false })]);
      await terminate();
    },
    terminate,
  };
}
