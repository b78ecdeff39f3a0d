import type { Logger } from "../../observability/logger.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { hashOfHeader } from "../../types/blockHash.ts";
import type { Session } from "../subProtocol.ts";
import { decodeMessage, encodeMessage } from "./messageCodec.ts";
import { CODES, type MessageKind, type Status } from "./messages.ts";
import type { Peer } from "./peer.ts";
import type { EthChain, EthIdentity } from "./ports.ts";
import { checkStatus, ownStatus } from "./status.ts";

interface StatusExchangeParts {
  readonly identity: EthIdentity;
  readonly chain: EthChain;
  readonly logger: Logger;
  /** Called when the first session with a new peer is greeted. */
  readonly onGreeted: (peer: Peer) => void;
  readonly onPeersChanged: () => void;
}

/**
 * The handshake of each session (p2p.md#status-and-fork-id).
 *
 *     session opens ── Status out ── Status in, checked ─┬─ its head is ours, too ─────────────┬─> a peer to sync from
 *                                                        └─ else its head's header is requested ┘
 *
 * Invariant: nothing but Status is accepted from a session before it is greeted.
 */
export class StatusExchange {
  private readonly parts: StatusExchangeParts;

  constructor(parts: StatusExchangeParts) {
    this.parts = parts;
  }

  /** Sends this node's Status. */
  begin(session: Session): void {
    const status = ownStatus(this.parts.identity, this.parts.chain, session.version);
    session.send(CODES.status, encodeMessage({ kind: "status", status }));
  }

  /** Receives a message over a session that is not greeted; it must be Status. */
  receive(peer: Peer, session: Session, kind: MessageKind | undefined, payload: Uint8Array): void {
    if (kind !== "status") {
      peer.noteRefused("malformed");
      session.disconnect("breachOfProtocol", "a message before Status");
      return;
    }
    const message = decodeMessage(kind, payload);
    if (message.ok) {
      this.greet(peer, session, message.value.status);
      return;
    }
    peer.noteRefused("malformed");
    session.disconnect("subprotocolTriggered", message.error.message);
  }

  private greet(peer: Peer, session: Session, status: Status): void {
    const checked = checkStatus(status, this.parts.identity, this.parts.chain);
    if (!checked.ok) {
      session.disconnect("subprotocolTriggered", checked.error.message);
      return;
    }
    peer.connections.markGreeted(session);
    session.greeted();
    if (peer.status !== undefined) return;
    peer.status = status;
    peer.best = { hash: status.headHash, totalDifficulty: status.totalDifficulty };
    const known = this.parts.chain.headerByHash(status.headHash);
    if (known === undefined) void this.requestHead(peer, status);
    else this.noteHeight(peer, known.header.number);
    this.parts.onGreeted(peer);
  }

  /** A peer that cannot return the header of its own head is useless (p2p.md#status-and-fork-id). */
  private async requestHead(peer: Peer, { headHash }: Status): Promise<void> {
    const start = { hash: headHash };
    const response = await peer.requestHeaders({ start, max: 1, skip: 0, isReverse: false });
    const [header] = response.ok ? response.value : [];
    const hash = header === undefined ? undefined : hashOfHeader(header);
    if (header === undefined || !hash?.ok || !equalBytes(hash.value, headHash)) {
      peer.noteRefused("falseHead");
      peer.disconnect("uselessPeer", "it did not return the header of its head");
      return;
    }
    this.noteHeight(peer, header.number);
  }

  private noteHeight(peer: Peer, height: bigint): void {
    peer.height = height;
    this.parts.logger.often("debug", "the height of a peer's head is known", () => ({
      peer: peer.key.slice(0, 16),
      height,
    }));
    this.parts.onPeersChanged();
  }
}
