import type { Chain } from "../chain/createChain.ts";
import type { RecoverSenders } from "../chain/importBlock.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { createForkIds, forkPoints } from "../chainspec/forkId.ts";
import type { Engine } from "../consensus/engine.ts";
import type { Outbox } from "../consensus/ports.ts";
import { createMessageRouter, declareMessageRouterMetrics } from "../consensus/router/messageRouter.ts";
import { createReadingShares } from "../consensus/router/readingShares.ts";
import { isValidator } from "../ibft/validatorVotes.ts";
import { createEth } from "../network/eth/protocol.ts";
import { createIbfTransport } from "../network/ibf/protocol.ts";
import type { SubProtocol } from "../network/subProtocol.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import { createSync, type Sync } from "../sync/sync.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { PauseReasons } from "./pauseReasons.ts";
import type { FindPeerHead } from "./peerFacts.ts";
import { createPeerPool } from "./peerPool.ts";

/**
 * What is said among peers, joined to those who say it.
 *
 *     IBF ── transport ── correspondence ── engine          eth ── blocks ── sync ── chain
 *                                                             └── transactions ── pool
 *
 * Invariants: the engine hears of a head before the messages that waited for it; while peers are believed to be ahead
 * the node catches up, and neither proposes nor votes (architecture.md#rulings).
 */
export interface Peering {
  readonly protocols: readonly SubProtocol[];
  /** Where the engine's words go. */
  readonly outbox: Outbox;
  readonly sync: Sync;
  /** Best block that a peer told of. */
  readonly headOf: FindPeerHead;
  /** Calls `listener` whenever the target of catching up is set, moved or cleared. */
  onSyncChanged(listener: (status: Sync["status"]) => void): () => void;
  /** Once the engine has been told of the chain's head: from here on peers are listened to. */
  begin(pauseReasons: PauseReasons): void;
  close(): Promise<void>;
}

export interface PeeringParts {
  readonly spec: ChainSpec;
  readonly networkId: bigint;
  readonly self: Address;
  readonly chain: Chain;
  readonly pool: TxPool;
  readonly recoverSenders: RecoverSenders;
  /** Asked for when there is something to hand to it. */
  readonly engine: () => Engine;
  readonly clock: Clock;
  readonly logger: { readonly consensus: Logger; readonly network: Logger; readonly sync: Logger };
  readonly metrics?: Metrics | undefined;
  /** Told when a block of this number begins to be imported. */
  readonly onImportBegun: (number: bigint) => void;
  /** 0 to 1, at random unless given. */
  readonly chance?: () => number;
}

export function createPeering(parts: PeeringParts): Peering {
  const { spec, chain, pool, clock, logger, metrics } = parts;
  let pauseReasons: PauseReasons | undefined;
  const syncListeners = new Set<(status: Sync["status"]) => void>();

  const transport = createIbfTransport({
    receive: (message) => messageRouter.receive(message),
    onOpened: (address, say) => messageRouter.peerConnected(address, say),
    later: (say) => void clock.at(clock.nowMs() + INTRODUCTION_MS, say),
  });
  const messageRouter = createMessageRouter({
    self: parts.self,
    schedule: spec.ibft,
    carrier: transport,
    findTransaction: (hash) => pool.get(hash)?.transaction,
    deliver: (message, waitedMs) => parts.engine().receive(message, waitedMs),
    clock,
    onAhead: (sender, number) => eth.noteImpliedHeight(sender, number),
    penalisePeer: (sender) => transport.penalise(sender),
    later: (passOn, waitMs) => void clock.at(clock.nowMs() + waitMs, passOn),
    shares: createReadingShares({ clock, defer: setImmediate }),
    logger: logger.consensus,
    metrics: metrics === undefined ? undefined : declareMessageRouterMetrics(metrics),
  });
  const eth = createEth({
    identity: {
      networkId: parts.networkId,
      forkIds: createForkIds(chain.genesis.hash, forkPoints(spec.forks, chain.genesis.header.timestamp)),
    },
    chain,
    pool: createPeerPool({ ...parts, logger: logger.network }, () => sync.isInSync),
    clock,
    chance: parts.chance ?? Math.random,
    logger: logger.network,
    onBlock(announced) {
      if (pauseReasons !== undefined) sync.offer(announced);
    },
    onPeersChanged: wake,
  });
  const sync = createSync({
    peers: () => eth.peers,
    chain: {
      get head() {
        return chain.head;
      },
      headerByHash: (hash) => chain.headerByHash(hash),
      checkNextHeader: (header) => chain.checkNextHeader(header),
      importBlock(block) {
        parts.onImportBegun(block.header.number);
        return chain.importBlock(block);
      },
    },
    isValidator: (address) => isValidator(chain.tallyAfter(chain.head), address),
    clock,
    logger: logger.sync,
    onAnnouncedImported: () => undefined,
    onStatusChanged() {
      review();
      for (const listener of [...syncListeners]) listener(sync.status);
    },
  });

  /** Nothing is fetched before the node is ready for it. */
  function wake(): void {
    if (pauseReasons !== undefined) sync.wake();
  }

  /** A validator decides only the block after the newest there is. */
  function review(): void {
    if (sync.isInSync) pauseReasons?.resume("catchingUp");
    else pauseReasons?.pause("catchingUp");
  }

  return {
    protocols: [transport.protocol, eth.protocol],
    outbox: {
      multicast: (message, validators) => messageRouter.multicast(message, validators),
      connected: () => transport.connected,
    },
    sync,
    headOf(nodeId) {
      const { best, status } = eth.peers.find((peer) => equalBytes(peer.nodeId, nodeId)) ?? {};
      if (best === undefined || status === undefined) return undefined;
      return { ...best, headHash: best.hash, version: status.protocolVersion };
    },
    onSyncChanged(listener) {
      syncListeners.add(listener);
      return () => syncListeners.delete(listener);
    },
    begin(given) {
      pauseReasons = given;
      messageRouter.headAdvanced({ ...chain.head, tally: chain.tallyAfter(chain.head) });
      chain.onHeadChanged(({ head, added }) => {
        // Who has caught up by this block takes part again before it hears what waited for it.
        review();
        messageRouter.headAdvanced({ ...head, tally: chain.tallyAfter(head) });
        // Those of a whole range are old to everybody else.
        const newest = added.at(-1);
        if (newest !== undefined && sync.isInSync) eth.broadcastBlock(newest, newest.totalDifficulty);
        sync.wake();
      });
      pool.onAdded(({ transaction }) => eth.announceTransactions([transaction]));
      sync.wake();
    },
    async close() {
      eth.close();
      await sync.close();
    },
  };
}

/** Status, a question for the head's header and its answer have gone both ways by then, with 200 ms each way. */
const INTRODUCTION_MS = 1_000;
