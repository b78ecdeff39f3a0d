import {
  startWorkerThread,
  type WorkerThread,
  type WorkerThreadListener,
  type WorkerThreadSettings,
} from "./workerThread.ts";

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
export interface SupervisedThread {
  /** Starts the thread unless it was started before. */
  start(): void;
  /** Whether a thread runs or starts. */
  readonly isStarted: boolean;
  /** Whether the thread runs: it loaded its code, and receives messages at once. */
  readonly isReady: boolean;
  /** Why the thread cannot run. It is tried again from time to time, and nothing should be sent to it meanwhile. */
  readonly failure: Error | undefined;
  post(message: unknown, transferred?: readonly ArrayBuffer[]): void;
  /** Told when the first answer becomes due, and when none is due any more. */
  setBusy(isBusy: boolean): void;
  /** Terminates the thread and starts another one. What was sent to it is lost. */
  restart(): void;
  /** Terminates the thread for good. Resolves once it, and all that it replaced, have ended. */
  close(): Promise<void>;
}

export interface SupervisedThreadUser<Message> {
  /** The thread runs, for the first time or again. */
  ready(): void;
  receive(message: Message): void;
  /** The thread ended by itself, and what was sent to it is lost. Another one starts, or `failure` is set. */
  died(error: Error): void;
}

export function superviseThread<Message>(
  settings: WorkerThreadSettings,
  user: SupervisedThreadUser<Message>,
): SupervisedThread {
  return new RestartingThread(settings, user);
}

/** Why none of the threads can run; undefined while one can. */
export function failureOfAll(threads: readonly Pick<SupervisedThread, "failure">[]): Error | undefined {
  for (const { failure } of threads) if (failure === undefined) return undefined;
  return threads[0]?.failure;
}

/** Consecutive times that the thread is started again at once after it died before it was ready. */
const FAILURE_LIMIT = 3;
/** Wait before the first start of a failed thread. It doubles with each. */
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

class RestartingThread<Message> implements SupervisedThread, WorkerThreadListener<Message> {
  private readonly settings: WorkerThreadSettings;
  private readonly user: SupervisedThreadUser<Message>;
  private thread: WorkerThread | undefined;
  private phase: "new" | "starting" | "running" | "closed" = "new";
  private isBusy = false;
  failure: Error | undefined;
  /** Consecutive times that the thread died before it was ready. */
  private deaths = 0;
  private retry: NodeJS.Timeout | undefined;
  /** Resolves once all replaced threads have ended. */
  private replacedEnded: Promise<unknown> = Promise.resolve();

  constructor(settings: WorkerThreadSettings, user: SupervisedThreadUser<Message>) {
    this.settings = settings;
    this.user = user;
  }

  start(): void {
    if (this.phase === "new") this.startThread();
  }

  get isStarted(): boolean {
    return this.thread !== undefined;
  }

  get isReady(): boolean {
    return this.phase === "running";
  }

  post(message: unknown, transferred?: readonly ArrayBuffer[]): void {
    this.thread?.post(message, transferred);
  }

  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.keepProcessAlive();
  }

  restart(): void {
    if (this.phase === "closed") return;
    this.replacedEnded = Promise.all([this.replacedEnded, this.thread?.terminate()]);
    this.startThread();
  }

  async close(): Promise<void> {
    this.phase = "closed";
    clearTimeout(this.retry);
    const { thread } = this;
    this.thread = undefined;
    await Promise.all([this.replacedEnded, thread?.terminate()]);
  }

  receive(message: Message): void {
    if (this.phase === "running") this.user.receive(message);
    else this.becomeReady();
  }

  ended(error: Error): void {
    this.thread = undefined;
    const hadFailed = this.failure !== undefined;
    this.deaths++;
    if (this.deaths <= FAILURE_LIMIT) this.startThread();
    else this.retryLater(error);
    if (!hadFailed) this.user.died(error);
  }

  private startThread(): void {
    this.phase = "starting";
    this.isBusy = false;
    this.thread = startWorkerThread(this.settings, this);
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

  private retryLater(error: Error): void {
    this.failure = error;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (this.deaths - FAILURE_LIMIT - 1), MAX_RETRY_MS);
    this.retry = setTimeout(() => this.startThread(), waitMs).unref();
  }
}
