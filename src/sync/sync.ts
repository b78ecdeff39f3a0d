import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import { type CodedError, err, ok, type Result } from "../primitives/result.ts";
import type { Block, NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import { createCoalescedTask } from "./coalescedTask.ts";
import { type DownloadErrorCode, downloadBlocks, downloadHeaders } from "./download.ts";
import { createGenesisMismatchDetector } from "./genesisMismatch.ts";
import { createHeadProbe, type ProbedBlock } from "./headProbe.ts";
import {
  IMPORT_FAILURE_PAUSE_MS,
  IN_SYNC_DISTANCE,
  RANGE_HEADERS,
  REQUEST_BUDGET_PER_BLOCK_MS,
} from "./limits.ts";
import { createPeerChoice } from "./peerChoice.ts";
import type { OfferedBlock, SyncChain, SyncPeer } from "./ports.ts";
import { createRequestBudget } from "./requestBudget.ts";
import { createWaitingBlocks } from "./waitingBlocks.ts";

/**
 * Syncs the chain from peers (p2p.md#full-sync, p2p.md#block-propagation).
 *
 *     NewBlock ──> waitingBlocks.ts ── its parent is the head ─────────────────┐
 *     peers that claim more ── headProbe.ts: the next block ──> peerChoice.ts   │
 *     the best peer ── headers of a range, linked ── bodies, by root ──────────┴──> importBlock, one after another
 *
 * Invariants: one range is fetched at a time, and announced blocks do not wait for it; unproven peers that claim to be
 * ahead are all probed at once; a peer that delivered nothing, or less than it claims to have, or is too slow, is
 * backed off, longer each time, and another is asked; a peer that sent invalid data is disconnected; whatever peers
 * claim, blocks enter the chain only through `importBlock`, and the node counts as behind only for blocks that it
 * received. Consensus may move the head at any time: duplicate and late blocks are ignored. Not done here: validating
 * blocks (chain), limits of messages (network). Ranges are not downloaded in parallel yet.
 */
export interface Sync {
  /** Checks for work: a peer connected or has a greater height, or the head moved. */
  wake(): void;
  /** Queues a block near the head that a peer announced. */
  offer(offered: OfferedBlock): void;
  /** False while more than five blocks were fetched, and their peer has more than five more. */
  readonly isInSync: boolean;
  /** Block numbers while a range is being fetched from a trusted peer, or one that delivered some of it. */
  readonly status:
    | { readonly startingBlock: bigint; readonly currentBlock: bigint; readonly highestBlock: bigint }
    | undefined;
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
  /** `status` or `isInSync` may have changed. */
  readonly onStatusChanged?: () => void;
}

/** The importer's error code for a block ahead of the local clock: no peer's proven fault. */
const NOT_DUE = "timestampInFuture";

const TOO_SLOW: Result<never, DownloadErrorCode> = err({
  code: "noResponse",
  fault: "peer",
  message: "it is too slow, and another peer may be faster",
});

export function createSync(parts: SyncParts): Sync {
  const { chain, clock, logger } = parts;
  const waiting = createWaitingBlocks();
  const choice = createPeerChoice(clock.nowMs, parts.isValidator ?? (() => false));
  const genesisMismatch = createGenesisMismatchDetector({
    peerKeys: () => parts.peers().map(({ key }) => key),
    headNumber: () => chain.head.header.number,
    nowMs: clock.nowMs,
    logger,
  });
  let isClosed = false;
  let pausedUntilMs = 0;
  let retryTimer: Timer | undefined;
  let target: { readonly peer: SyncPeer; readonly startingBlock: bigint } | undefined;
  /** Blocks fetched in ranges since the last failed download. */
  let fetched = 0n;
  const headNumber = (): bigint => chain.head.header.number;
  const canImport = (): boolean => !isClosed && clock.nowMs() >= pausedUntilMs;

  function onFailure(error: unknown): void {
    pausedUntilMs = clock.nowMs() + IMPORT_FAILURE_PAUSE_MS;
    logger.error({ error }, "sync with peers failed");
  }
  const announcedTask = createCoalescedTask({
    run: importAnnounced,
    isClosed: () => isClosed,
    onFailure,
    onEnd: scheduleRetry,
  });
  const rangeTask = createCoalescedTask({
    run: catchUp,
    isClosed: () => isClosed,
    onFailure,
    onEnd() {
      changeTarget(undefined);
      scheduleRetry();
    },
  });

  const probe = createHeadProbe({
    head: () => chain.head,
    isKnown: (hash) => chain.headerByHash(hash) !== undefined,
    checkNext,
    onResult: onProbed,
    onFailure,
  });

  function wake(): void {
    announcedTask.wake();
    rangeTask.wake();
    probe.notify();
  }

  async function importAnnounced(): Promise<void> {
    while (canImport()) {
      waiting.dropUpTo(headNumber());
      const offered = waiting.takeChildOf(chain.head.hash);
      if (offered === undefined) return;
      await importOffered(offered);
    }
  }

  /** Fetches ranges until no peer is ahead, or none is left to ask. */
  async function catchUp(): Promise<void> {
    while (canImport()) {
      const peer = chooseOrProbe();
      if (peer !== undefined) {
        if (choice.isTrusted(peer)) changeTarget(peer);
        await catchUpFrom(peer);
        // The parent of a waiting block may have been imported.
        announcedTask.wake();
        continue;
      }
      changeTarget(undefined);
      if (probe.count === 0) return;
      scheduleRetry();
      await probe.next();
    }
  }

  /** The peer to fetch a range from: a proven one, or the only one that claims to be ahead. */
  function chooseOrProbe(): SyncPeer | undefined {
    const peers = parts.peers();
    const peer = choice.choose(peers, headNumber());
    if (peer !== undefined) return peer;
    const unproven = choice.unproven(peers, headNumber());
    if (unproven.length === 1 && probe.count === 0) return unproven[0];
    probe.begin(unproven);
    return undefined;
  }

  async function importOffered(offered: OfferedBlock): Promise<void> {
    const importError = await importErrorOf(offered);
    if (importError === undefined) return;
    const { code, fault, message } = importError;
    const { header, peer: key } = offered;
    logger.debug({ number: header.number, peer: key.slice(0, 16), code, message }, "announced block refused");
    const peer = parts.peers().find((one) => one.key === key);
    if (code === "malformed") peer?.disconnect("breachOfProtocol", message);
    // No breach of the protocol (p2p.md#block-propagation), but a peer that continues is useless.
    else if (fault === "peer" && code !== NOT_DUE) peer?.penalise();
  }

  /** Imports the block; the error when that fails. */
  async function importErrorOf(offered: OfferedBlock): Promise<CodedError | undefined> {
    if (offered.isLong) {
      const checked = await chain.checkNextHeader(offered.header);
      if (!checked.ok) return checked.error;
    }
    const block = offered.open();
    if (!block.ok) return block.error;
    const imported = await chain.importBlock(block.value);
    return imported.ok ? undefined : imported.error;
  }

  /** Fetches one range from one peer. */
  async function catchUpFrom(peer: SyncPeer): Promise<void> {
    const before = headNumber();
    const claimed = peer.height ?? before;
    const requestBudget = createRequestBudget(clock, {
      firstMs: choice.requestBudgetMs(peer),
      isReplaceable: () => isClosed || choice.isReplaceable(peer, parts.peers(), headNumber()),
    });
    const parent = chain.head;
    const links = (await requestBudget.wait(downloadHeaders(peer, parent, RANGE_HEADERS))) ?? TOO_SLOW;
    if (!links.ok) {
      failPeer(peer, links.error);
      return;
    }
    const first = expectDefined(links.value[0], "the requested header");
    const checked = await checkNext(parent, first.header);
    if (!checked.ok) {
      failPeer(peer, checked.error);
      return;
    }
    const blocks = downloadBlocks(peer, links.value);
    for (;;) {
      const next = await requestBudget.wait(blocks.next());
      if (isClosed) return;
      if (next?.done) break;
      const given = next?.value ?? TOO_SLOW;
      if (!given.ok) {
        failPeer(peer, given.error);
        return;
      }
      const block = given.value;
      requestBudget.extend(REQUEST_BUDGET_PER_BLOCK_MS);
      // Consensus, or an announcement, has already brought this block.
      if (block.header.number <= headNumber()) continue;
      const imported = await chain.importBlock(block);
      if (imported.ok) {
        changeTarget(peer);
        noteFetched();
        continue;
      }
      if (headNumber() < block.header.number) {
        backOff(peer);
        reportInvalidBlock(peer, block, imported.error);
      }
      return;
    }
    const isShort = links.value.length < RANGE_HEADERS && before + BigInt(links.value.length) < claimed;
    if (headNumber() > before && !isShort) choice.noteDelivered(peer);
    else backOff(peer);
  }

  /**
   * Validates the header that a peer returned as the next of `parent`, so that nothing more is fetched for a forged
   * one.
   */
  async function checkNext(parent: NamedHeader, header: Header): Promise<Result<unknown, DownloadErrorCode>> {
    const hasMoved = (): boolean => !equalBytes(parent.hash, chain.head.hash);
    // The head has moved, so the header cannot be validated here; the importer will.
    if (hasMoved()) return ok(undefined);
    const checked = await chain.checkNextHeader(header);
    if (checked.ok || hasMoved()) return ok(undefined);
    const { code, fault, message } = checked.error;
    const isInvalid = fault === "peer" && code !== NOT_DUE;
    return err({ code: isInvalid ? "invalid" : "noResponse", fault: "peer", message });
  }

  /** Handles the result of a probe. It changes nothing for a range in progress. */
  async function onProbed(peer: SyncPeer, result: Result<ProbedBlock, DownloadErrorCode>): Promise<void> {
    if (isClosed) return;
    if (!result.ok) {
      choice.backOff(peer);
      reportFailure(peer, result.error);
      return;
    }
    const { hash, block } = result.value;
    const isKnown = (): boolean => chain.headerByHash(hash) !== undefined;
    if (block === undefined || isKnown()) {
      choice.noteProven(peer);
      return;
    }
    const imported = await chain.importBlock(block);
    if (imported.ok || isKnown()) {
      choice.noteProven(peer);
      return;
    }
    choice.backOff(peer);
    if (headNumber() < block.header.number) reportInvalidBlock(peer, block, imported.error);
  }

  function noteFetched(): void {
    fetched += 1n;
    if (fetched === IN_SYNC_DISTANCE + 1n) parts.onStatusChanged?.();
  }

  /** Backs the peer off. The heights that others claim are unproven again. */
  function backOff(peer: SyncPeer): void {
    fetched = 0n;
    choice.backOff(peer);
    parts.onStatusChanged?.();
  }

  function failPeer(peer: SyncPeer, error: CodedError<DownloadErrorCode>): void {
    backOff(peer);
    reportFailure(peer, error);
  }

  function reportFailure(peer: SyncPeer, { code, message }: CodedError<DownloadErrorCode>): void {
    const facts = { peer: peer.key.slice(0, 16), head: headNumber(), message };
    switch (code) {
      case "invalid":
        genesisMismatch.noteInvalidBlock(peer.key);
        logger.warn(facts, "peer sent invalid blocks; disconnecting it");
        peer.disconnect("breachOfProtocol", message);
        return;
      case "otherBranch":
        logger.warn(facts, "peer is on another branch of the chain");
        return;
      default:
        logger.debug(facts, "sync with a peer failed");
    }
  }

  function reportInvalidBlock(peer: SyncPeer, { header }: Block, { code, fault, message }: CodedError): void {
    const facts = { peer: peer.key.slice(0, 16), number: header.number, code, message };
    if (fault !== "peer") {
      pausedUntilMs = clock.nowMs() + IMPORT_FAILURE_PAUSE_MS;
      logger.error(facts, "cannot import a peer's block for a local reason");
    } else if (code === NOT_DUE) {
      logger.warn(facts, "a peer's block is ahead of the local clock");
    } else {
      genesisMismatch.noteInvalidBlock(peer.key);
      logger.warn(facts, "peer sent an invalid block; disconnecting it");
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

  /** During a back-off or pause, schedules the next attempt. */
  function scheduleRetry(): void {
    retryTimer?.cancel();
    if (isClosed) return;
    const nowMs = clock.nowMs();
    const nextMs = pausedUntilMs > nowMs ? pausedUntilMs : choice.nextRetryMs(parts.peers());
    retryTimer = nextMs === undefined ? undefined : clock.at(nextMs, wake);
  }

  return {
    wake,
    offer(offered) {
      const { number } = offered.header;
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
      retryTimer?.cancel();
      probe.notify();
      await Promise.all([announcedTask.settled(), rangeTask.settled()]);
    },
  };
}
