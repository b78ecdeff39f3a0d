import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { createIbfTransport } from "../network/ibf/protocol.ts";
import type { SubProtocol } from "../network/subProtocol.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { Engine } from "./engine.ts";
import type { SignedTimes } from "./monitor/signedTimes.ts";
import type { Outbox } from "./ports.ts";
import { MessageRouter } from "./router/messageRouter.ts";
import { ReadingScheduler } from "./router/readingShares.ts";
import { declareMessageRouterMetrics } from "./router/routerMetrics.ts";

/** Carries consensus messages between the engine and the peers: `IBF ── message router ── engine`. */
export interface ConsensusMessages extends Pick<MessageRouter, "headAdvanced"> {
  readonly protocol: SubProtocol;
  /** Sends the engine's messages. */
  readonly outbox: Outbox;
  /** Whether a node speaks for a validator under another key. */
  readonly isValidatorNode: (node: Address) => boolean;
  /** Calls `listener` whenever a validator has sent a message about a later height than the next one. */
  onAhead(listener: (validator: Address, number: bigint) => void): void;
}

export interface ConsensusMessagesParts {
  readonly spec: ChainSpec;
  readonly self: Address;
  /** True when this node's key is not its validator's. */
  readonly hasOtherNodeKey: boolean;
  readonly pool: Pick<TxPool, "get">;
  /** Opens IBF/1, which carries bytes between peers. */
  readonly openIbf: typeof createIbfTransport;
  /** Returns the engine, which is created later. */
  readonly engine: () => Engine;
  readonly clock: Clock;
  readonly signedTimes: SignedTimes;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
}

export function createConsensusMessages(parts: ConsensusMessagesParts): ConsensusMessages {
  const { spec, self, pool, engine, clock, logger, metrics, signedTimes } = parts;
  const aheadListeners: Parameters<ConsensusMessages["onAhead"]>[0][] = [];
  const ibf = parts.openIbf({
    receive: (message) => router.receive(message),
    onOpened: (address, send) => router.peerConnected(address, send),
    later: (send) => void clock.at(clock.nowMs() + INTRODUCTION_MS, send),
  });
  const router = new MessageRouter({
    self,
    schedule: spec.ibft,
    carrier: ibf,
    hasOtherNodeKey: parts.hasOtherNodeKey,
    messagesBy: (author) => engine().messagesBy(author),
    judgeNotice: (notice) => engine().keyWatch.judge(notice),
    findTransaction: (hash) => pool.get(hash)?.transaction,
    deliver: (message, waitedMs) => engine().receive(message, waitedMs),
    clock,
    onAhead(validator, number) {
      for (const listener of aheadListeners) listener(validator, number);
    },
    signedTimes,
    penalisePeer: (sender) => ibf.penalise(sender),
    later: (passOn, waitMs) => void clock.at(clock.nowMs() + waitMs, passOn),
    shares: new ReadingScheduler({ clock, defer: setImmediate }),
    logger,
    metrics: metrics === undefined ? undefined : declareMessageRouterMetrics(metrics),
  });
  return {
    protocol: ibf.protocol,
    outbox: {
      multicast: (message, validators) => router.multicast(message, validators),
      connected: () => ibf.kept.flatMap((node) => [node, ...router.validatorNodes.validatorsOf(node)]),
      sendNotice: (message) => router.sendNotice(message),
    },
    onAhead: (listener) => void aheadListeners.push(listener),
    isValidatorNode: (node) => router.validatorNodes.has(node),
    headAdvanced: (head) => router.headAdvanced(head),
  };
}

/**
 * Delay that is long enough to exchange Status, the request for the head's header and its response at a latency of 200 ms
 * each way.
 */
const INTRODUCTION_MS = 1_000;
