import type { Logger } from "../../observability/logger.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { DatabaseOnDisk } from "../../storage/database.ts";
import { diskErrorOfThread } from "../../storage/diskErrors.ts";
import type { HistoryStart } from "../../storage/historyStart.ts";
import { readStateBase } from "../../storage/stateBase.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { startWorkerThread, type WorkerThread } from "../../workers/workerThread.ts";
import type {
  StateRemovalCommand,
  StateRemovalReport,
  StateRemovalWorkerData,
} from "./stateRemovalWorker.ts";

export interface StateRemoverSettings {
  /** Folder of the chain's database, which this thread has open. */
  readonly path: string;
  /** Blocks below the head whose states are kept; undefined for all. */
  readonly kept: bigint | undefined;
}

export interface StateRemoverParts {
  readonly database: DatabaseOnDisk;
  readonly chain: {
    readonly head: { readonly header: { readonly number: bigint } };
    readonly historyStart: HistoryStart;
    keepStates(kept: bigint): Promise<HistoryStart>;
    onHeadChanged(listener: () => void): () => void;
  };
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Removes the states that are older than `--state-history` while the node runs, in rounds:
 *
 *     head moves ─> the states begin later (chain/keepHistory.ts), a quarter of the history at a time ─> the worker removes those before
 *
 * The worker (stateRemovalWorker.ts) writes beside the main thread: its batches are small, and have no key in common with those of
 * the chain, which writes pages of later versions only, and rewinds to none before the start. The start moves on only when the
 * worker is done. What an earlier run left is removed, too, also once the option is no longer given. Close it before the database.
 */
export class StateRemover {
  private readonly settings: StateRemoverSettings;
  private readonly parts: StateRemoverParts;
  private thread: WorkerThread | undefined;
  private stopListening: () => void = () => undefined;
  private retry: Timer | undefined;
  private retryMs = FIRST_RETRY_MS;
  private onFailure: (error: unknown) => void = () => undefined;
  private isClosed = false;
  private moving: Promise<void> | undefined;
  /** True from when the states begin later until the worker has removed those before. */
  private isRemoving = false;
  private beganMs = 0;
  private toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(settings: StateRemoverSettings, parts: StateRemoverParts) {
    this.settings = settings;
    this.parts = parts;
  }

  /** `onFailure` is called when the start of the states cannot be moved, or when the disk fails while states are removed. */
  async begin(onFailure: (error: unknown) => void): Promise<void> {
    this.onFailure = onFailure;
    const { database, chain, logger } = this.parts;
    const { kept } = this.settings;
    const start = Number(chain.historyStart.states);
    const isUsed = readStateBase(database) !== undefined;
    if (kept === undefined && isUsed)
      logger.info({ start }, "every state is kept from here on; those before the start were removed");
    if (kept !== undefined)
      logger.info(
        { kept: Number(kept), start },
        "states older than --state-history are removed while the node runs",
      );
    if (kept === undefined && !isUsed) return;
    await database.compact(NOTHING);
    // An earlier run may have been stopped amid a removal.
    if (isUsed) this.remove();
    if (kept === undefined) return;
    this.stopListening = chain.onHeadChanged(() => this.follow());
    this.follow();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.stopListening();
    this.retry?.cancel();
    await this.moving;
    await this.thread?.close("close" satisfies StateRemovalCommand);
  }

  /** Moves the start of the states after the head, not at each block: what changed often in between is then moved once. */
  private follow(): void {
    const { kept } = this.settings;
    const { chain } = this.parts;
    if (kept === undefined || this.moving !== undefined || this.isRemoving || this.isClosed) return;
    const due = chain.head.header.number - kept - chain.historyStart.states;
    if (due >= kept / ROUNDS_PER_HISTORY) this.moving = this.move(kept);
  }

  private async move(kept: bigint): Promise<void> {
    try {
      await this.parts.chain.keepStates(kept);
      this.remove();
    } catch (error) {
      if (!this.isClosed) this.onFailure(error);
    } finally {
      this.moving = undefined;
    }
  }

  /** Has the worker remove what lies before the start; starts it where none runs. */
  private remove(): void {
    if (this.isClosed) return;
    if (!this.isRemoving) this.beganMs = this.parts.clock.nowMs();
    this.isRemoving = true;
    if (this.thread === undefined && this.retry === undefined) this.startThread();
    this.send("remove");
  }

  private send(command: StateRemovalCommand): void {
    this.thread?.post(command);
  }

  private startThread(): void {
    const workerData: StateRemovalWorkerData = { path: this.settings.path };
    this.thread = startWorkerThread<StateRemovalReport>(
      { entry: workerEntry("stateRemovalWorker"), workerData, heapMb: THREAD_MEMORY_MB },
      { receive: (report) => this.receive(report), ended: (error) => this.ended(error) },
    );
    this.thread.keepProcessAlive(false);
  }

  private receive({ isDone, nodes, pages }: StateRemovalReport): void {
    const { clock, logger, chain } = this.parts;
    const nowMs = clock.nowMs();
    this.retryMs = FIRST_RETRY_MS;
    const start = Number(chain.historyStart.states);
    const seconds = Math.round((nowMs - this.beganMs) / 1000);
    if (isDone) {
      this.isRemoving = false;
      const facts = { start, nodes, pages, seconds };
      if (seconds >= LONG_SECONDS) logger.info(facts, "old states are removed");
      else logger.debug(facts, "old states are removed");
      this.follow();
    } else if (nowMs - this.beganMs >= TELL_MS && nowMs - this.toldAtMs >= TELL_MS) {
      this.toldAtMs = nowMs;
      logger.info({ start, nodes, pages, seconds }, "old states are being removed");
    }
  }

  private ended(error: Error): void {
    this.thread = undefined;
    if (this.isClosed) return;
    const diskError = diskErrorOfThread(error);
    // A write that failed may have left a part in LevelDB's log, after which no other write may come.
    if (diskError !== undefined) {
      this.onFailure(diskError);
      return;
    }
    const { clock, logger } = this.parts;
    logger.warn({ error, retryMs: this.retryMs }, "old states cannot be removed now; this is tried again");
    this.retry = clock.at(clock.nowMs() + this.retryMs, () => {
      this.retry = undefined;
      this.remove();
    });
    this.retryMs = Math.min(2 * this.retryMs, LONGEST_RETRY_MS);
  }
}

/**
 * LevelDB has one thread for background work in a process. It starts with the first such work, with the priority of the thread that
 * asks for it: this must not be the worker.
 */
const NOTHING = { from: Uint8Array.of(0), until: Uint8Array.of(0) };
/** Between `kept` and a quarter more states are readable. */
const ROUNDS_PER_HISTORY = 4n;
/** Pages in the cache, the nodes of one write, and LevelDB's portions of a range. */
const THREAD_MEMORY_MB = 256;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** Shorter removals are not worth a line. */
const LONG_SECONDS = 30;
const TELL_MS = 30_000;
