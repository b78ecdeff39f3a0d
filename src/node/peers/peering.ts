import type { Chain } from "../../chain/createChain.ts";
import type { RecoverSigners } from "../../chain/signerRecovery.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { ForkIds } from "../../chainspec/forkId.ts";
import type { Engine } from "../../consensus/engine.ts";
import type { SignedTimes } from "../../consensus/monitor/signedTimes.ts";
import { Participation } from "../../consensus/participation.ts";
import type { PauseReasons } from "../../consensus/pauseReasons.ts";
import { createConsensusMessages } from "../../consensus/transport.ts";
import { createEth, type Eth } from "../../network/eth/protocol.ts";
import { createIbfTransport } from "../../network/ibf/protocol.ts";
import type { SubProtocol } from "../../network/subProtocol.ts";
import type { InputRefusal } from "../../network/traffic.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { createRestoringSync, type LostEnd, type RestoringSync } from "../../sync/restoration.ts";
import { PeerPool } from "../../txpool/peerPool.ts";
import type { AskContract } from "../../txpool/ports.ts";
import type { TxPool } from "../../txpool/txPool.ts";

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
 * Invariants: the engine receives a head before the buffered messages for the next height; nothing of a peer is imported or
 * announced before the begin.
 */
export class Peering {
  /** Protocols in the order in which Hello lists them, which is Besu's. */
  readonly protocols: readonly SubProtocol[];
  readonly eth: Eth;
  readonly sync: RestoringSync;
  /** Consensus messages. */
  readonly messages: ReturnType<typeof createConsensusMessages>;
  private readonly parts: PeeringParts;
  /** Undefined until the begin. */
  private participation: Participation | undefined;

  constructor(parts: PeeringParts) {
    const { spec, networkId, chain, clock, logger, onRefused, metrics } = parts;
    this.parts = parts;
    const eth = createEth({
      identity: { networkId, forkIds: ForkIds.of(spec.forks, chain.genesis) },
      chain,
      pool: new PeerPool({ ...parts, logger: logger.network }, () => this.sync.isInSync),
      clock,
      chance: parts.chance ?? Math.random,
      logger: logger.network,
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
        logger: logger.sync,
        onRefused: (reason) => onRefused?.(reason, 1),
        metrics,
        relay: (block) => eth.broadcastBlock(block, chain.head.totalDifficulty + block.header.difficulty),
      },
      parts.lost,
    );
    this.sync.onStatusChanged(() => this.participation?.syncChanged());
    this.messages = createConsensusMessages({
      ...parts,
      openIbf: createIbfTransport,
      logger: logger.consensus,
      onAhead: (validator, number) => eth.noteImpliedHeight(validator, number),
    });
    this.protocols = [...eth.protocols, this.messages.protocol];
  }

  /** Starts to process peers' messages, to sync, and to announce transactions; called once the engine knows the chain's head. */
  begin(pauseReasons: PauseReasons): void {
    const { chain, pool, engine, spec, logger } = this.parts;
    const { sync, messages, eth } = this;
    const participation = new Participation({
      ...this.parts,
      sync,
      pauseReasons,
      engine: engine(),
      schedule: spec.ibft,
      logger: logger.consensus,
    });
    this.participation = participation;
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
    pool.onAdded(({ transaction }) => eth.announceTransactions([transaction]));
    sync.begin();
  }

  async close(): Promise<void> {
    this.eth.close();
    await this.sync.close();
  }
}
