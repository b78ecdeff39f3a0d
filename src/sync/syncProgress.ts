import type { Logger } from "../observability/logger.ts";
import { IN_SYNC_DISTANCE } from "./limits.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";

/** The peer with which the node catches up, and how far it has come. */
export interface SyncProgress {
  /** False while more than five blocks were fetched, and their peer has more than five more. */
  readonly isInSync: boolean;
  readonly status: SyncStatus | undefined;
  /** Sets the peer; undefined when the node does not catch up with anybody. */
  changePeer(peer: SyncPeer | undefined): void;
  /** A block of a range was imported. */
  noteFetched(): void;
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
  readonly logger: Logger;
  /** `status` or `isInSync` may have changed. */
  readonly onChanged: () => void;
}): SyncProgress {
  const { chain, logger, onChanged } = parts;
  const headNumber = (): bigint => chain.head.header.number;
  let target: { readonly peer: SyncPeer; readonly startingBlock: bigint } | undefined;
  /** Blocks fetched in ranges since the last failed download. */
  let fetched = 0n;

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
    noteFetched() {
      fetched += 1n;
      if (fetched === IN_SYNC_DISTANCE + 1n) onChanged();
    },
    noteFailure() {
      fetched = 0n;
      onChanged();
    },
  };
}
