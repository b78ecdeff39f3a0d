import { startWorkerThread, type WorkerThread, type WorkerThreadSettings } from "./workerThread.ts";

export interface SupervisedThreadUser<Message> {
  /** The thread runs, for the first time or again. */
  ready(): void;
  receive(message: Message): void;
  /** The thread ended by itself, and what was sent to it is lost. Another one starts, or `failure` is set. */
  died(error: Error): void;
}

/** Consecutive times that the thread is started again at once after it died before it was ready. */
const FAILURE_LIMIT = 3;
/** Wait before the first start of a failed thread. It doubles with each. */
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/**
 * A worker thread that is started when it is needed, and again whenever it ends, until it is closed:
 *
 *     start ──> starting ──(ready)──> running ──(died, restart)──> starting ──(ready)──> ...
 *                                                                     └──(died too often)──> failed ──(back-off)──┐
 *                                                                           └<───────────────(died)───────────────┤
 *                                                                                     running <──────(ready)──────┘
 *
 * The first message of the thread says that it is ready (workerPort.ts). Starting and busy threads keep the process alive,
 * idle and failed ones do not.
 */
export class SupervisedThread<Message> {
  /** Why the thread cannot run. It is tried again from time to time, and nothing should be sent to it meanwhile. */
  failure: Error | undefined;
  private readonly settings: WorkerThreadSettings;
  private readonly user: SupervisedThreadUser<Message>;
  private thread: WorkerThread | undefined;
  private phase: "new" | "starting" | "running" | "closed" = "new";
  private isBusy = false;
  /** Consecutive times that the thread died before it was ready. */
  private deaths = 0;
  private retry: NodeJS.Timeout | undefined;
  /** Resolves once all replaced threads have ended. */
  private replacedEnded: Promise<unknown> = Promise.resolve();

  constructor(settings: WorkerThreadSettings, user: SupervisedThreadUser<Message>) {
    this.settings = settings;
    this.user = user;
  }

  /** Starts the thread unless it was started before. */
  start(): void {
    if (this.phase === "new") this.startThread();
  }

  /** Whether a thread runs or starts. */
  get isStarted(): boolean {
    return this.thread !== undefined;
  }

  /** Whether the thread runs: it loaded its code, and receives messages at once. */
  get isReady(): boolean {
    return this.phase === "running";
  }

  post(message: unknown, transferred?: readonly ArrayBuffer[]): void {
    this.thread?.post(message, transferred);
  }

  /** Called when the first answer becomes due, and when none is due any more. */
  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.keepProcessAlive();
  }

  /** Terminates the thread and starts another one. What was sent to it is lost. */
  restart(): void {
    if (this.phase === "closed") return;
    // The results are dropped, or they would hold those of every earlier restart.
    this.replacedEnded = Promise.all([this.replacedEnded, this.thread?.terminate()]).then(() => undefined);
    this.startThread();
  }

  /** Terminates the thread for good. Resolves once it, and all that it replaced, have ended. */
  async close(): Promise<void> {
    this.phase = "closed";
    clearTimeout(this.retry);
    const { thread } = this;
    this.thread = undefined;
    await Promise.all([this.replacedEnded, thread?.terminate()]);
  }

  private startThread(): void {
    this.phase = "starting";
    this.isBusy = false;
    this.thread = startWorkerThread<Message>(this.settings, {
      receive: (message) => {
        if (this.phase === "running") this.user.receive(message);
        else this.becomeReady();
      },
      ended: (error) => this.ended(error),
    });
    this.keepProcessAlive();
  }

  private becomeReady(): void {
    this.phase = "running";
    this.failure = undefined;
    this.deaths = 0;
    this.keepProcessAlive();
    this.user.ready();
  }

  private keepProcessAlive(): void {
    const isAwaited = this.phase === "starting" && this.failure === undefined;
    this.thread?.keepProcessAlive(this.isBusy || isAwaited);
  }

  private ended(error: Error): void {
    this.thread = undefined;
    const hadFailed = this.failure !== undefined;
    this.deaths++;
    if (this.deaths <= FAILURE_LIMIT) this.startThread();
    else this.retryLater(error);
    if (!hadFailed) this.user.died(error);
  }

  private retryLater(error: Error): void {
    this.failure = error;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (this.deaths - FAILURE_LIMIT - 1), MAX_RETRY_MS);
    this.retry = setTimeout(() => this.startThread(), waitMs).unref();
  }
}

/** Why none of the threads can run; undefined while one can. */
export function failureOfAll(threads: readonly { readonly failure: Error | undefined }[]): Error | undefined {
  for (const { failure } of threads) if (failure === undefined) return undefined;
  return threads[0]?.failure;
}
