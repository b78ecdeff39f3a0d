import { ForkIds } from "../../chainspec/forkId.ts";
import type { Settings } from "../../config/settings.ts";
import type { Consensus } from "../../consensus/consensus.ts";
import { createEth, type Eth } from "../../network/eth/protocol.ts";
import type { SubProtocol } from "../../network/subProtocol.ts";
import type { InputRefusal } from "../../network/traffic.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { createRestoringSync, type RestoringSync } from "../../sync/restoration.ts";
import type { OpenPool } from "../../txpool/openPool.ts";
import { PeerPool } from "../../txpool/peerPool.ts";
import type { ChainAndPool } from "../openChainAndPool.ts";
import type { OpenContext } from "../openContext.ts";
import type { Stores } from "../openStores.ts";

/** What is open of the node, and what the counters of peers add. */
interface PeeringParts
  extends Pick<Stores, "key" | "validator" | "lost">,
    Pick<ChainAndPool, "chain" | "recoverSigners">,
    Pick<OpenContext, "metrics"> {
  readonly settings: Pick<Settings, "chainSpec" | "networkId">;
  readonly txPool: Pick<OpenPool, "pool" | "askContract">;
  readonly logger: Pick<Logger, "child">;
  /** Measures durations. */
  readonly clock: Clock;
  readonly consensus: Pick<Consensus, "messages" | "participate">;
  /** A peer did something in vain, so many times. */
  readonly onRefused?: (reason: InputRefusal, count: number) => void;
  /** 0 to 1; default Math.random. */
  readonly chance?: () => number;
}

/**
 * Connects the protocols with the parts that use them:
 *
 *     IBF ── consensus
 *     eth ─┬─ blocks ── sync ── chain
 *          └─ transactions ── pool
 *
 * Invariants: consensus receives a head before the buffered messages for the next height; nothing of a peer is imported or
 * announced before the begin.
 */
export class Peering {
  /** Protocols in the order in which Hello lists them, which is Besu's. */
  readonly protocols: readonly SubProtocol[];
  readonly eth: Eth;
  readonly sync: RestoringSync;
  private readonly parts: PeeringParts;

  constructor(parts: PeeringParts) {
    const { settings, key, validator, lost, chain, txPool, clock, onRefused, metrics } = parts;
    const { messages } = parts.consensus;
    const { chainSpec: spec, networkId } = settings;
    const logger = parts.logger.child("network");
    this.parts = parts;
    const eth = createEth({
      identity: { networkId, forkIds: ForkIds.of(spec.forks, chain.genesis) },
      chain,
      pool: new PeerPool({ ...parts, ...txPool, logger }, () => this.sync.isInSync),
      clock,
      chance: parts.chance ?? Math.random,
      logger,
      onRefused,
      onBlock: (announced) => this.sync.offer(announced),
    });
    eth.onPeersChanged(() => this.sync.wake());
    this.eth = eth;
    this.sync = createRestoringSync(
      {
        peers: () => eth.peers,
        chain,
        isValidator: (address) => chain.isValidator(address),
        clock,
        logger: parts.logger.child("sync"),
        onRefused: (reason) => onRefused?.(reason, 1),
        metrics,
        relay: (block) => eth.broadcastBlock(block, chain.head.totalDifficulty + block.header.difficulty),
      },
      lost && { block: lost, addresses: [key.address, validator.address] },
    );
    messages.onAhead((author, number) => eth.noteImpliedHeight(author, number));
    this.protocols = [...eth.protocols, messages.protocol];
  }

  /** Starts to process peers' messages, to sync, and to announce transactions; called once the engine knows the chain's head. */
  begin(): void {
    const { chain, txPool, consensus } = this.parts;
    const { sync, eth } = this;
    const { messages } = consensus;
    const participation = consensus.participate(sync);
    sync.onStatusChanged(() => participation.syncChanged());
    messages.headAdvanced({ ...chain.head, tally: chain.tallyAfter(chain.head) });
    chain.onHeadChanged("peers", ({ head, added }) => {
      // Resumes consensus before the router delivers the messages buffered for the next height.
      participation.headChanged();
      messages.headAdvanced({ ...head, tally: chain.tallyAfter(head) });
      // Only the newest block of a range is announced; peers have the others already.
      const newest = added.at(-1);
      if (newest !== undefined && sync.isInSync) eth.broadcastBlock(newest, newest.totalDifficulty);
      sync.wake();
    });
    txPool.pool.onAdded(({ transaction }) => eth.announceTransactions([transaction]));
    sync.begin();
  }

  async close(): Promise<void> {
    this.eth.close();
    await this.sync.close();
  }
}
