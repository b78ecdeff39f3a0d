import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Block } from "../types/block.ts";
import { AnnouncedBlocks } from "./announcedBlocks.ts";
import { CatchUp } from "./catchUp.ts";
import { CoalescedTask } from "./coalescedTask.ts";
import { Comparison } from "./comparison.ts";
import type { OnProcessed, SyncContext } from "./context.ts";
import { BULK_LIMITS, type BulkLimits } from "./limits.ts";
import { PeerChoice } from "./peerChoice.ts";
import { PeerReports } from "./peerReports.ts";
import type { OfferedBlock, SyncChain, SyncPeer } from "./ports.ts";
import { RetrySchedule } from "./retrySchedule.ts";
import { createProcessedCounter, declareSyncMetrics } from "./syncMetrics.ts";
import { SyncProgress, type SyncStatus } from "./syncProgress.ts";

/**
 * Syncs the chain from peers (p2p.md#full-sync, p2p.md#block-propagation).
 *
 *     NewBlock ──> announcedBlocks.ts ── its parent is the head ────────────────┐
 *     peers that claim more ── headProbe.ts: the next block ──> peerChoice.ts   │
 *     near: the best peer ── rangeDownload.ts: headers, linked ── bodies ───────┴──> importBlock, one after another
 *     far:  one peer's headers, the bodies of several ── bulk/bulkSync.ts ─────────> bulk import, in groups
 *
 * catchUp.ts decides which of them is next, retrySchedule.ts when, and peerReports.ts who is to blame.
 *
 * Invariants: one range is fetched at a time, and announced blocks do not wait for it; unproven peers that claim to be
 * ahead are all probed at once; a peer that delivered nothing, or less than it claims to have, or is too slow, is
 * backed off, longer each time, and another is asked; a peer that sent invalid data is disconnected; whatever peers
 * claim, blocks enter the chain only through `importBlock`, and the node counts as behind only for blocks that it
 * received. Consensus may move the head at any time: duplicate and late blocks are ignored. Not done here: validating
 * blocks (chain), limits of messages (network).
 */
export interface Sync {
  /** Checks for work: a peer connected or has a greater height, or the head moved. */
  wake(): void;
  /** Queues a block near the head that a peer announced. */
  offer(offered: OfferedBlock): void;
  /** False while more than five blocks were fetched, and their peer has more than five more. */
  readonly isInSync: boolean;
  /** Block numbers while a range is being fetched from a trusted peer, or from one that has delivered some of it. */
  readonly status: SyncStatus | undefined;
  /** Calls `listener` when `status` or `isInSync` may have changed, until the returned function is called. */
  onStatusChanged(listener: (status: SyncStatus | undefined) => void): () => void;
  /**
   * Whether the node has compared itself with peers: not after a start, or a time without peers, until the height of a peer
   * is known and was followed up, so that the peer has no more than the node, delivered what it has, or failed to.
   */
  readonly comparison: Pick<Comparison, "isMade">;
  /** Stops after the current import. */
  close(): Promise<void>;
}

export interface SyncParts {
  readonly peers: () => readonly SyncPeer[];
  readonly chain: SyncChain;
  /** Whether this address is a validator of the next block; none is unless given. */
  readonly isValidator?: (address: Address) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: BulkLimits;
  /** Called when a peer sent an invalid block, or did not deliver blocks that it claims to have, or not in time. */
  readonly onRefused?: (reason: "invalidBlock" | "missingBlocks") => void;
  /** Called with what a download takes in and is done with; counted in the metrics unless given. */
  readonly onProcessed?: OnProcessed;
  /** Absent where metrics are off. */
  readonly metrics?: Metrics | undefined;
  /**
   * Called when a peer announced the block that follows the head and its header is valid, seals included: others may have
   * it.
   */
  readonly relay?: (block: Block) => void;
}

export function createSync(parts: SyncParts): Sync {
  const { peers, chain, clock, logger, limits = BULK_LIMITS } = parts;
  const choice = new PeerChoice(clock.nowMs, parts.isValidator ?? (() => false));
  const schedule = new RetrySchedule({
    clock,
    nextRetryMs: () => choice.nextRetryMs(peers()),
    retry: wake,
  });
  const isClosed = (): boolean => schedule.isClosed();
  const scheduleRetry = (): void => schedule.scheduleRetry();
  const statusListeners = new Set<(status: SyncStatus | undefined) => void>();
  const progress = new SyncProgress({
    chain,
    clock,
    logger,
    onChanged() {
      for (const listener of [...statusListeners]) listener(progress.status);
    },
  });
  const { onRefused = () => undefined } = parts;
  const reports = new PeerReports({
    peers,
    chain,
    clock,
    logger,
    onRefused,
    onLocalFailure: () => schedule.pause(),
  });
  const onFailure = (error: unknown): void => reports.failed(error);
  const context: SyncContext = {
    onProcessed: parts.onProcessed ?? createProcessedCounter(parts.metrics),
    peers,
    chain,
    clock,
    choice,
    progress,
    reports,
    limits,
    isClosed,
    canImport: () => schedule.canImport(),
  };
  if (parts.metrics !== undefined)
    declareSyncMetrics(parts.metrics, {
      headNumber: () => chain.head.header.number,
      syncStatus: () => progress.status,
    });
  const comparison = new Comparison(peers);
  const announced = new AnnouncedBlocks(context, (block) => {
    if (progress.isInSync) parts.relay?.(block);
  });
  const announcedTask = new CoalescedTask({
    run: () => announced.importNext(),
    isClosed,
    onFailure,
    onEnd: scheduleRetry,
  });
  const catchUp = new CatchUp(context, {
    onRangeEnded: () => announcedTask.wake(),
    onWaiting: scheduleRetry,
    onFailure,
  });
  const rangeTask = new CoalescedTask({
    run: () => catchUp.run(),
    isClosed,
    onFailure,
    onEnd() {
      comparison.noteFollowedUp();
      progress.changePeer(undefined, isClosed());
      scheduleRetry();
    },
  });

  function wake(): void {
    announcedTask.wake();
    rangeTask.wake();
    catchUp.notify();
  }

  return {
    wake,
    offer(offered) {
      if (announced.add(offered)) wake();
    },
    get isInSync() {
      return progress.isInSync;
    },
    get status() {
      return progress.status;
    },
    onStatusChanged(listener) {
      statusListeners.add(listener);
      return () => statusListeners.delete(listener);
    },
    comparison,
    async close() {
      schedule.close();
      catchUp.notify();
      await Promise.all([announcedTask.settled(), rangeTask.settled()]);
    },
  };
}
