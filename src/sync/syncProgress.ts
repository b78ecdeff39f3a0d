import type { Logger } from "../observability/logger.ts";
import { Progress } from "../observability/progress.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { larger } from "../primitives/quantity.ts";
import { IN_SYNC_DISTANCE, PROGRESS_INTERVAL_MS } from "./limits.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";

/** Block numbers of a running synchronization. */
export interface SyncStatus {
  readonly startingBlock: bigint;
  readonly currentBlock: bigint;
  readonly highestBlock: bigint;
}

interface SyncProgressParts {
  readonly chain: Pick<SyncChain, "head">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when `status` or `isInSync` may have changed. */
  readonly onChanged: () => void;
}

interface SyncEnd {
  readonly from: bigint;
  /** The peer's newest known block; undefined when none is known. */
  readonly height: bigint | undefined;
  readonly isStopping: boolean;
}

/** Tracks the peer that the node catches up with, and how far it has come. */
export class SyncProgress {
  private readonly parts: SyncProgressParts;
  private target: { readonly peer: SyncPeer; readonly startingBlock: bigint } | undefined;
  /** Number of blocks fetched in ranges since the last failed download. */
  private fetched = 0n;
  private checked = 0n;
  private readonly log: ProgressLog;

  constructor(parts: SyncProgressParts) {
    this.parts = parts;
    this.log = new ProgressLog({
      clock: parts.clock,
      logger: parts.logger,
      head: () => this.headNumber(),
      highest: () => this.target?.peer.height,
    });
  }

  /**
   * False while more than five blocks were fetched, and their peer has more than five more; and while more than five
   * headers after the head are known with their seals.
   */
  get isInSync(): boolean {
    const near = this.headNumber() + IN_SYNC_DISTANCE;
    const isBehind = this.fetched > IN_SYNC_DISTANCE && (this.target?.peer.height ?? 0n) > near;
    return !isBehind && this.checked <= near;
  }

  get status(): SyncStatus | undefined {
    if (this.target === undefined) return undefined;
    const currentBlock = this.headNumber();
    const height = this.target.peer.height ?? currentBlock;
    const isAhead = height > currentBlock;
    return {
      startingBlock: this.target.startingBlock,
      currentBlock,
      highestBlock: isAhead ? height : currentBlock,
    };
  }

  /** Sets the peer; undefined when the node is not catching up, be it because it `isStopping`. */
  changePeer(peer: SyncPeer | undefined, isStopping = false): void {
    if (this.target?.peer === peer) return;
    const startingBlock = this.target?.startingBlock ?? this.headNumber();
    if (this.target === undefined) this.log.begin();
    if (peer === undefined) {
      this.log.end();
      this.logEnd({ from: startingBlock, height: this.target?.peer.height, isStopping });
    } else if (this.target === undefined) {
      this.parts.logger.info({ head: startingBlock, height: peer.height }, "catching up with peers");
    }
    this.target = peer === undefined ? undefined : { peer, startingBlock };
    if (peer === undefined) this.fetched = 0n;
    this.parts.onChanged();
  }

  /** Notes that a fetched block was imported. */
  noteFetched(transactions: number): void {
    this.fetched += 1n;
    this.log.note(transactions);
    if (this.fetched === IN_SYNC_DISTANCE + 1n) this.parts.onChanged();
  }

  /** Sets the number of the newest header whose seals a running download has checked; undefined when there is none. */
  noteChecked(number: bigint | undefined): void {
    this.checked = number ?? 0n;
    this.parts.onChanged();
  }

  /** Notes that a download failed: the heights that peers claim are unproven again. */
  noteFailure(): void {
    this.fetched = 0n;
    this.parts.onChanged();
  }

  /** Also called when the last peer ahead has left. */
  private logEnd({ from, height, isStopping }: SyncEnd): void {
    const to = this.headNumber();
    const { logger } = this.parts;
    if (height === undefined || height <= to + IN_SYNC_DISTANCE) {
      if (to > from) logger.info({ from, to }, "caught up with peers");
      return;
    }
    const why = isStopping ? "as this node stops; the next start goes on" : "as none is ahead any more";
    logger.info({ from, to, height }, `catching up with peers ended early, ${why}`);
  }

  private headNumber(): bigint {
    return this.parts.chain.head.header.number;
  }
}

interface ProgressLogParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly head: () => bigint;
  readonly highest: () => bigint | undefined;
}

/** Shows how far the node is, how fast, and how much longer it takes; also while no block comes. */
class ProgressLog {
  private readonly parts: ProgressLogParts;
  private progress: Progress | undefined;
  private timer: Timer | undefined;

  constructor(parts: ProgressLogParts) {
    this.parts = parts;
  }

  begin(): void {
    const { clock, logger } = this.parts;
    this.progress = new Progress({ message: MESSAGE }, logger, () => clock.nowMs());
    this.advance(0, 0);
    this.lookLater();
  }

  end(): void {
    this.timer?.cancel();
    this.progress?.end();
    this.progress = undefined;
  }

  /** Counts an imported block. */
  note(transactions: number): void {
    this.advance(1, transactions);
  }

  private advance(blocks: number, transactions: number): void {
    const number = this.parts.head();
    const highest = larger(this.parts.highest() ?? number, number);
    this.progress?.change({ message: MESSAGE, total: Number(highest) });
    this.progress?.advance({
      position: Number(number),
      counts: { blocks, transactions },
      fields: { number, highest },
    });
  }

  private lookLater(): void {
    const { clock } = this.parts;
    this.timer?.cancel();
    this.timer = clock.at(clock.nowMs() + PROGRESS_INTERVAL_MS, () => {
      this.advance(0, 0);
      this.lookLater();
    });
  }
}

const MESSAGE = "catching up with peers";
