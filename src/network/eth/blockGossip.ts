import { toKey } from "../../primitives/byteKey.ts";
import type { Block } from "../../types/block.ts";
import { hashOfHeader } from "../../types/blockHash.ts";
import type { Session } from "../subProtocol.ts";
import { NEWEST_ANNOUNCED_BLOCK, OLDEST_ANNOUNCED_BLOCK } from "./limits.ts";
import { encodeMessage, openNewBlock, readNewBlock } from "./messageCodec.ts";
import { type BlockAnnouncement, CODES } from "./messages.ts";
import type { Peer } from "./peer.ts";
import type { AnnouncedBlock, EthChain, EthPool } from "./ports.ts";

interface BlockGossipParts {
  readonly chain: EthChain;
  readonly pool: Pick<EthPool, "get">;
  /** Peers with a completed Status exchange. */
  readonly peers: () => readonly Peer[];
  /** Called for blocks near the head that are not part of the chain. */
  readonly onBlock: (announced: AnnouncedBlock) => void;
  /** Called when a peer may have a greater height. */
  readonly onPeersChanged: () => void;
}

/**
 * Block gossip (p2p.md#block-propagation).
 *
 *     peers ── NewBlock ──> header decoded ── near the head, and not in the chain ──> onBlock
 *     peers ── NewBlock, NewBlockHashes ──> heights and best blocks of the peers
 *     broadcast ── NewBlock, or NewBlockHashes to peers that have the block ──> peers
 *
 * Not done here: validating blocks (sync and chain).
 */
export class BlockGossip {
  private readonly parts: BlockGossipParts;

  constructor(parts: BlockGossipParts) {
    this.parts = parts;
  }

  /**
   * Receives a NewBlock message. Its body stays undecoded: each validator sends each block to all peers, and a body may
   * contain anything.
   */
  receive(peer: Peer, session: Session, payload: Uint8Array): void {
    const opened = openNewBlock(payload);
    if (!opened.ok) {
      peer.noteRefused("malformed");
      session.disconnect("breachOfProtocol", opened.error.message);
      return;
    }
    const { header, totalDifficulty } = opened.value;
    const hash = hashOfHeader(header);
    // The block cannot belong to this chain, but that is no breach of the protocol (p2p.md#block-propagation).
    if (!hash.ok) {
      peer.noteRefused("strayBlock");
      peer.penalise();
      return;
    }
    const { number, parentHash, difficulty } = header;
    peer.knownBlocks.add(toKey(hash.value));
    peer.raiseBest({ hash: parentHash, totalDifficulty: totalDifficulty - difficulty });
    if (number > 0n) peer.raiseHeight(number - 1n, this.headNumber());
    this.parts.onPeersChanged();
    if (!this.isNear(number)) peer.noteRefused("strayBlock");
    if (!this.isNear(number) || this.parts.chain.headerByHash(hash.value) !== undefined) return;
    this.parts.onBlock({
      header,
      hash: hash.value,
      bytes: payload.length,
      open: () => readNewBlock(payload, header, (wanted) => this.parts.pool.get(wanted)),
      peer: peer.key,
    });
  }

  receiveHashes(peer: Peer, blocks: readonly BlockAnnouncement[]): void {
    for (const { hash, number } of blocks) {
      peer.knownBlocks.add(toKey(hash));
      peer.raiseHeight(number, this.headNumber());
    }
    const last = blocks.at(-1);
    const ours = last === undefined ? undefined : this.parts.chain.headerByHash(last.hash);
    if (ours !== undefined) peer.raiseBest(ours);
    this.parts.onPeersChanged();
  }

  /** Sends a valid block to every peer not known to have it; `totalDifficulty` includes its own difficulty. */
  broadcast(block: Block, totalDifficulty: bigint): void {
    broadcast(this.parts.peers(), block, totalDifficulty);
  }

  private headNumber(): bigint {
    return this.parts.chain.head.header.number;
  }

  private isNear(number: bigint): boolean {
    const above = number - this.headNumber();
    return above >= -OLDEST_ANNOUNCED_BLOCK && above <= NEWEST_ANNOUNCED_BLOCK;
  }
}

function broadcast(peers: readonly Peer[], block: Block, totalDifficulty: bigint): void {
  if (peers.length === 0) return;
  const hash = hashOfHeader(block.header);
  if (!hash.ok) return;
  const key = toKey(hash.value);
  const name = { hash: hash.value, number: block.header.number };
  let named: Uint8Array | undefined;
  let whole: Uint8Array | undefined;
  for (const peer of peers) {
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
}
