import { encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import { encodeBlock, encodeBody, encodeTransactions } from "../../types/block.ts";
import { encodeHeader } from "../../types/header.ts";
import {
  encodeBlockAnnouncements,
  encodeTransactionAnnouncements,
  readBlockAnnouncements,
  readTransactionAnnouncements,
} from "./announcements.ts";
import { encodeHeaderQuery, readHeaderQuery } from "./headerQuery.ts";
import {
  MAX_BLOCK_ANNOUNCEMENTS_BYTES,
  MAX_BLOCK_BYTES,
  MAX_CONTENT_BYTES,
  MAX_HASH_LIST_BYTES,
  MAX_REQUESTED_HASHES,
  MAX_SERVED_BODIES,
  MAX_SERVED_HEADERS,
  MAX_SERVED_NODES,
  MAX_SERVED_RECEIPTS,
  MAX_SERVED_TRANSACTIONS,
  MAX_STATUS_BYTES,
  MAX_TRANSACTION_ANNOUNCEMENTS,
  MAX_TRANSACTIONS,
  MAX_TRANSACTIONS_BYTES,
} from "./limits.ts";
import type { MessageKind, MessageOf } from "./messages.ts";
import { readBlock, readBodies, readHeaders, readReceipts, readTransactions } from "./payloadReaders.ts";
import { encodeStatus, readStatus } from "./status.ts";
import { firstHashesOf, hashesOf, membersOf, stringOf, withoutRequestId } from "./wireReader.ts";
import { encodeHashes, encodeReceipts, encodeScalar, withRequestId } from "./wireWriter.ts";

/** How one kind of message is written and read. */
export interface MessageFormat<Kind extends MessageKind> {
  /** Longest accepted payload, in bytes. */
  readonly longest: number;
  readonly encode: (message: MessageOf<Kind>) => Uint8Array;
  /** Throws RangeError for a malformed payload. */
  readonly decode: (payload: Uint8Array) => MessageOf<Kind>;
}

/** Most transactions in an unsolicited message, and most bytes of several of them. */
export const UNSOLICITED_TRANSACTIONS = { limit: MAX_TRANSACTIONS, most: MAX_TRANSACTIONS_BYTES };
const REQUESTED_TRANSACTIONS = { limit: MAX_TRANSACTIONS, most: MAX_CONTENT_BYTES };

/** The messages of all supported versions (p2p.md#eth-messages). */
export const MESSAGE_FORMATS: { readonly [Kind in MessageKind]: MessageFormat<Kind> } = {
  status: {
    longest: MAX_STATUS_BYTES,
    encode: ({ status }) => encodeStatus(status),
    decode: (payload) => ({ kind: "status", status: readStatus(payload) }),
  },
  newBlockHashes: {
    longest: MAX_BLOCK_ANNOUNCEMENTS_BYTES,
    encode: ({ blocks }) => encodeBlockAnnouncements(blocks),
    decode: (payload) => ({ kind: "newBlockHashes", blocks: readBlockAnnouncements(payload) }),
  },
  transactions: {
    longest: MAX_CONTENT_BYTES,
    encode: ({ transactions }) => encodeTransactions(transactions),
    decode: (payload) => ({
      kind: "transactions",
      transactions: readTransactions(payload, UNSOLICITED_TRANSACTIONS),
    }),
  },
  getBlockHeaders: {
    longest: MAX_STATUS_BYTES,
    encode: ({ requestId, query }) => withRequestId(requestId, encodeHeaderQuery(query)),
    decode(payload) {
      const { requestId, body } = withoutRequestId(payload);
      return { kind: "getBlockHeaders", requestId, query: readHeaderQuery(body) };
    },
  },
  blockHeaders: {
    longest: MAX_CONTENT_BYTES,
    encode: ({ requestId, headers }) => withRequestId(requestId, encodeRlpList(headers.map(encodeHeader))),
    decode(payload) {
      const { requestId, body } = withoutRequestId(payload);
      return { kind: "blockHeaders", requestId, headers: readHeaders(body, MAX_SERVED_HEADERS) };
    },
  },
  getBlockBodies: requestByHashes("getBlockBodies", MAX_SERVED_BODIES),
  blockBodies: {
    longest: MAX_BLOCK_BYTES,
    encode: ({ requestId, bodies }) => withRequestId(requestId, encodeRlpList(bodies.map(encodeBody))),
    decode(payload) {
      const { requestId, body } = withoutRequestId(payload);
      return { kind: "blockBodies", requestId, bodies: readBodies(body, MAX_SERVED_BODIES) };
    },
  },
  newBlock: {
    longest: MAX_BLOCK_BYTES,
    encode: ({ block, totalDifficulty }) =>
      encodeRlpList([encodeBlock(block), encodeScalar(totalDifficulty)]),
    decode: (payload) => ({ kind: "newBlock", ...readBlock(payload) }),
  },
  newPooledTransactionHashes: {
    longest: MAX_HASH_LIST_BYTES,
    encode: ({ announcements }) => encodeTransactionAnnouncements(announcements),
    decode: (payload) => ({
      kind: "newPooledTransactionHashes",
      announcements: readTransactionAnnouncements(payload),
    }),
  },
  bareTransactionHashes: {
    longest: MAX_HASH_LIST_BYTES,
    encode: ({ hashes }) => encodeHashes(hashes),
    decode: (payload) => ({
      kind: "bareTransactionHashes",
      hashes: hashesOf(payload, MAX_TRANSACTION_ANNOUNCEMENTS),
    }),
  },
  getPooledTransactions: requestByHashes("getPooledTransactions", MAX_SERVED_TRANSACTIONS),
  pooledTransactions: {
    longest: MAX_CONTENT_BYTES,
    encode: ({ requestId, transactions }) => withRequestId(requestId, encodeTransactions(transactions)),
    decode(payload) {
      const { requestId, body } = withoutRequestId(payload);
      const transactions = readTransactions(body, REQUESTED_TRANSACTIONS);
      return { kind: "pooledTransactions", requestId, transactions };
    },
  },
  getNodeData: requestByHashes("getNodeData", MAX_SERVED_NODES),
  nodeData: {
    longest: MAX_CONTENT_BYTES,
    encode: ({ requestId, nodes }) => withRequestId(requestId, encodeRlpList(nodes.map(encodeRlpString))),
    decode(payload) {
      const { requestId, body } = withoutRequestId(payload);
      return { kind: "nodeData", requestId, nodes: membersOf(body, MAX_SERVED_NODES).map(stringOf) };
    },
  },
  getReceipts: requestByHashes("getReceipts", MAX_SERVED_RECEIPTS),
  receipts: {
    longest: MAX_BLOCK_BYTES,
    encode: ({ requestId, receipts }) =>
      withRequestId(requestId, encodeRlpList(receipts.map(encodeReceipts))),
    decode(payload) {
      const { requestId, body } = withoutRequestId(payload);
      return { kind: "receipts", requestId, receipts: readReceipts(body, MAX_SERVED_RECEIPTS) };
    },
  },
};

type KindByHashes = "getBlockBodies" | "getPooledTransactions" | "getNodeData" | "getReceipts";

function requestByHashes<Kind extends KindByHashes>(kind: Kind, most: number): MessageFormat<Kind> {
  return {
    longest: MAX_HASH_LIST_BYTES,
    encode: ({ requestId, hashes }) => withRequestId(requestId, encodeHashes(hashes)),
    decode(payload) {
      const { requestId, body } = withoutRequestId(payload);
      return { kind, requestId, hashes: firstHashesOf(body, { limit: MAX_REQUESTED_HASHES, most }) };
    },
  };
}
