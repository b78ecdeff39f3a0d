import type { ChainView } from "../chain/view/chainView.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { expectDefined } from "../primitives/assert.ts";
import { Batch } from "../storage/batch.ts";
import type { DatabaseOnDisk } from "../storage/database.ts";
import type { ReplaySource } from "../tracers/replay.ts";
import { BLOCK_LIMITS, BlockEntries, type BlockLimits } from "./blockEntries.ts";
import { commonBlock } from "./commonBlock.ts";
import { type Sweep, sweepStep } from "./indexSweep.ts";
import { type IndexStatus, MARKS, putMark, putRecentMark, putStatus, readStatus } from "./layout.ts";
import { Statistics } from "./statistics.ts";
import { forgetStatistics } from "./statisticsLayout.ts";
import { UnusableIndex } from "./unusableIndex.ts";

interface IndexerParts {
  /** The index, which nobody else writes. */
  readonly database: DatabaseOnDisk;
  readonly view: ChainView;
  readonly spec: ChainSpec;
  /** Size above which the oldest blocks are removed; 0 for no limit. */
  readonly maxBytes: number;
  /** Bytes that the index takes on disk. */
  measure(): Promise<number>;
  /** Time of a monotonic clock, milliseconds. */
  nowMs(): number;
  /** Limits of one block; BLOCK_LIMITS unless given. */
  readonly limits?: BlockLimits;
}

/** The state of the index after a step. */
export interface IndexProgress extends IndexStatus {
  readonly head: number;
  readonly bytes: number;
  /** The newest block since the start of this thread that was too heavy to be indexed whole (BlockLimits). */
  readonly cutBlock: number | undefined;
  /** Why the index was rebuilt since the start of this thread; undefined if it was not. */
  readonly damage: string | undefined;
}

/**
 * Builds the index by address step by step, each of some milliseconds and at most one atomic, synced write, so that after a
 * kill at most one step is repeated, or the search for entries to remove starts over:
 *
 *     refresh the view ─> a block of the index is no longer on the chain? forget all after the last common one
 *        ─> entries of such blocks, or of pruned ones, are left? remove some ─> add the next blocks
 *           ─> none is left? count some for the statistics (statistics.ts)
 *
 * Invariants: the status names only blocks whose entries are complete · entries of other blocks are never shown, and are
 * removed before a block with the same number is added · everything added comes from one view of the chain.
 */
export class Indexer {
  private readonly parts: IndexerParts;
  private readonly source: ReplaySource;
  private readonly statistics: Statistics;
  private hasView = false;
  private sweep: Sweep | undefined;
  private bytes = 0;
  private cutBlock: number | undefined;
  private damage: string | undefined;
  /** The damage that a reader has reported since the last step. */
  private reported: string | undefined;
  /** True from a rebuild until the index has reached the head: damage that readers report meanwhile was found before it. */
  private isBegunAnew = false;
  private measuredAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: IndexerParts) {
    const { view, spec } = parts;
    this.parts = parts;
    this.statistics = new Statistics(parts);
    this.source = {
      spec,
      stateAt: (number) => view.stateAt(number),
      hashOf: (number) => view.headerByNumber(number)?.hash,
    };
  }

  /**
   * Performs one step. Returns false when there is nothing to do before the head moves. An unreadable index is rebuilt; when
   * it is unreadable again after that, UnusableIndex is thrown.
   */
  async step(): Promise<boolean> {
    try {
      return await this.nextStep();
    } catch (error) {
      if (!(error instanceof UnusableIndex) || this.damage !== undefined) throw error;
      this.damage = error.message;
      this.isBegunAnew = true;
      await this.forgetAll();
      return true;
    }
  }

  /** Makes the next step rebuild the index, as if it had found the damage itself: readers access entries that no step reads. */
  reportDamage(what: string): void {
    if (!this.isBegunAnew) this.reported ??= what;
  }

  private async nextStep(): Promise<boolean> {
    const { view, database } = this.parts;
    // The database has a newer head that is not shown yet: a message about it follows.
    if (!view.refresh()) return false;
    this.hasView = true;
    const { reported } = this;
    this.reported = undefined;
    if (reported !== undefined) throw new UnusableIndex(reported);
    const status = await this.aligned(readStatus(database) ?? this.beginning());
    if (status.isStale) return this.clean(status);
    if (await this.lacksBlocks(status)) return true;
    if (await this.exceedsLimit(status)) return this.dropOldest(status);
    if (status.isPruning) await this.clean(status);
    if (status.next <= this.head) return this.advance(readStatus(database) ?? status);
    this.isBegunAnew = false;
    return (await this.statistics.step(status)) || status.isPruning;
  }

  /**
   * The progress; undefined before this thread has seen a head, such as while blocks are written faster than they are shown.
   */
  async progress(): Promise<IndexProgress | undefined> {
    if (!this.hasView) return undefined;
    await this.measure(PROGRESS_MEASURE_MS);
    return {
      ...(readStatus(this.parts.database) ?? this.beginning()),
      head: this.head,
      bytes: this.bytes,
      cutBlock: this.cutBlock,
      damage: this.damage,
    };
  }

  private get head(): number {
    return Number(this.parts.view.head.header.number);
  }

  /** The first block that can be executed again: one with its parent's state, except the genesis block. */
  private beginning(): IndexStatus {
    const first = Number(this.parts.view.historyStart.states) + 1;
    return { first, next: first, isStale: false, isPruning: false };
  }

  /** Forgets all blocks; the following steps remove their entries unread. */
  private async forgetAll(): Promise<void> {
    const { database } = this.parts;
    const batch = new Batch();
    for await (const [key] of database.range(MARKS)) batch.delete(key);
    putStatus(batch, { ...this.beginning(), isStale: true });
    forgetStatistics(batch, this.beginning().first);
    await database.write(batch);
    this.sweep = undefined;
  }

  /** Forgets the blocks that are no longer on the chain. */
  private async aligned(status: IndexStatus): Promise<IndexStatus> {
    const { database, view } = this.parts;
    if (status.next === status.first) return status;
    const common = await commonBlock(database, view, status.next - 1);
    if (common === status.next - 1) return status;
    const next = Math.max((common ?? 0) + 1, status.first);
    const shortened = { ...status, next, isStale: true };
    await this.write((batch) => putStatus(batch, shortened));
    this.sweep = undefined;
    return shortened;
  }

  /**
   * Forgets the blocks that the chain has removed (`--block-history`), many at a time, because a sweep scans every entry. An
   * index that is behind the first state (`--state-history`) continues where it can. Readers leave such blocks out even
   * earlier.
   */
  private async lacksBlocks(status: IndexStatus): Promise<boolean> {
    const executable = this.beginning().first;
    const isBehind = status.next < executable;
    const first = isBehind ? executable : Number(this.parts.view.historyStart.blocks) + 1;
    const removed = first - status.first;
    const isDue = removed >= Math.max(REMOVED_BLOCKS, (status.next - status.first) / 4);
    if (!isBehind && (status.isPruning || !isDue)) return false;
    const next = Math.max(status.next, first);
    await this.write((batch) => putStatus(batch, { ...status, first, next, isPruning: true }));
    this.sweep = undefined;
    return true;
  }

  /** Removes some of the entries of blocks that the index does not cover, and updates the status once none is left. */
  private async clean(status: IndexStatus): Promise<true> {
    const { database } = this.parts;
    const batch = new Batch();
    const goal = { ...status, compacts: status.isPruning };
    this.sweep = await sweepStep({ database, batch }, goal, this.sweep);
    if (this.sweep === undefined) putStatus(batch, { ...status, isStale: false, isPruning: false });
    // After a rewind most steps find nothing.
    if (batch.operations.length > 0) await database.write(batch);
    if (this.sweep === undefined) this.measuredAtMs = Number.NEGATIVE_INFINITY;
    return true;
  }

  private async exceedsLimit({ first, next, isPruning }: IndexStatus): Promise<boolean> {
    const { maxBytes } = this.parts;
    if (maxBytes === 0 || isPruning || next - first < 2) return false;
    await this.measure(LIMIT_MEASURE_MS);
    return this.bytes > maxBytes;
  }

  /** Gives up the oldest quarter of the blocks; the following steps remove their entries. */
  private async dropOldest(status: IndexStatus): Promise<boolean> {
    const first = status.first + Math.ceil((status.next - status.first) / 4);
    await this.write((batch) => putStatus(batch, { ...status, first, isPruning: true }));
    this.sweep = undefined;
    return true;
  }

  private async advance(status: IndexStatus): Promise<boolean> {
    const { database, view, nowMs, limits = BLOCK_LIMITS } = this.parts;
    const batch = new Batch();
    const entries = new BlockEntries(this.source, batch, limits);
    const endMs = nowMs() + STEP_MS;
    let { next } = status;
    do await entries.add(expectDefined(view.blockByNumber(BigInt(next++)), "a block up to the head"));
    while (next <= this.head && next - status.next < STEP_BLOCKS && nowMs() < endMs);
    entries.finish();
    this.cutBlock = entries.cutBlock ?? this.cutBlock;
    this.putMarks(batch, status.next, next - 1);
    putStatus(batch, { ...status, next });
    await database.write(batch);
    return true;
  }

  private putMarks(batch: Batch, from: number, last: number): void {
    const { hash } = expectDefined(this.parts.view.headerByNumber(BigInt(last)), `block ${last}`);
    putRecentMark(batch, { number: last, hash });
    const isLasting = Math.floor(last / LASTING_MARK_BLOCKS) > Math.floor((from - 1) / LASTING_MARK_BLOCKS);
    if (isLasting) putMark(batch, { number: last, hash });
  }

  private async write(fill: (batch: Batch) => void): Promise<void> {
    const batch = new Batch();
    fill(batch);
    await this.parts.database.write(batch);
  }

  private async measure(everyMs: number): Promise<void> {
    const { measure, nowMs } = this.parts;
    if (nowMs() - this.measuredAtMs < everyMs) return;
    this.bytes = await measure();
    this.measuredAtMs = nowMs();
  }
}

/** Limits of one step, which always ends after a whole block. */
const STEP_MS = 10;
const STEP_BLOCKS = 1_000;
/** Number of blocks removed from the chain after which their entries are removed. */
const REMOVED_BLOCKS = 1_000;
/** Distance of lasting marks: after a rewind beyond the recent marks, at most this many further blocks are indexed again. */
const LASTING_MARK_BLOCKS = 4096;
/** Intervals between two measurements of the size: to keep the limit, and to report progress. */
const LIMIT_MEASURE_MS = 10_000;
const PROGRESS_MEASURE_MS = 5_000;
