import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes, toDigits } from "../../primitives/hex.ts";
import type { Block } from "../../types/block.ts";
import { hashOfHeader } from "../../types/blockHash.ts";
import type { Transaction } from "../../types/transaction.ts";
import { maxTransactionsAfter } from "../../types/transactionCount.ts";
import type { DisconnectReason } from "../rlpx/disconnectReason.ts";
import type { Session, SubProtocol } from "../subProtocol.ts";
import { createImpliedHeights } from "./impliedHeights.ts";
import { NEWEST_ANNOUNCED_BLOCK, OLDEST_ANNOUNCED_BLOCK, SMALL_BLOCK_BYTES } from "./limits.ts";
import { decodeMessage, encodeMessage, openNewBlock, openResponse, readNewBlock } from "./messageCodec.ts";
import {
  type BlockAnnouncement,
  CODES,
  ETH_MESSAGE_CODES,
  ETH_VERSION,
  type EthMessage,
  kindOfCode,
  MESSAGE_NAMES,
  type MessageKind,
  type Status,
} from "./messageCodes.ts";
import { createPeer, type EthPeer, type PeerRecord } from "./peer.ts";
import type { AnnouncedBlock, EthChain, EthIdentity, EthPool } from "./ports.ts";
import { createRequestQueue } from "./requestQueue.ts";
import type { ResponseKind } from "./requests.ts";
import { type EthRequest, respondTo } from "./serve.ts";
import { checkStatus, ownStatus } from "./status.ts";
import { createTransactionGossip } from "./transactionGossip.ts";

/**
 * The eth protocol, version 68 (p2p.md#eth-messages).
 *
 *     session opens ── Status out ── Status in, checked ── its head's header requested ──> a peer to sync from
 *     requests ──> requestQueue.ts ──> serve.ts      responses ──> requests.ts ──> the caller
 *     transactions ──> transactionGossip.ts <──> pool     NewBlock ──> onBlock
 *
 * Invariants: nothing is accepted from a session before its Status, and nothing unbounded from any peer; a breach of
 * protocol ends the connection and has no other effect. Not done here: validating blocks (sync and chain), validating
 * transactions (the pool), admitting peers (the peer table).
 */
export interface Eth {
  readonly protocol: SubProtocol;
  /** Peers with a completed Status exchange, in order of arrival. */
  readonly peers: readonly EthPeer[];
  /** Sends a valid block to every peer not known to have it; `totalDifficulty` includes its own difficulty. */
  broadcastBlock(block: Block, totalDifficulty: bigint): void;
  /** A validator's consensus messages imply that it has block `number`; requests will show whether it does. */
  noteImpliedHeight(validator: Address, number: bigint): void;
  /** To be called for each addition to the pool. */
  announceTransactions(transactions: readonly Transaction[]): void;
  close(): void;
}

export interface EthParts {
  readonly identity: EthIdentity;
  readonly chain: EthChain;
  readonly pool: EthPool;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly chance: () => number;
  readonly logger: Logger;
  /** Called for blocks near the head that are not part of the chain. */
  readonly onBlock: (announced: AnnouncedBlock) => void;
  /** A peer came, left, or has a greater height. */
  readonly onPeersChanged: () => void;
  /** Runs work after pending I/O; setImmediate unless given. */
  readonly defer?: (action: () => void) => void;
}

export function createEth(parts: EthParts): Eth {
  const { chain, pool, identity, logger } = parts;
  const peers = new Map<string, PeerRecord>();
  const requestQueue = createRequestQueue<PeerRecord>();
  const greetedPeers = (): PeerRecord[] =>
    [...peers.values()].filter(({ status, sessions }) => status !== undefined && sessions.size > 0);
  const gossip = createTransactionGossip({
    ...parts,
    peers: greetedPeers,
    isAhead: ({ height }) => height !== undefined && height > headNumber(),
    defer: parts.defer ?? setImmediate,
  });

  const mostTransactions = (): number => maxTransactionsAfter(chain.head.header);
  const headNumber = (): bigint => chain.head.header.number;
  const impliedHeights = createImpliedHeights({ clock: parts.clock, headNumber, raise: raiseHeightOf });

  const disconnectForBreach = (session: Session, detail: string): void =>
    session.disconnect("breachOfProtocol", detail);

  function greet(peer: PeerRecord, session: Session, status: Status): void {
    const checked = checkStatus(status, identity, chain);
    if (!checked.ok) {
      session.disconnect("subprotocolTriggered", checked.error.message);
      return;
    }
    const isFirst = peer.status === undefined;
    peer.sessions.set(session, { isGreeted: true });
    session.greeted();
    if (!isFirst) return;
    peer.status = status;
    peer.best = { hash: status.headHash, totalDifficulty: status.totalDifficulty };
    void requestHead(peer, status);
    gossip.sendPool(peer);
  }

  /** A peer that cannot return the header of its own head is useless (p2p.md#status-and-fork-id). */
  async function requestHead(peer: PeerRecord, { headHash }: Status): Promise<void> {
    const response = await peer.requestHeaders({
      start: { hash: headHash },
      max: 1,
      skip: 0,
      isReverse: false,
    });
    const [header] = response.ok ? response.value : [];
    const hash = header === undefined ? undefined : hashOfHeader(header);
    if (header === undefined || !hash?.ok || !equalBytes(hash.value, headHash)) {
      peer.disconnect("uselessPeer", "it did not return the header of its head");
      return;
    }
    peer.height = header.number;
    logger.debug(
      { peer: peer.key.slice(0, 16), height: header.number },
      "peer returned the header of its head",
    );
    parts.onPeersChanged();
  }

  function receiveRequest(peer: PeerRecord, session: Session, request: EthRequest): void {
    const isTaken = requestQueue.enqueue(peer, () => {
      const { code, payload } = respondTo(request, { chain, pool });
      // The requesting connection may be the one of two that ended.
      if (!session.send(code, payload)) peer.send(code, payload);
    });
    if (!isTaken) session.disconnect("uselessPeer", "too many queued requests");
  }

  function receiveResponse(
    peer: PeerRecord,
    session: Session,
    { kind, payload }: { readonly kind: ResponseKind; readonly payload: Uint8Array },
  ): void {
    const opened = openResponse(kind, payload);
    if (!opened.ok) {
      disconnectForBreach(session, opened.error.message);
      return;
    }
    const status = peer.requests.receive(kind, opened.value.requestId, opened.value.body);
    if (status === "unmatched") session.penalise();
    if (status === "unsolicited") disconnectForBreach(session, `unsolicited ${kind}`);
  }

  /** The body stays undecoded: each validator sends each block to all peers, and a body may contain anything. */
  function receiveBlock(peer: PeerRecord, session: Session, payload: Uint8Array): void {
    const opened = openNewBlock(payload);
    if (!opened.ok) {
      disconnectForBreach(session, opened.error.message);
      return;
    }
    const { header, totalDifficulty } = opened.value;
    const hash = hashOfHeader(header);
    // The block cannot belong to this chain, but that is no breach of the protocol (p2p.md#block-propagation).
    if (!hash.ok) {
      peer.penalise();
      return;
    }
    const { number, parentHash, difficulty } = header;
    peer.knownBlocks.add(toKey(hash.value));
    peer.raiseBest({ hash: parentHash, totalDifficulty: totalDifficulty - difficulty });
    if (number > 0n) peer.raiseHeight(number - 1n, headNumber());
    parts.onPeersChanged();
    const above = number - headNumber();
    if (above < -OLDEST_ANNOUNCED_BLOCK || above > NEWEST_ANNOUNCED_BLOCK) return;
    if (chain.headerByHash(hash.value) !== undefined) return;
    parts.onBlock({
      header,
      hash: hash.value,
      bytes: payload.length,
      isLong: payload.length > SMALL_BLOCK_BYTES,
      open: () => readNewBlock(payload, header, pool.get),
      peer: peer.key,
    });
  }

  function receiveBlockHashes(peer: PeerRecord, blocks: readonly BlockAnnouncement[]): void {
    for (const { hash, number } of blocks) {
      peer.knownBlocks.add(toKey(hash));
      peer.raiseHeight(number, headNumber());
    }
    const last = blocks.at(-1);
    const ours = last === undefined ? undefined : chain.headerByHash(last.hash);
    if (ours !== undefined) peer.raiseBest(ours);
    parts.onPeersChanged();
  }

  function raiseHeightOf(validator: Address, number: bigint): void {
    for (const peer of greetedPeers()) {
      if (peer.height === undefined || peer.height >= number) continue;
      if (!equalBytes(peer.address, validator)) continue;
      peer.raiseHeight(number, headNumber());
      parts.onPeersChanged();
    }
  }

  function receiveMessage(peer: PeerRecord, session: Session, message: EthMessage): void {
    switch (message.kind) {
      case "status":
        disconnectForBreach(session, "second Status");
        return;
      case "newBlockHashes":
        receiveBlockHashes(peer, message.blocks);
        return;
      case "newPooledTransactionHashes":
        gossip.receiveAnnounced(peer, message.announcements);
        return;
      case "getBlockHeaders":
      case "getBlockBodies":
      case "getPooledTransactions":
      case "getReceipts":
        receiveRequest(peer, session, message);
        return;
      default:
        disconnectForBreach(session, `unsolicited ${message.kind}`);
    }
  }

  function receive(peer: PeerRecord, session: Session, code: number, payload: Uint8Array): void {
    const kind = kindOfCode(code);
    const isGreeted = peer.sessions.get(session)?.isGreeted === true;
    if (!isGreeted && kind !== "status") {
      disconnectForBreach(session, "a message before Status");
      return;
    }
    if (kind === "blockHeaders" || kind === "blockBodies" || kind === "pooledTransactions") {
      receiveResponse(peer, session, { kind, payload });
      return;
    }
    if (kind === "receipts") {
      // This node never requests receipts, and 16 MiB of them take a second to decode.
      disconnectForBreach(session, "unsolicited receipts");
      return;
    }
    if (isGreeted && kind === "newBlock") {
      receiveBlock(peer, session, payload);
      return;
    }
    if (isGreeted && kind === "transactions") {
      gossip.receive(peer, payload);
      return;
    }
    // Decoding would be wasted while the pool is closed.
    if (isGreeted && !pool.isOpen && kind === "newPooledTransactionHashes") return;
    if (kind === undefined) disconnectForBreach(session, `eth/68 has no message 0x${code.toString(16)}`);
    else read(peer, session, kind, payload);
  }

  function read(peer: PeerRecord, session: Session, kind: MessageKind, payload: Uint8Array): void {
    const isGreeted = peer.sessions.get(session)?.isGreeted === true;
    const message = decodeMessage(kind, payload);
    if (!message.ok) {
      const reason: DisconnectReason = isGreeted ? "breachOfProtocol" : "subprotocolTriggered";
      session.disconnect(reason, message.error.message);
      return;
    }
    if (!isGreeted && message.value.kind === "status") greet(peer, session, message.value.status);
    else receiveMessage(peer, session, message.value);
  }

  const protocol: SubProtocol = {
    name: "eth",
    version: ETH_VERSION,
    messageCodes: ETH_MESSAGE_CODES,
    messageNames: MESSAGE_NAMES,
    hasGreeting: true,
    onOpen(session) {
      const key = toDigits(session.nodeId);
      const peer = peers.get(key) ?? createPeer(session, { ...parts, mostTransactions });
      peers.set(key, peer);
      peer.sessions.set(session, { isGreeted: false });
      session.send(CODES.status, encodeMessage({ kind: "status", status: ownStatus(identity, chain) }));
    },
    onMessage(session, code, payload) {
      const peer = peers.get(toDigits(session.nodeId));
      if (peer !== undefined) receive(peer, session, code, payload);
    },
    onClose(session) {
      const key = toDigits(session.nodeId);
      const peer = peers.get(key);
      peer?.sessions.delete(session);
      if (peer === undefined || peer.sessions.size > 0) return;
      peers.delete(key);
      peer.requests.close();
      requestQueue.forget(peer);
      gossip.forget(peer);
      parts.onPeersChanged();
    },
  };

  return {
    protocol,
    get peers() {
      return greetedPeers();
    },
    broadcastBlock(block, totalDifficulty) {
      const recipients = greetedPeers();
      if (recipients.length === 0) return;
      const hash = hashOfHeader(block.header);
      if (!hash.ok) return;
      const key = toKey(hash.value);
      const name = { hash: hash.value, number: block.header.number };
      let named: Uint8Array | undefined;
      let whole: Uint8Array | undefined;
      for (const peer of recipients) {
        if (peer.sentBlocks.has(key)) continue;
        peer.sentBlocks.add(key);
        // A peer that has the block learns that this node has it, too.
        if (peer.knownBlocks.has(key)) {
          named ??= encodeMessage({ kind: "newBlockHashes", blocks: [name] });
          peer.send(CODES.newBlockHashes, named);
          continue;
        }
        peer.knownBlocks.add(key);
        whole ??= encodeMessage({ kind: "newBlock", block, totalDifficulty });
        peer.send(CODES.newBlock, whole);
      }
    },
    noteImpliedHeight: impliedHeights.note,
    announceTransactions: gossip.announce,
    close() {
      gossip.close();
      impliedHeights.close();
      for (const peer of peers.values()) peer.requests.close();
    },
  };
}
