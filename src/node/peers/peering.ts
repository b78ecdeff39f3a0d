import type { Engine } from "../../consensus/engine.ts";
import { listenFirst } from "../../consensus/listening.ts";
import type { SignedTimes } from "../../consensus/monitor/signedTimes.ts";
import type { PauseReasons } from "../../consensus/pauseReasons.ts";
import type { Outbox } from "../../consensus/ports.ts";
import { createConsensusMessages } from "../../consensus/transport.ts";
import { createIbfTransport } from "../../network/ibf/protocol.ts";
import type { SubProtocol } from "../../network/subProtocol.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import type { Sync } from "../../sync/sync.ts";
import { type BlockExchangeParts, createBlockExchange } from "./blockExchange.ts";
import type { FindPeerHead } from "./peerInfo.ts";

/**
 * Connects the protocols with the parts that use them:
 *
 *     IBF ── consensus/transport.ts ── engine          eth ── blockExchange.ts ── chain, pool
 *
 * Invariants: the engine receives a head before the buffered messages for the next height; while peers are believed to
 * be ahead, the node syncs, and neither proposes nor votes (architecture.md#rulings); nor does it before blocks that it has lost
 * are back (ibft2.md#a-lost-end).
 */
export interface Peering {
  /** Protocols in the order in which Hello lists them, which is Besu's. */
  readonly protocols: readonly SubProtocol[];
  /** Sends the engine's messages. */
  readonly outbox: Outbox;
  readonly sync: Sync;
  /** Whether a node speaks for a validator under another key. */
  readonly isValidatorNode: (node: Address) => boolean;
  /** Best block announced by a peer. */
  readonly headOf: FindPeerHead;
  /** Calls `listener` whenever the sync target is set, moved or cleared. */
  onSyncChanged(listener: (status: Sync["status"]) => void): () => void;
  /** Calls `listener` whenever a peer is greeted and its height known, has a greater one, or leaves. */
  onPeersChanged(listener: () => void): void;
  /** Starts to process peers' messages; called once the engine knows the chain's head. */
  begin(pauseReasons: PauseReasons): void;
  close(): Promise<void>;
}

interface PeeringParts extends Omit<BlockExchangeParts, "onSyncChanged" | "logger"> {
  readonly self: Address;
  /** This node's key is not its validator's. */
  readonly hasOtherNodeKey: boolean;
  /** Called lazily, because the engine is created after the peering. */
  readonly engine: () => Engine;
  readonly signedTimes: SignedTimes;
  readonly logger: BlockExchangeParts["logger"] & { readonly consensus: Logger };
  readonly metrics?: Metrics | undefined;
}

export function createPeering(parts: PeeringParts): Peering {
  const { chain, logger } = parts;
  /** Undefined until the begin. */
  let pauseReasons: PauseReasons | undefined;
  const exchange = createBlockExchange({ ...parts, onSyncChanged: review });
  const messages = createConsensusMessages({
    ...parts,
    openIbf: createIbfTransport,
    logger: logger.consensus,
    onAhead: (validator, number) => exchange.noteImpliedHeight(validator, number),
  });
  const { sync } = exchange;

  /** A validator participates only while the node is in sync. */
  function review(): void {
    if (sync.isInSync) pauseReasons?.resume("catchingUp");
    else pauseReasons?.pause("catchingUp");
  }

  return {
    protocols: [...exchange.protocols, messages.protocol],
    outbox: messages.outbox,
    isValidatorNode: messages.isValidatorNode,
    sync,
    headOf: exchange.headOf,
    onSyncChanged: (listener) => exchange.onSyncChanged(listener),
    onPeersChanged: (listener) => exchange.onPeersChanged(listener),
    begin(reasons) {
      pauseReasons = reasons;
      const { lostEnd } = exchange;
      if (lostEnd !== undefined) reasons.pause("lostEnd");
      const { engine, hasOtherNodeKey, spec, clock } = parts;
      listenFirst(
        {
          engine: engine(),
          hold: reasons,
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
        review();
        if (lostEnd?.isRestored === true) reasons.resume("lostEnd");
        messages.headAdvanced({ ...head, tally: chain.tallyAfter(head) });
        // Only the newest block of a range is announced; peers have the others already.
        const newest = added.at(-1);
        if (newest !== undefined && sync.isInSync) exchange.broadcastBlock(newest, newest.totalDifficulty);
        sync.wake();
      });
      exchange.begin();
    },
    close: () => exchange.close(),
  };
}
