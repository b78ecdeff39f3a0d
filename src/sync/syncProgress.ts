import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { larger } from "../primitives/quantity.ts";
import { IN_SYNC_DISTANCE, PROGRESS_INTERVAL_MS } from "./limits.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";

/** Tracks the peer that the node catches up with, and how far it has come. */
export interface SyncProgress {
  /**
   * False while more than five blocks were fetched, and their peer has more than five more; and while more than five
   * headers after the head are known with their seals.
   */
  readonly isInSync: boolean;
  readonly status: SyncStatus | undefined;
  /** Sets the peer; undefined when the node is not catching up. */
  changePeer(peer: SyncPeer | undefined): void;
  /** Notes that a fetched block was imported. */
  noteFetched(transactions: number): void;
  /** Sets the number of the newest header whose seals a running download has checked; undefined when there is none. */
  noteChecked(number: bigint | undefined): void;
  /** Notes that a download failed: the heights that peers claim are unproven again. */
  noteFailure(): void;
}

/** Block numbers of a running synchronization. */
export interface SyncStatus {
  readonly startingBlock: bigint;
  readonly currentBlock: bigint;
  readonly highestBlock: bigint;
}

export function createSyncProgress(parts: {
  readonly chain: Pick<SyncChain, "head">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when `status` or `isInSync` may have changed. */
  readonly onChanged: () => void;
}): SyncProgress {
  const { chain, clock, logger, onChanged } = parts;
  const headNumber = (): bigint => chain.head.header.number;
  let target: { readonly peer: SyncPeer; readonly startingBlock: bigint } | undefined;
  /** Number of blocks fetched in ranges since the last failed download. */
  let fetched = 0n;
  let checked = 0n;
  const log = createProgressLog({ clock, logger, head: headNumber, highest: () => target?.peer.height });

  return {
    get isInSync() {
      const near = headNumber() + IN_SYNC_DISTANCE;
      const isBehind = fetched > IN_SYNC_DISTANCE && (target?.peer.height ?? 0n) > near;
      return !isBehind && checked <= near;
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
        log.end();
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
    noteChecked(number) {
      checked = number ?? 0n;
      onChanged();
    },
    noteFailure() {
      fetched = 0n;
      onChanged();
    },
  };
}

/** Logs the progress once per interval: how far, how fast, how much longer. */
interface ProgressLog {
  begin(): void;
  end(): void;
  /** Counts an imported block. */
  note(transactions: number): void;
}

function createProgressLog(parts: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly head: () => bigint;
  readonly highest: () => bigint | undefined;
}): ProgressLog {
  const { clock, logger } = parts;
  let since = { atMs: 0, blocks: 0, transactions: 0 };
  let timer: Timer | undefined;

  function begin(): void {
    since = { atMs: clock.nowMs(), blocks: 0, transactions: 0 };
    timer?.cancel();
    timer = clock.at(since.atMs + PROGRESS_INTERVAL_MS, () => {
      logSpeed();
      begin();
    });
  }

  function logSpeed(): void {
    const seconds = (clock.nowMs() - since.atMs) / 1000;
    const number = parts.head();
    const highest = larger(parts.highest() ?? number, number);
    if (highest === 0n || seconds <= 0) return;
    const blocksPerSecond = since.blocks / seconds;
    const left = Number(highest - number);
    logger.info(
      {
        number,
        highest,
        percent: Number((number * 1000n) / highest) / 10,
        blocksPerSecond: Number(blocksPerSecond.toFixed(1)),
        transactionsPerSecond: Math.round(since.transactions / seconds),
        // The remaining time is unknown while no block arrives.
        ...(blocksPerSecond > 0 && { secondsLeft: Math.round(left / blocksPerSecond) }),
      },
      "catching up with peers",
    );
  }

  return {
    begin,
    end: () => timer?.cancel(),
    note(transactions) {
      since.blocks++;
      since.transactions += transactions;
    },
  };
}
