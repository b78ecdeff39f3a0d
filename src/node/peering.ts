import type { Chain } from "../chain/createChain.ts";
import type { RecoverSenders } from "../chain/signerRecovery.ts";
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
import { createPeerPool } from "../txpool/peerTransactions.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { PauseReasons } from "./pauseReasons.ts";
import type { FindPeerHead } from "./peerFacts.ts";

/**
 * Connects the protocols with the parts that use them:
 *
 *     IBF ── transport ── message router ── engine          eth ── blocks ── sync ── chain
 *                                                             └── transactions ── pool
 *
 * Invariants: the engine receives a head before the buffered messages for the next height; while peers are believed to
 * be ahead, the node syncs, and neither proposes nor votes (architecture.md#rulings).
 */
export interface Peering {
  readonly protocols: readonly SubProtocol[];
  /** Sends the engine's messages. */
  readonly outbox: Outbox;
  readonly sync: Sync;
  /** Best block announced by a peer. */
  readonly headOf: FindPeerHead;
  /** Calls `listener` whenever the sync target is set, moved or cleared. */
  onSyncChanged(listener: (status: Sync["status"]) => void): () => void;
  /** Starts to process peers' messages; called once the engine knows the chain's head. */
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
  /** Called lazily, because the engine is created after the peering. */
  readonly engine: () => Engine;
  readonly clock: Clock;
  readonly logger: { readonly consensus: Logger; readonly network: Logger; readonly sync: Logger };
  readonly metrics?: Metrics | undefined;
  /** Called when the import of a block of this number begins. */
  readonly onImportStarted: (number: bigint) => void;
  /** 0 to 1; default Math.random. */
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
        parts.onImportStarted(block.header.number);
        return chain.importBlock(block);
      },
    },
    isValidator: (address) => isValidator(chain.tallyAfter(chain.head), address),
    clock,
    logger: logger.sync,
    onStatusChanged() {
      review();
      for (const listener of [...syncListeners]) listener(sync.status);
    },
  });

  /** Does nothing before begin(). */
  function wake(): void {
    if (pauseReasons !== undefined) sync.wake();
  }

  /** A validator participates only while the node is in sync. */
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
    begin(reasons) {
      pauseReasons = reasons;
      messageRouter.headAdvanced({ ...chain.head, tally: chain.tallyAfter(chain.head) });
      chain.onHeadChanged(({ head, added }) => {
        // Resumes consensus before the router delivers the messages buffered for the next height.
        review();
        messageRouter.headAdvanced({ ...head, tally: chain.tallyAfter(head) });
        // Only the newest block of a range is announced; peers have the others already.
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

/** Long enough to exchange Status, the head's header request and its response at a latency of 200 ms each way. */
const INTRODUCTION_MS = 1_000;
