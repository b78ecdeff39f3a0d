import type { Logger } from "../logging/logger.ts";
import type { Alarm, Clock } from "../primitives/clock.ts";
import type { Rejection } from "../primitives/outcome.ts";
import type { Block } from "../types/block.ts";
import { type DownloadDefect, downloadBlocks, downloadHeaders } from "./download.ts";
import { createErrand } from "./errand.ts";
import { IMPORT_FAILURE_REST_MS, IN_SYNC_DISTANCE, RANGE_HEADERS } from "./limits.ts";
import type { OfferedBlock, SyncChain, SyncPeer } from "./ports.ts";
import { createRestingPeers } from "./restingPeers.ts";
import { createWaitingBlocks } from "./waitingBlocks.ts";

/**
 * Keeps the chain up with its peers (p2p.md §9, §13).
 *
 *     NewBlock ──> waitingBlocks.ts ── its parent is the head ──────────────┐
 *     a higher peer ── headers of a range, linked ── bodies, by root ────────┴──> importBlock, one after another
 *
 * What holds: one range is fetched at a time, and announced blocks do not wait for it; a peer that gave nothing, or less
 * than it claims to have, rests, longer each time, and another is asked; one that lied is cut off; whatever peers claim,
 * nothing enters the chain but through `importBlock`, and the node counts as behind only for blocks that it got.
 * Consensus may move the head meanwhile: what arrives twice or too late is passed over. Left to others: judging blocks (chain), limits of messages (network). Ranges are not
 * downloaded beside one another yet.
 */
export interface Sync {
  /** Looks for something to do: a peer came or is higher, or the head moved. */
  wake(): void;
  /** A block near our head that a peer announced. */
  offer(offered: OfferedBlock): void;
  /** False while more than five blocks were fetched, and their peer has more than five more. */
  readonly isInSync: boolean;
  /** Block numbers while a range is being fetched from a peer. */
  readonly status:
    | { readonly startingBlock: bigint; readonly currentBlock: bigint; readonly highestBlock: bigint }
    | undefined;
  /** Stops after the block that is being imported. */
  close(): Promise<void>;
}

export interface SyncParts {
  readonly peers: () => readonly SyncPeer[];
  readonly chain: SyncChain;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An announced block has become part of the chain: peers that lack it are to have it. */
  readonly onAnnouncedImported: (block: Block) => void;
  /** `status` or `isInSync` may say something else now. */
  readonly onStatusChanged?: () => void;
}

/** The importer's word for a block that our clock says is not due: nobody's proven fault. */
const NOT_DUE = "timestampInFuture";

export function createSync(parts: SyncParts): Sync {
  const { chain, clock, logger } = parts;
  const waiting = createWaitingBlocks();
  const resting = createRestingPeers(clock.nowMs);
  let isClosed = false;
  let pausedUntilMs = 0;
  let retry: Alarm | undefined;
  let target: { readonly peer: SyncPeer; readonly startingBlock: bigint } | undefined;
  /** Blocks that ranges brought since somebody last was no help. */
  let fetched = 0n;
  const headNumber = (): bigint => chain.head.header.number;
  const canImport = (): boolean => !isClosed && clock.nowMs() >= pausedUntilMs;

  function onFailure(error: unknown): void {
    pausedUntilMs = clock.nowMs() + IMPORT_FAILURE_REST_MS;
    logger.error({ error }, "catching up with peers failed");
  }
  const announced = createErrand({
    run: importAnnounced,
    isClosed: () => isClosed,
    onFailure,
    onEnd: scheduleRetry,
  });
  const ranges = createErrand({
    run: catchUp,
    isClosed: () => isClosed,
    onFailure,
    onEnd() {
      changeTarget(undefined);
      scheduleRetry();
    },
  });

  function wake(): void {
    announced.wake();
    ranges.wake();
  }

  async function importAnnounced(): Promise<void> {
    while (canImport()) {
      waiting.dropUpTo(headNumber());
      const offered = waiting.takeChildOf(chain.head.hash);
      if (offered === undefined) return;
      await importOffered(offered);
    }
  }

  /** Until nobody is higher, or nobody is left to ask. */
  async function catchUp(): Promise<void> {
    while (canImport()) {
      const peer = resting.choose(parts.peers(), headNumber());
      if (peer === undefined) return;
      changeTarget(peer);
      await catchUpFrom(peer);
      // A parent for what waits may be there.
      announced.wake();
    }
  }

  async function importOffered({ block, peer: key }: OfferedBlock): Promise<void> {
    const imported = await chain.importBlock(block);
    if (imported.ok) {
      parts.onAnnouncedImported(block);
      return;
    }
    const { code, fault, message } = imported.rejection;
    logger.debug(
      { number: block.header.number, peer: key.slice(0, 16), code, message },
      "announced block refused",
    );
    // No breach of the protocol (p2p.md §9), but who goes on like that is of no use.
    if (fault === "peer" && code !== NOT_DUE) {
      parts
        .peers()
        .find((peer) => peer.key === key)
        ?.noteUseless();
    }
  }

  /** One range from one peer. */
  async function catchUpFrom(peer: SyncPeer): Promise<void> {
    const before = headNumber();
    const claimed = peer.height ?? before;
    const links = await downloadHeaders(peer, chain.head);
    if (!links.ok) {
      noHelp(peer, links.rejection);
      return;
    }
    for await (const block of downloadBlocks(peer, links.value)) {
      if (isClosed) return;
      if (!block.ok) {
        noHelp(peer, block.rejection);
        return;
      }
      // Consensus, or an announcement, was faster.
      if (block.value.header.number <= headNumber()) continue;
      const imported = await chain.importBlock(block.value);
      if (imported.ok) {
        noteFetched();
        continue;
      }
      if (headNumber() < block.value.header.number) unsound(peer, block.value, imported.rejection);
      return;
    }
    const isShort = links.value.length < RANGE_HEADERS && before + BigInt(links.value.length) < claimed;
    if (headNumber() > before && !isShort) resting.helped(peer);
    else leave(peer);
  }

  function noteFetched(): void {
    fetched += 1n;
    if (fetched === IN_SYNC_DISTANCE + 1n) parts.onStatusChanged?.();
  }

  /** Alone for a while. What others claim has yet to be shown. */
  function leave(peer: SyncPeer): void {
    fetched = 0n;
    resting.rest(peer);
    parts.onStatusChanged?.();
  }

  function noHelp(peer: SyncPeer, { code, message }: Rejection<DownloadDefect>): void {
    leave(peer);
    const facts = { peer: peer.key.slice(0, 16), head: headNumber(), message };
    switch (code) {
      case "lie":
        logger.warn(facts, "peer gave blocks that are none; it is cut off");
        peer.disconnect("breachOfProtocol", message);
        return;
      case "otherBranch":
        logger.warn(facts, "peer is on another branch of the chain");
        return;
      default:
        logger.debug(facts, "peer was no help in catching up");
    }
  }

  function unsound(peer: SyncPeer, { header }: Block, { code, fault, message }: Rejection): void {
    leave(peer);
    const facts = { peer: peer.key.slice(0, 16), number: header.number, code, message };
    if (fault !== "peer") {
      pausedUntilMs = clock.nowMs() + IMPORT_FAILURE_REST_MS;
      logger.error(facts, "a block of a peer cannot be imported here");
    } else if (code === NOT_DUE) {
      logger.warn(facts, "a block of a peer is not due by our clock");
    } else {
      logger.warn(facts, "peer gave an unsound block; it is cut off");
      peer.disconnect("breachOfProtocol", message);
    }
  }

  function changeTarget(peer: SyncPeer | undefined): void {
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
    parts.onStatusChanged?.();
  }

  /** Somebody rests, or we do: then it is tried again without being woken. */
  function scheduleRetry(): void {
    retry?.cancel();
    if (isClosed) return;
    const nowMs = clock.nowMs();
    const nextMs = pausedUntilMs > nowMs ? pausedUntilMs : resting.nextMs(parts.peers());
    retry = nextMs === undefined ? undefined : clock.at(nextMs, wake);
  }

  return {
    wake,
    offer(offered) {
      const { number } = offered.block.header;
      if (number <= headNumber() || chain.headerByHash(offered.hash) !== undefined) return;
      waiting.add(offered);
      wake();
    },
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
    async close() {
      isClosed = true;
      retry?.cancel();
      await Promise.all([announced.settled(), ranges.settled()]);
    },
  };
}
