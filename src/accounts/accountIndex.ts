import { rmSync } from "node:fs";
import type { ChainReader } from "../chain/chainReader.ts";
import type { ViewLimits } from "../chain/view/limits.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { Logger } from "../observability/logger.ts";
import { Progress } from "../observability/progress.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { DamagedData, type DatabaseOnDisk } from "../storage/database.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import { startWorkerThread, type WorkerThread } from "../workers/workerThread.ts";
import { declareAccountIndexMetrics } from "./accountIndexMetrics.ts";
import type { AccountIndexCommand, AccountIndexWorkerData } from "./accountIndexWorker.ts";
import { openIndexDatabase } from "./indexDatabase.ts";
import type { IndexProgress } from "./indexer.ts";
import { readStatus } from "./layout.ts";

interface AccountIndexSettings {
  /** Directory of the chain's database, which this thread has open. */
  readonly chainPath: string;
  /** Directory of the index; created when absent. */
  readonly indexPath: string;
  /** Size above which the oldest blocks are removed; 0 for no limit. */
  readonly maxBytes: number;
  /** Bytes of the index to keep in memory; INDEX_CACHE_BYTES unless given. */
  readonly cacheBytes?: number;
  /** Sizes of the caches of the thread's view of the chain; VIEW_LIMITS unless given. */
  readonly viewLimits?: ViewLimits;
}

interface AccountIndexParts {
  readonly chain: Pick<ChainReader, "onHeadChanged">;
  readonly spec: ChainSpec;
  readonly shownHead: SharedArrayBuffer;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent where metrics are off. */
  readonly metrics?: Metrics | undefined;
}

/**
 * Opens the index, which is rebuilt when it is damaged or has another version: nothing in it is the only copy of anything.
 * Throws DiskError.
 */
export async function openAccountIndex(
  settings: AccountIndexSettings,
  parts: AccountIndexParts,
): Promise<AccountIndex> {
  const { indexPath: path, cacheBytes = INDEX_CACHE_BYTES } = settings;
  let database: DatabaseOnDisk;
  try {
    database = await openUsable(path, cacheBytes);
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    parts.logger.warn({ path, error }, "the explorer's index cannot be used and is being rebuilt");
    rmSync(path, { recursive: true, force: true });
    database = await openUsable(path, cacheBytes);
  }
  await database.compact(NOTHING);
  const index = new AccountIndex(database, settings, parts);
  if (parts.metrics !== undefined) declareAccountIndexMetrics(parts.metrics, index);
  return index;
}

async function openUsable(path: string, cacheBytes: number): Promise<DatabaseOnDisk> {
  const database = await openIndexDatabase({ path, cacheBytes });
  try {
    readStatus(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * An empty range to compact. LevelDB has one thread for background work in a process. It starts with the first such work,
 * with the priority of the thread that requests it, which must not be the worker, because the same thread writes the chain's
 * tables.
 */
const NOTHING = { from: Uint8Array.of(0), until: Uint8Array.of(0) };

/**
 * The index by address: what each account did. It has a database of its own; a worker thread of the lowest priority writes
 * it, block after block, from the beginning of the chain and then behind the head:
 *
 *     main thread   opens both databases ─> starts the thread, tells it that the head moved
 *     worker        reads the chain, executes blocks again, writes the index (indexer.ts)
 *     any thread    reads the index (indexReader.ts), and reports what it cannot read to the main thread, which tells the worker
 */
export class AccountIndex {
  readonly database: DatabaseOnDisk;
  /** The thread's last report; undefined before the first. */
  progress: IndexProgress | undefined;
  private readonly settings: AccountIndexSettings;
  private readonly parts: AccountIndexParts;
  private thread: WorkerThread | undefined;
  private stopListening: () => void = () => undefined;
  private retry: Timer | undefined;
  private retryMs = FIRST_RETRY_MS;
  private isClosed = false;
  /** How far the index is while it is far behind the head, and the block at which that began. */
  private building: { readonly progress: Progress; readonly from: number } | undefined;
  private hasReportedCut = false;
  private hasReportedDamage = false;
  private reportedFailure: string | undefined;

  constructor(database: DatabaseOnDisk, settings: AccountIndexSettings, parts: AccountIndexParts) {
    this.database = database;
    this.settings = settings;
    this.parts = parts;
  }

  start(): void {
    this.stopListening = this.parts.chain.onHeadChanged("accountIndex", () => this.send("head"));
    this.startThread();
  }

  /** Called when a reader on any thread has found an unreadable entry (UnusableIndex.what): the index is rebuilt. */
  reportDamage(what: string): void {
    this.send({ damage: what });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.retry?.cancel();
    this.stopListening();
    await this.thread?.close("close" satisfies AccountIndexCommand);
    this.building?.progress.end();
    await this.database.close();
  }

  private send(command: AccountIndexCommand): void {
    this.thread?.post(command);
  }

  private startThread(): void {
    const { chainPath, indexPath, maxBytes, viewLimits } = this.settings;
    const { spec, shownHead } = this.parts;
    const workerData: AccountIndexWorkerData = {
      chainPath,
      indexPath,
      maxBytes,
      viewLimits,
      shownHead,
      spec: { ...spec, genesis: { ...spec.genesis, alloc: [] } },
    };
    this.thread = startWorkerThread<IndexProgress>(
      { entry: workerEntry("accountIndexWorker"), workerData, heapMb: THREAD_MEMORY_MB },
      { receive: (progress) => this.receive(progress), ended: (error) => this.ended(error) },
    );
    this.thread.keepProcessAlive(false);
  }

  private receive(progress: IndexProgress): void {
    // Only a new block resets the pause: a thread that always ends at the same block still reports the one before it.
    if (progress.next !== this.progress?.next) {
      this.retryMs = FIRST_RETRY_MS;
      this.reportedFailure = undefined;
    }
    this.progress = progress;
    this.reportOnce(progress);
    this.reportDistance(progress);
  }

  private reportOnce({ cutBlock, damage }: IndexProgress): void {
    const { logger } = this.parts;
    if (cutBlock !== undefined && !this.hasReportedCut) {
      this.hasReportedCut = true;
      logger.warn(
        { block: cutBlock },
        "a block is too large for the explorer's index, which leaves out some of its calls or transfers; further ones are not logged",
      );
    }
    if (damage !== undefined && !this.hasReportedDamage) {
      this.hasReportedDamage = true;
      const { indexPath: path } = this.settings;
      logger.warn({ path, message: damage }, "the explorer's index is damaged and is being rebuilt");
    }
  }

  private reportDistance({ next, head, bytes }: IndexProgress): void {
    const { clock, logger } = this.parts;
    const block = next - 1;
    const behind = head - block;
    if (behind > MANY_BLOCKS && this.building === undefined) {
      this.building = { progress: new Progress(BUILD, logger, () => clock.nowMs()), from: block };
      logger.info({ block, head, bytes }, BUILD.message);
    }
    if (this.building === undefined) return;
    const { progress, from } = this.building;
    if (behind > 0) {
      progress.change({ ...BUILD, total: head });
      progress.advance({
        position: block,
        counts: { blocks: block - from - progress.count("blocks") },
        fields: { block, head, bytes },
      });
    } else {
      this.building = undefined;
      progress.end();
      const seconds = Math.round(progress.seconds);
      logger.info({ block, bytes, seconds }, "the explorer's index has reached the head");
    }
  }

  private ended(error: Error): void {
    this.thread = undefined;
    if (this.isClosed) return;
    const { clock, logger } = this.parts;
    const { indexPath: path } = this.settings;
    if (DAMAGE.includes(error.name)) {
      logger.error({ error, path }, "the explorer's index has stopped, because data is damaged");
      return;
    }
    const fields = { error, path, retryMs: this.retryMs };
    if (error.message !== this.reportedFailure) logger.warn(fields, CANNOT_BE_BUILT);
    else logger.debug(fields, CANNOT_BE_BUILT);
    this.reportedFailure = error.message;
    this.retry = clock.at(clock.nowMs() + this.retryMs, () => this.startThread());
    this.retryMs = Math.min(2 * this.retryMs, LONGEST_RETRY_MS);
  }
}

const CANNOT_BE_BUILT = "the explorer's index cannot be built now; retrying";
/** Names of errors that a new thread would hit again; only the name of the class crosses threads. */
const DAMAGE = ["DamagedData", "UnusableIndex"];
export const INDEX_CACHE_BYTES = 8 * 1024 * 1024;
/** Memory for executing a block of some thousand calls again, and for the entries of a step. */
const THREAD_MEMORY_MB = 512;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** Distance behind the head above which it is logged. */
const MANY_BLOCKS = 100;
/** The log has a line every half minute: a long chain takes hours. */
const BUILD = { message: "the explorer's index is being built", lineIntervalMs: 30_000 };
