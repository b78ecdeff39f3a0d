import type { Session } from "../subProtocol.ts";
import type { BlockGossip } from "./blockGossip.ts";
import { decodeMessage, openResponse } from "./messageCodec.ts";
import type { MessageKind, MessageOf } from "./messages.ts";
import type { Peer } from "./peer.ts";
import type { EthPool } from "./ports.ts";
import type { ResponseKind } from "./requests.ts";
import type { RequestKind, RequestServer } from "./serve.ts";
import type { TransactionGossip } from "./transactionGossip.ts";

/** Receives one message of a greeted session; it owns the payload, and must return soon. */
type MessageHandler = (peer: Peer, session: Session, payload: Uint8Array) => void;

export type MessageHandlers = Readonly<Record<MessageKind, MessageHandler>>;

/**
 * Handlers of each kind of message. Only small messages are decoded at once: blocks, transactions and responses go to
 * readers that work step by step.
 */
export function createMessageHandlers(parts: {
  readonly pool: Pick<EthPool, "isOpen">;
  readonly blocks: BlockGossip;
  readonly transactions: TransactionGossip;
  readonly requestServer: RequestServer;
}): MessageHandlers {
  const { pool, blocks, transactions, requestServer } = parts;
  const request = (kind: RequestKind): MessageHandler =>
    decoded(kind, (peer, session, message) => requestServer.receive(peer, session, message));
  const receiveAnnounced = decoded("newPooledTransactionHashes", (peer, _, { announcements }) =>
    transactions.receiveAnnounced(peer, announcements),
  );
  const receiveHashes = decoded("bareTransactionHashes", (peer, _, { hashes }) =>
    transactions.receiveAnnounced(
      peer,
      hashes.map((hash) => ({ hash })),
    ),
  );

  return {
    status: decoded("status", (_, session) => session.disconnect("breachOfProtocol", "second Status")),
    newBlockHashes: decoded("newBlockHashes", (peer, _, message) =>
      blocks.receiveHashes(peer, message.blocks),
    ),
    newBlock: (peer, session, payload) => blocks.receive(peer, session, payload),
    transactions: (peer, _, payload) => transactions.receive(peer, payload),
    newPooledTransactionHashes(peer, session, payload) {
      // Decoding would be wasted while the pool is closed.
      if (pool.isOpen) receiveAnnounced(peer, session, payload);
    },
    bareTransactionHashes(peer, session, payload) {
      if (pool.isOpen) receiveHashes(peer, session, payload);
    },
    getBlockHeaders: request("getBlockHeaders"),
    getBlockBodies: request("getBlockBodies"),
    getPooledTransactions: request("getPooledTransactions"),
    getNodeData: request("getNodeData"),
    getReceipts: request("getReceipts"),
    blockHeaders: response("blockHeaders"),
    blockBodies: response("blockBodies"),
    pooledTransactions: response("pooledTransactions"),
    // This node never requests state nodes.
    nodeData: (peer, session) => refuseUnsolicited(peer, session, "nodeData"),
    // This node never requests receipts either, and 16 MiB of them take a second to decode.
    receipts: (peer, session) => refuseUnsolicited(peer, session, "receipts"),
  };
}

/** Decodes the message for `handle`; a malformed one is a breach of protocol. */
function decoded<Kind extends MessageKind>(
  kind: Kind,
  handle: (peer: Peer, session: Session, message: MessageOf<Kind>) => void,
): MessageHandler {
  return (peer, session, payload) => {
    const message = decodeMessage(kind, payload);
    if (message.ok) handle(peer, session, message.value);
    else refuseMalformed(peer, session, message.error.message);
  };
}

function refuseMalformed(peer: Peer, session: Session, detail: string): void {
  peer.noteRefused("malformed");
  session.disconnect("breachOfProtocol", detail);
}

function refuseUnsolicited(peer: Peer, session: Session, kind: MessageKind): void {
  peer.noteRefused("unsolicitedResponse");
  session.disconnect("breachOfProtocol", `unsolicited ${kind}`);
}

/** Passes the undecoded response to the request that it belongs to. */
function response(kind: ResponseKind): MessageHandler {
  return (peer, session, payload) => {
    const opened = openResponse(kind, payload);
    if (!opened.ok) {
      refuseMalformed(peer, session, opened.error.message);
      return;
    }
    const status = peer.requests.receive(kind, opened.value.requestId, opened.value.body);
    if (status === "late") peer.noteRefused("lateResponse");
    if (status === "unsolicited") refuseUnsolicited(peer, session, kind);
    if (status === "unmatched") {
      peer.noteRefused("wrongRequestId");
      session.penalise();
    }
  };
}
