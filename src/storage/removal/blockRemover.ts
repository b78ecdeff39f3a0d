import { Progress } from "../../observability/progress.ts";
import type { Metrics } from "../../observability/registry.ts";
import { smaller } from "../../primitives/quantity.ts";
import type { HistoryStart } from "../historyStart.ts";
import { hasRemovable } from "./blockRemoval.ts";
import type { BlockRemovalCommand, BlockRemovalReport } from "./blockRemovalWorker.ts";
import { RemovalThread } from "./removalThread.ts";
import type { RemoverParts, RemoverSettings } from "./remover.ts";

/** The dependencies of the removal of old blocks. */
type BlockRemoverParts = RemoverParts<{ keepBlocks(kept: bigint): Promise<HistoryStart> }>;

/** Progress of the removal of old blocks. */
export interface BlockRemovalStatus {
  /** Blocks below the head that are kept whole; undefined for all. */
  readonly kept: bigint | undefined;
  /** The first block that is stored whole, apart from the genesis block. */
  readonly start: bigint;
  /** Number of blocks before it whose bodies may still take room on the disk; undefined until the thread has reported it. */
  readonly left: number | undefined;
}

/**
 * Removes the blocks that are older than `--block-history` while the node runs:
 *
 *     head moves ─> the blocks begin later (chain/keepHistory.ts), some at a time, never after the states
 *                ─> the worker (blockRemovalWorker.ts) removes what lies before
 *
 * Leftovers of an earlier run are removed, too, even when the option is no longer given. Close it before the database.
 */
export class BlockRemover {
  private readonly settings: RemoverSettings;
  private readonly parts: BlockRemoverParts;
  private readonly thread: RemovalThread<BlockRemovalCommand, BlockRemovalReport>;
  private stopListening: () => void = () => undefined;
  private onFailure: (error: unknown) => void = () => undefined;
  private isClosed = false;
  private moving: Promise<void> | undefined;
  private movedAtMs = Number.NEGATIVE_INFINITY;
  private report: BlockRemovalReport | undefined;
  /** How far the removal of many blocks is, and the first of them. */
  private backlog: { readonly progress: Progress; readonly from: number } | undefined;

  constructor(settings: RemoverSettings, parts: BlockRemoverParts) {
    this.settings = settings;
    this.parts = parts;
    this.thread = new RemovalThread(
      { worker: "blockRemovalWorker", path: settings.path, heapMb: THREAD_MEMORY_MB, removed: "old blocks" },
      { ...parts, receive: (report) => this.receive(report), fail: (error) => this.onFailure(error) },
    );
    declareBlockHistory(parts.metrics, this);
  }

  /** `onFailure` is called when the start of the history cannot be moved, or when the disk fails while blocks are removed. */
  async begin(onFailure: (error: unknown) => void): Promise<void> {
    this.onFailure = onFailure;
    const { database, chain, logger } = this.parts;
    const { kept } = this.settings;
    const { blocks } = chain.historyStart;
    if (kept !== undefined) {
      this.stopListening = chain.onHeadChanged("removal", () => this.follow());
      logger.info(
        { kept: Number(kept), start: Number(blocks) },
        "blocks older than --block-history are removed while the node runs, except their headers",
      );
      this.follow();
    } else if (blocks > 0n)
      logger.info(
        { start: Number(blocks) },
        "all blocks are kept from now on; only headers are left of those before the start of this node's history",
      );
    if (await hasRemovable(database)) this.wake();
  }

  get status(): BlockRemovalStatus {
    const start = this.parts.chain.historyStart.blocks;
    const { report, thread } = this;
    const isUnknown = report === undefined && thread.isRunning;
    const left = isUnknown ? undefined : Math.max(0, Number(start) - (report?.next ?? Number(start)));
    return { kept: this.settings.kept, start, left };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.stopListening();
    await this.moving;
    await this.thread.close();
    this.backlog?.progress.end();
  }

  /**
   * Moves the start of the history along with the head, but not at each block: a move is a write of its own, and ends a bulk
   * import.
   */
  private follow(): void {
    const { kept } = this.settings;
    const { chain, clock } = this.parts;
    if (kept === undefined || this.moving !== undefined || this.isClosed) return;
    const { blocks, states } = chain.historyStart;
    // No block whose state is kept is removed.
    const due = smaller(chain.head.header.number - kept, states) - blocks;
    if (due < MOVED_BLOCKS || clock.nowMs() - this.movedAtMs < MOVE_PAUSE_MS) return;
    this.moving = this.move(kept);
  }

  private async move(kept: bigint): Promise<void> {
    const { chain, clock } = this.parts;
    try {
      await chain.keepBlocks(kept);
      this.wake();
    } catch (error) {
      if (!this.isClosed) this.onFailure(error);
    } finally {
      this.movedAtMs = clock.nowMs();
      this.moving = undefined;
    }
  }

  /** Sends the worker the start that all readers know by now. */
  private wake(): void {
    if (!this.isClosed) this.thread.run({ until: this.parts.chain.historyStart.blocks });
  }

  private receive(report: BlockRemovalReport): void {
    this.report = report;
    this.log(report);
  }

  private log({ next, until, transactions, isDone }: BlockRemovalReport): void {
    const { clock, logger } = this.parts;
    if (until - next > MANY_BLOCKS && this.backlog === undefined) {
      this.backlog = { progress: new Progress(REMOVAL, logger, () => clock.nowMs()), from: next };
      logger.info({ next, until, transactions }, REMOVAL.message);
    }
    if (this.backlog === undefined) return;
    const { progress, from } = this.backlog;
    if (isDone) {
      this.backlog = undefined;
      progress.end();
      const seconds = Math.round(progress.seconds);
      logger.info({ until, transactions, seconds }, "old blocks have been removed");
    } else {
      progress.change({ ...REMOVAL, total: until - from });
      progress.advance({
        position: next - from,
        counts: { blocks: next - from - progress.count("blocks") },
        fields: { next, until, transactions },
      });
    }
  }
}

/** The start of the history moves by at least this many blocks, and after at least this many milliseconds. */
const MOVED_BLOCKS = 32n;
const MOVE_PAUSE_MS = 5_000;
/** Memory for a step of 256 KB, and LevelDB's portions of a range. */
const THREAD_MEMORY_MB = 128;
/** Number of removed blocks above which a removal is logged. */
const MANY_BLOCKS = 100;
/** The log has a line every half minute: a removal may take hours. */
const REMOVAL = { message: "old blocks are being removed", lineIntervalMs: 30_000 };

/** Declares where whole blocks begin, and how much of those before is still to be removed. */
function declareBlockHistory(
  metrics: Metrics | undefined,
  blocks: { readonly status: BlockRemovalStatus },
): void {
  if (metrics?.isEnabled("NODE") !== true) return;
  metrics.gauge(
    { category: "NODE", name: "block_history_first_block", help: "First block stored whole; 0 for all" },
    () => Number(blocks.status.start),
  );
  metrics.gauge(
    {
      category: "NODE",
      name: "block_history_blocks_to_remove",
      help: "Blocks before it whose transactions and receipts are still to be removed",
    },
    () => blocks.status.left ?? Number.NaN,
  );
}
