import type { Clock, Timer } from "../primitives/clock.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import { TimeDebts } from "../primitives/timeDebts.ts";
import { SupervisedThread } from "../workers/supervisedThread.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import type { FindLogs, FoundLogs } from "./findLogs.ts";
import type { LogCriteria } from "./logMatcher.ts";
import type { BlockRange } from "./logQuery.ts";
import type { LogSearchCommand, LogSearchMessage, LogSearchWorkerData } from "./logSearchWorker.ts";
import { packCriteria } from "./packedCriteria.ts";
import { QUICK_LANE, SearchLane, SLOW_LANE } from "./searchLane.ts";

interface LogSearchParts {
  /** Directory of the database, which this thread has open. */
  readonly databasePath: string;
  /** Directory of the bloom files. */
  readonly bloomFolder: string;
  readonly clock: Clock;
  /** Called when the file of a segment is invalid. */
  onInvalidSegment(segment: number): void;
}

interface Job {
  readonly criteria: LogCriteria;
  readonly range: BlockRange;
  readonly requester: Requester;
  readonly pieces: JsonPiece[];
  resolve(found: FoundLogs): void;
  reject(error: Error): void;
}

/** The worker failed or ended, or the search was closed. This is not a result of a search. */
class LogSearchError extends Error {
  override name = "LogSearchError";
}

/** Interval at which abandoned searches are dropped. */
const ABANDON_CHECK_MS = 250;
/** Memory for what running searches have found so far, and for one large answer. */
const THREAD_MEMORY_MB = 512;
/** CPU time that a search has before it is restarted on the slow lane. */
const FIRST_SLICE_MS = 50;

/**
 * Searches for logs in ranges of many blocks on a worker thread, which reads the database itself and also writes the JSON
 * (architecture.md#threads); the main thread only passes it on. The worker starts with the first search. Each search has a
 * short first slice; one that does not end in it is restarted on the slow lane, so that a short search never waits for long
 * ones.
 *
 *     find ──> quick lane ──> worker, for FIRST_SLICE_MS ──> result
 *                                └──(used up, or large)──> slow lane ──> worker ──> result
 *
 * Invariants: each search gets exactly one result, whatever happens to the worker; on both lanes searches start in the order
 * of how little time their remote host, and then their client, took lately (timeDebts.ts); when too many wait, the requester
 * with the most loses its newest one as busy.
 */
export class LogSearch {
  private readonly parts: LogSearchParts;
  private readonly thread: SupervisedThread<LogSearchMessage>;
  private readonly running = new Map<number, RunningSearch>();
  private readonly debts: TimeDebts;
  private readonly quick: SearchLane<Job>;
  private readonly slow: SearchLane<Job>;
  private readonly clients = new WeakMap<object, number>();
  private lastClient = 0;
  private abandonTimer: Timer | undefined;
  private lastId = 0;
  private isClosed = false;

  constructor(parts: LogSearchParts) {
    this.parts = parts;
    this.debts = new TimeDebts(() => parts.clock.nowMs());
    this.quick = new SearchLane(QUICK_LANE, this.debts);
    this.slow = new SearchLane(SLOW_LANE, this.debts);
    const { databasePath, bloomFolder } = parts;
    const workerData: LogSearchWorkerData = { databasePath, bloomFolder };
    this.thread = new SupervisedThread<LogSearchMessage>(
      { entry: workerEntry("logSearchWorker"), workerData, heapMb: THREAD_MEMORY_MB },
      {
        ready: () => undefined,
        receive: (message) => this.receive(message),
        died: ({ message }) => this.failAll(new LogSearchError(message)),
      },
    );
  }

  readonly find: FindLogs = (criteria, range, requester) => {
    if (this.isClosed) return Promise.reject(new LogSearchError("the search is closed"));
    const { failure } = this.thread;
    if (failure !== undefined) return Promise.reject(new LogSearchError(failure.message));
    return new Promise((resolve, reject) => {
      this.enqueue(this.quick, { criteria, range, requester, pieces: [], resolve, reject });
    });
  };

  async close(): Promise<void> {
    this.isClosed = true;
    this.abandonTimer?.cancel();
    await this.thread.close();
    this.failAll(new LogSearchError("the thread ended"));
  }

  private enqueue(lane: SearchLane<Job>, job: Job): void {
    if (lane.startsAtOnce(job)) this.start(lane, job);
    else lane.add(job)?.resolve({ kind: "busy" });
  }

  /** Starts waiting searches, as far as the limits permit. */
  private startWaiting(): void {
    for (const lane of [this.quick, this.slow])
      for (let job = lane.take(); job !== undefined; job = lane.take()) this.start(lane, job);
    if (this.running.size === 0) this.thread.setBusy(false);
  }

  private start(lane: SearchLane<Job>, job: Job): void {
    const { criteria, range, requester } = job;
    this.thread.start();
    this.lastId++;
    this.running.set(this.lastId, { lane, job });
    const sliceMs = lane === this.quick ? FIRST_SLICE_MS : undefined;
    const [remoteHost, client] = [requester.remoteHost, this.numberOf(requester.client)];
    const packed = packCriteria(criteria);
    this.send({ kind: "find", id: this.lastId, criteria: packed, range, remoteHost, client, sliceMs });
    if (this.running.size === 1) this.thread.setBusy(true);
    this.superviseRequesters();
  }

  private numberOf(client: object): number {
    const number = this.clients.get(client) ?? ++this.lastClient;
    this.clients.set(client, number);
    return number;
  }

  private send(command: LogSearchCommand): void {
    this.thread.post(command);
  }

  private receive(message: LogSearchMessage): void {
    if (message.kind === "invalidSegment") {
      this.parts.onInvalidSegment(message.segment);
      return;
    }
    const search = this.running.get(message.id);
    if (search === undefined) return;
    const { job } = search;
    if (message.kind === "piece") {
      job.pieces.push(message.json);
      return;
    }
    this.end(message.id, search);
    this.charge(job.requester, message.tookMs);
    if (message.kind === "failed") job.reject(new LogSearchError(message.message));
    else if (message.kind === "found") job.resolve({ kind: "found", pieces: job.pieces });
    else if (message.kind === "tooManyLogs" || message.kind === "notStored")
      job.resolve({ kind: message.kind });
    else this.enqueue(this.slow, job);
    this.startWaiting();
  }

  private end(id: number, { lane, job }: RunningSearch): void {
    this.running.delete(id);
    lane.ended(job);
  }

  private charge(requester: Requester, tookMs: number): void {
    this.debts.charge(requester, tookMs);
    this.quick.charged(requester);
    this.slow.charged(requester);
  }

  private superviseRequesters(): void {
    const { clock } = this.parts;
    this.abandonTimer ??= clock.at(clock.nowMs() + ABANDON_CHECK_MS, () => this.dropAbandoned());
  }

  private dropAbandoned(): void {
    this.abandonTimer = undefined;
    for (const [id, search] of this.running) {
      if (!search.job.requester.isAbandoned()) continue;
      this.send({ kind: "abandon", id });
      this.end(id, search);
      search.job.resolve({ kind: "abandoned" });
    }
    for (const { resolve } of [...this.quick.takeAbandoned(), ...this.slow.takeAbandoned()])
      resolve({ kind: "abandoned" });
    this.startWaiting();
    if (this.running.size > 0) this.superviseRequesters();
  }

  private failAll(failure: LogSearchError): void {
    const running = [...this.running.values()].map(({ job }) => job);
    const jobs = [...running, ...this.quick.takeAll(), ...this.slow.takeAll()];
    this.running.clear();
    for (const { reject } of jobs) reject(failure);
  }
}

/** A search on the worker. */
interface RunningSearch {
  readonly lane: SearchLane<Job>;
  readonly job: Job;
}
