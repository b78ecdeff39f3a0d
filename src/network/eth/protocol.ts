import type { ForkId } from "../../chainspec/forkId.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { Block } from "../../types/block.ts";
import type { Transaction } from "../../types/transaction.ts";
import type { SubProtocol } from "../subProtocol.ts";
import type { InputRefusal } from "../traffic.ts";
import { BlockGossip } from "./blockGossip.ts";
import { ImpliedHeights } from "./impliedHeights.ts";
import { createMessageHandlers, type MessageHandlers } from "./messageHandlers.ts";
import {
  ETH_MESSAGE_CODES,
  ETH_VERSIONS,
  type EthVersion,
  kindsOf,
  LATEST_ETH_VERSION,
  messageNamesOf,
} from "./messages.ts";
import type { Peer } from "./peer.ts";
import { Peers } from "./peers.ts";
import type { AnnouncedBlock, EthChain, EthIdentity, EthPool } from "./ports.ts";
import { RequestServer } from "./serve.ts";
import { StatusExchange } from "./statusExchange.ts";
import { TransactionGossip } from "./transactionGossip.ts";

/**
 * The eth protocol, versions 66 to 68 (p2p.md#eth-messages).
 *
 *     session opens ──> statusExchange.ts ──> a peer of peers.ts
 *     its messages ──> messageHandlers.ts ┬─ blocks ──> blockGossip.ts ──> onBlock
 *                                         ├─ transactions ──> transactionGossip.ts <──> pool
 *                                         ├─ requests ──> serve.ts
 *                                         └─ responses ──> requests.ts ──> who asked
 *
 * Invariants: nothing is accepted from a session before its Status, and nothing unbounded from any peer; a breach of
 * protocol ends the connection and has no other effect. Not done here: validating blocks (sync and chain), validating
 * transactions (the pool), admitting peers (the peer table).
 */
export interface Eth {
  /** Sub-protocols of eth, one for each version, ascending; a connection uses the highest that both ends support. */
  readonly protocols: readonly SubProtocol[];
  /** The highest of these versions. */
  readonly version: EthVersion;
  /** Peers with a completed Status exchange, in order of arrival. */
  readonly peers: readonly Peer[];
  /** What discovery tells and asks of the chain, as Status does. */
  readonly forks: PeerForks;
  /** Best block announced by a peer, by its node id; undefined before its Status. */
  announcedBy(nodeId: Uint8Array): AnnouncedHead | undefined;
  /** Sends a valid block to every peer not known to have it; `totalDifficulty` includes its own difficulty. */
  broadcastBlock(block: Block, totalDifficulty: bigint): void;
  /** A validator's consensus messages imply that it has block `number`; requests will show whether it does. */
  noteImpliedHeight(validator: Address, number: bigint): void;
  /** Calls `listener` whenever a peer is greeted and its height known, has a greater one, or leaves. */
  onPeersChanged(listener: () => void): void;
  /** Must be called for each addition to the pool. */
  announceTransactions(transactions: readonly Transaction[]): void;
  close(): void;
}

/** What nodes say about the forks of their chain. */
export interface PeerForks {
  readonly own: () => ForkId;
  readonly isCompatible: (forkId: ForkId) => boolean;
}

interface AnnouncedHead {
  readonly totalDifficulty: bigint;
  readonly headHash: Hash;
  /** The version in the peer's Status. */
  readonly version: number;
}

interface EthParts {
  readonly identity: EthIdentity;
  readonly chain: EthChain;
  readonly pool: EthPool;
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  readonly logger: Logger;
  /** Called for blocks near the head that are not part of the chain. */
  readonly onBlock: (announced: AnnouncedBlock) => void;
  /** Called when input of a peer was refused. */
  readonly onRefused?: ((reason: InputRefusal, count: number) => void) | undefined;
  /** Runs work after pending I/O; setImmediate unless given. */
  readonly defer?: (action: () => void) => void;
}

export function createEth(given: EthParts): Eth {
  const peerListeners: (() => void)[] = [];
  const onPeersChanged = (): void => {
    for (const listener of peerListeners) listener();
  };
  const parts = { ...given, onPeersChanged };
  const { chain, pool } = parts;
  const { forkIds } = parts.identity;
  const peers = new Peers(parts);
  const blocks = new BlockGossip({ ...parts, peers: () => peers.greeted() });
  const transactions = new TransactionGossip({
    ...parts,
    peers: () => peers.greeted(),
    isAhead: ({ height }) => height !== undefined && height > chain.head.header.number,
    defer: parts.defer ?? setImmediate,
  });
  const requestServer = new RequestServer({ chain, pool });
  const impliedHeights = new ImpliedHeights({ ...parts, peers: () => peers.greeted() });
  const statusExchange = new StatusExchange({
    ...parts,
    onGreeted: (peer) => transactions.sendPool(peer),
  });
  const handlers = createMessageHandlers({ pool, blocks, transactions, requestServer });

  function forget(gone: Peer): void {
    requestServer.forget(gone);
    transactions.forget(gone);
    onPeersChanged();
  }

  return {
    protocols: ETH_VERSIONS.map((version) =>
      createVersion(version, { peers, statusExchange, handlers, onGone: forget }),
    ),
    version: LATEST_ETH_VERSION,
    get peers() {
      return peers.greeted();
    },
    forks: {
      own: () => forkIds.at(chain.head.header),
      isCompatible: (forkId) => forkIds.check(chain.head.header, forkId).ok,
    },
    announcedBy(nodeId) {
      const { best, status } = peers.greeted().find((peer) => equalBytes(peer.nodeId, nodeId)) ?? {};
      if (best === undefined || status === undefined) return undefined;
      return { totalDifficulty: best.totalDifficulty, headHash: best.hash, version: status.protocolVersion };
    },
    broadcastBlock: (block, totalDifficulty) => blocks.broadcast(block, totalDifficulty),
    noteImpliedHeight: (validator, number) => impliedHeights.note(validator, number),
    onPeersChanged: (listener) => void peerListeners.push(listener),
    announceTransactions: (added) => transactions.announce(added),
    close() {
      transactions.close();
      impliedHeights.close();
      peers.closeRequests();
    },
  };
}

/** One version of the protocol; a peer may have connections of different versions. */
function createVersion(
  version: EthVersion,
  parts: {
    readonly peers: Peers;
    readonly statusExchange: StatusExchange;
    readonly handlers: MessageHandlers;
    /** Called when the peer's last connection has ended. */
    readonly onGone: (peer: Peer) => void;
  },
): SubProtocol {
  const { peers, statusExchange, handlers } = parts;
  const kinds = kindsOf(version);

  return {
    name: "eth",
    version,
    messageCodes: ETH_MESSAGE_CODES,
    messageNames: messageNamesOf(version),
    hasGreeting: true,
    isExpected: true,
    onOpen(session) {
      peers.open(session);
      statusExchange.begin(session);
    },
    onMessage(session, code, payload) {
      const peer = peers.of(session);
      if (peer === undefined) return;
      const kind = kinds[code];
      if (!peer.connections.isGreeted(session)) statusExchange.receive(peer, session, kind, payload);
      else if (kind !== undefined) handlers[kind](peer, session, payload);
      else {
        peer.noteRefused("malformed");
        session.disconnect("breachOfProtocol", `eth/${version} has no message 0x${code.toString(16)}`);
      }
    },
    onClose(session) {
      const gone = peers.close(session);
      if (gone !== undefined) parts.onGone(gone);
    },
  };
}
