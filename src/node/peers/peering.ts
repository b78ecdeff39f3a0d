import type { Chain } from "../../chain/createChain.ts";
import type { RecoverSigners } from "../../chain/signerRecovery.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { ForkIds } from "../../chainspec/forkId.ts";
import type { Engine } from "../../consensus/engine.ts";
import { listenFirst } from "../../consensus/listening.ts";
import type { SignedTimes } from "../../consensus/monitor/signedTimes.ts";
import type { PauseReasons } from "../../consensus/pauseReasons.ts";
import type { Outbox } from "../../consensus/ports.ts";
import type { MessageRouter } from "../../consensus/router/messageRouter.ts";
import { createConsensusMessages } from "../../consensus/transport.ts";
import { createEth, type Eth } from "../../network/eth/protocol.ts";
import { createIbfTransport } from "../../network/ibf/protocol.ts";
import type { SubProtocol } from "../../network/subProtocol.ts";
import type { InputRefusal } from "../../network/traffic.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { SyncChain } from "../../sync/ports.ts";
import { createRestoringSync, type LostEnd, type RestoringSync } from "../../sync/restoration.ts";
import type { Sync } from "../../sync/sync.ts";
import { PeerPool } from "../../txpool/peerPool.ts";
import type { AskContract } from "../../txpool/ports.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { FindPeerHead } from "./peerInfo.ts";

interface PeeringParts {
  readonly spec: ChainSpec;
  readonly networkId: bigint;
  readonly self: Address;
  /** This node's key is not its validator's. */
  readonly hasOtherNodeKey: boolean;
  readonly chain: Chain;
  readonly pool: TxPool;
  readonly recoverSigners: RecoverSigners;
  /** Absent where no contract decides who may send. */
  readonly askContract?: AskContract | undefined;
  /** Called lazily, because the engine is created after the peering. */
  readonly engine: () => Engine;
  readonly clock: Clock;
  readonly signedTimes: SignedTimes;
  readonly logger: { readonly consensus: Logger; readonly network: Logger; readonly sync: Logger };
  readonly metrics?: Metrics | undefined;
  /** A peer did something in vain, so many times. */
  readonly onRefused?: (reason: InputRefusal, count: number) => void;
  /** Called when the import of a block of this number begins. */
  readonly onImportStarted: (number: bigint) => void;
  readonly lost?: LostEnd | undefined;
  /** 0 to 1; default Math.random. */
  readonly chance?: () => number;
}

/**
 * Connects the protocols with the parts that use them:
 *
 *     IBF ── consensus/transport.ts ── engine
 *     eth ─┬─ blocks ── sync ── chain
 *          └─ transactions ── pool
 *
 * Invariants: the engine receives a head before the buffered messages for the next height; while peers are believed to
 * be ahead, the node syncs, and neither proposes nor votes (architecture.md#rulings); nor does it before blocks that it has lost
 * are back (ibft2.md#a-lost-end).
 */
export class Peering {
  /** Protocols in the order in which Hello lists them, which is Besu's. */
  readonly protocols: readonly SubProtocol[];
  /** Sends the engine's messages. */
  readonly outbox: Outbox;
  readonly sync: RestoringSync;
  /** Whether a node speaks for a validator under another key. */
  readonly isValidatorNode: (node: Address) => boolean;
  private readonly parts: PeeringParts;
  private readonly eth: Eth;
  private readonly messages: Pick<MessageRouter, "headAdvanced">;
  /** Undefined until the begin. */
  private pauseReasons: PauseReasons | undefined;
  private readonly syncListeners = new Set<(status: Sync["status"]) => void>();
  private readonly peerListeners: (() => void)[] = [];

  constructor(parts: PeeringParts) {
    const { spec, networkId, chain, clock, logger, onRefused } = parts;
    this.parts = parts;
    this.eth = createEth({
      identity: {
        networkId,
        forkIds: ForkIds.of(spec.forks, chain.genesis),
      },
      chain,
      pool: new PeerPool({ ...parts, logger: logger.network }, () => this.sync.isInSync),
      clock,
      chance: parts.chance ?? Math.random,
      logger: logger.network,
      onRefused,
      onBlock: (announced) => {
        if (this.pauseReasons !== undefined) this.sync.offer(announced);
      },
      onPeersChanged: () => this.peersChanged(),
    });
    const { eth } = this;
    this.sync = createRestoringSync(
      {
        peers: () => eth.peers,
        chain: syncChain(chain, parts.onImportStarted),
        isValidator: (address) => chain.isValidator(address),
        clock,
        logger: logger.sync,
        onRefused: (reason) => onRefused?.(reason, 1),
        metrics: parts.metrics,
        relay: (block) => eth.broadcastBlock(block, chain.head.totalDifficulty + block.header.difficulty),
        onStatusChanged: () => {
          this.review();
          for (const listener of [...this.syncListeners]) listener(this.sync.status);
        },
      },
      parts.lost,
    );
    const messages = createConsensusMessages({
      ...parts,
      openIbf: createIbfTransport,
      logger: logger.consensus,
      onAhead: (validator, number) => eth.noteImpliedHeight(validator, number),
    });
    this.messages = messages;
    this.protocols = [...eth.protocols, messages.protocol];
    this.outbox = messages.outbox;
    this.isValidatorNode = messages.isValidatorNode;
  }

  /** Best block announced by a peer. It is a field, because it is passed on alone. */
  readonly headOf: FindPeerHead = (nodeId) => this.eth.announcedBy(nodeId);

  /** Calls `listener` whenever the sync target is set, moved or cleared. */
  onSyncChanged(listener: (status: Sync["status"]) => void): () => void {
    this.syncListeners.add(listener);
    return () => this.syncListeners.delete(listener);
  }

  /** Calls `listener` whenever a peer is greeted and its height known, has a greater one, or leaves: also before the begin. */
  onPeersChanged(listener: () => void): void {
    this.peerListeners.push(listener);
  }

  /** Starts to process peers' messages, to sync, and to announce transactions; called once the engine knows the chain's head. */
  begin(pauseReasons: PauseReasons): void {
    const { chain, pool, engine, hasOtherNodeKey, spec, clock, logger } = this.parts;
    const { sync, messages, eth } = this;
    this.pauseReasons = pauseReasons;
    if (!sync.isRestored) pauseReasons.pause("lostEnd");
    listenFirst(
      {
        engine: engine(),
        hold: pauseReasons,
        schedule: spec.ibft,
        hasOtherNodeKey,
        isLevel: () => sync.comparison.isMade,
        logger: logger.consensus,
      },
      clock,
    );
    messages.headAdvanced({ ...chain.head, tally: chain.tallyAfter(chain.head) });
    chain.onHeadChanged("peers", ({ head, added }) => {
      // Resumes consensus before the router delivers the messages buffered for the next height.
      this.review();
      if (sync.isRestored) pauseReasons.resume("lostEnd");
      messages.headAdvanced({ ...head, tally: chain.tallyAfter(head) });
      // Only the newest block of a range is announced; peers have the others already.
      const newest = added.at(-1);
      if (newest !== undefined && sync.isInSync) eth.broadcastBlock(newest, newest.totalDifficulty);
      sync.wake();
    });
    pool.onAdded(({ transaction }) => eth.announceTransactions([transaction]));
    sync.begin();
  }

  async close(): Promise<void> {
    this.eth.close();
    await this.sync.close();
  }

  /** A validator participates only while the node is in sync. */
  private review(): void {
    if (this.sync.isInSync) this.pauseReasons?.resume("catchingUp");
    else this.pauseReasons?.pause("catchingUp");
  }

  private peersChanged(): void {
    if (this.pauseReasons !== undefined) this.sync.wake();
    for (const listener of this.peerListeners) listener();
  }
}

function syncChain(chain: Chain, onImportStarted: (number: bigint) => void): SyncChain {
  return {
    get head() {
      return chain.head;
    },
    headerByHash: (hash) => chain.headerByHash(hash),
    checkNextHeader: (header) => chain.checkNextHeader(header),
    headerRun: (from) => chain.headerRun(from),
    prepareBlock: (block) => chain.prepareBlock(block),
    bulkImport: () => chain.bulkImport(),
    importBlock(block) {
      onImportStarted(block.header.number);
      return chain.importBlock(block);
    },
  };
}
