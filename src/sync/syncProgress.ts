import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { IN_SYNC_DISTANCE, PROGRESS_INTERVAL_MS } from "./limits.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";

/** The peer with which the node catches up, and how far it has come. */
export interface SyncProgress {
  /** False while more than five blocks were fetched, and their peer has more than five more. */
  readonly isInSync: boolean;
  readonly status: SyncStatus | undefined;
  /** Sets the peer; undefined when the node does not catch up with anybody. */
  changePeer(peer: SyncPeer | undefined): void;
  /** A fetched block of so many transactions was imported. */
  noteFetched(transactions: number): void;
  /** A download failed: the heights that peers claim are unproven again. */
  noteFailure(): void;
}

/** Block numbers. */
export interface SyncStatus {
  readonly startingBlock: bigint;
  readonly currentBlock: bigint;
  readonly highestBlock: bigint;
}

export function createSyncProgress(parts: {
  readonly chain: Pick<SyncChain, "head">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** `status` or `isInSync` may have changed. */
  readonly onChanged: () => void;
}): SyncProgress {
  const { chain, clock, logger, onChanged } = parts;
  const headNumber = (): bigint => chain.head.header.number;
  let target: { readonly peer: SyncPeer; readonly startingBlock: bigint } | undefined;
  /** Blocks fetched in ranges since the last failed download. */
  let fetched = 0n;
  const log = createProgressLog({ clock, logger, head: headNumber, highest: () => target?.peer.height });

  return {
    get isInSync() {
      const isBehind = (target?.peer.height ?? 0n) > headNumber() + IN_SYNC_DISTANCE;
      return !isBehind || fetched <= IN_SYNC_DISTANCE;
    },
    get status() {
      if (target === undefined) return undefined;
      const currentBlock = headNumber();
      const height = target.peer.height ?? currentBlock;
      const isAhead = height > currentBlock;
      return {
        startingBlock: target.startingBlock,
        currentBlock,
        highestBlock: isAhead ? height : currentBlock,
      };
    },
    changePeer(peer) {
      if (target?.peer === peer) return;
      const startingBlock = target?.startingBlock ?? headNumber();
      if (target === undefined) log.begin();
      if (peer === undefined) {
        if (headNumber() > startingBlock)
          logger.info({ from: startingBlock, to: headNumber() }, "caught up with peers");
      } else if (target === undefined) {
        logger.info({ head: startingBlock, height: peer.height }, "catching up with peers");
      }
      target = peer === undefined ? undefined : { peer, startingBlock };
      if (peer === undefined) fetched = 0n;
      onChanged();
    },
    noteFetched(transactions) {
      fetched += 1n;
      log.note(transactions);
      if (fetched === IN_SYNC_DISTANCE + 1n) onChanged();
    },
    noteFailure() {
      fetched = 0n;
      onChanged();
    },
  };
}

/** Logs the progress at most once per interval: how far, how fast, how long still. */
interface ProgressLog {
  begin(): void;
  /** A block of so many transactions was imported. */
  note(transactions: number): void;
}

function createProgressLog(parts: {
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  readonly head: () => bigint;
  readonly highest: () => bigint | undefined;
}): ProgressLog {
  const { clock, logger } = parts;
  let since = { atMs: clock.nowMs(), blocks: 0, transactions: 0 };

  function begin(): void {
    since = { atMs: clock.nowMs(), blocks: 0, transactions: 0 };
  }

  return {
    begin,
    note(transactions) {
      since.blocks++;
      since.transactions += transactions;
      const seconds = (clock.nowMs() - since.atMs) / 1000;
      const highest = parts.highest();
      if (seconds * 1000 < PROGRESS_INTERVAL_MS || highest === undefined || highest === 0n) return;
      const number = parts.head();
      const blocksPerSecond = since.blocks / seconds;
      logger.info(
        {
          number,
          highest,
          percent: Number((number * 1000n) / highest) / 10,
          blocksPerSecond: Number(blocksPerSecond.toFixed(1)),
          transactionsPerSecond: Math.round(since.transactions / seconds),
          secondsLeft: Math.max(0, Math.round(Number(highest - number) / blocksPerSecond)),
        },
        "catching up with peers",
      );
      begin();
    },
  };
}
