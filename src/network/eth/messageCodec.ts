import { encodeForkId, forkIdFromItems } from "../../chainspec/forkId.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { Hash } from "../../primitives/hash.ts";
import { bigintToBytes } from "../../primitives/quantity.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString, readRlp } from "../../primitives/rlp.ts";
import { type Block, encodeBlock, encodeBody, encodeTransactions } from "../../types/block.ts";
import { encodeHeader, type Header } from "../../types/header.ts";
import { type BareReceipt, encodeReceipt } from "../../types/receipt.ts";
import type { FindTransaction, Transaction } from "../../types/transaction.ts";
import {
  MAX_ANNOUNCEMENT_BYTES,
  MAX_BLOCK_ANNOUNCEMENTS,
  MAX_BLOCK_BYTES,
  MAX_CONTENT_BYTES,
  MAX_HASH_LIST_BYTES,
  MAX_REQUESTED_HASHES,
  MAX_SERVED_BODIES,
  MAX_SERVED_HEADERS,
  MAX_SERVED_RECEIPTS,
  MAX_STATUS_BYTES,
  MAX_TRANSACTION_ANNOUNCEMENTS,
  MAX_TRANSACTIONS,
  MAX_TRANSACTIONS_BYTES,
} from "./limits.ts";
import {
  CODES,
  type EthMessage,
  type HeaderQuery,
  type MessageKind,
  type Status,
  type TransactionAnnouncement,
} from "./messageCodes.ts";
import {
  isBodyOfHeader,
  readBlock,
  readBodies,
  readHeaderOfBlock,
  readHeaders,
  readReceipts,
  readTransactions,
  readTransactionsOneByOne,
} from "./payloadReaders.ts";
import type { BlockErrorCode } from "./ports.ts";
import { hashesOf, hashOf, membersOf, scalarOf, stringOf, tupleOf } from "./wireReader.ts";

/**
 * Codec of the eth/68 messages (p2p.md#eth-messages). Decoding is strict, and bounded before anything is decoded: by
 * the length of the payload, then by the number of entries. Malformed input is an error value; what a message says is
 * not validated here.
 */

/** Why a message was refused; a small set, suited for counting. */
export type MessageErrorCode = "unknownCode" | "oversized" | "malformed";

export function encodeMessage(message: EthMessage): Uint8Array {
  switch (message.kind) {
    case "status":
      return encodeStatus(message.status);
    case "newBlockHashes":
      return encodeRlpList(
        message.blocks.map(({ hash, number }) =>
          encodeRlpList([encodeRlpString(hash), encodeScalar(number)]),
        ),
      );
    case "transactions":
      return encodeTransactions(message.transactions);
    case "getBlockHeaders":
      return withRequestId(message.requestId, encodeHeaderQuery(message.query));
    case "getBlockBodies":
    case "getPooledTransactions":
    case "getReceipts":
      return withRequestId(message.requestId, encodeHashes(message.hashes));
    case "blockHeaders":
      return withRequestId(message.requestId, encodeRlpList(message.headers.map(encodeHeader)));
    case "blockBodies":
      return withRequestId(message.requestId, encodeRlpList(message.bodies.map(encodeBody)));
    case "newBlock":
      return encodeRlpList([encodeBlock(message.block), encodeScalar(message.totalDifficulty)]);
    case "newPooledTransactionHashes":
      return encodeAnnouncements(message.announcements);
    case "pooledTransactions":
      return withRequestId(message.requestId, encodeTransactions(message.transactions));
    case "receipts":
      return withRequestId(message.requestId, encodeRlpList(message.receipts.map(encodeReceipts)));
    default:
      return assertNever(message);
  }
}

/** [request id, body], the shape of every request and response. */
export function withRequestId(requestId: bigint, body: Uint8Array): Uint8Array {
  return encodeRlpList([encodeScalar(requestId), body]);
}

/** The receipts of one block as encoded in a response. */
export function encodeReceipts(receipts: readonly BareReceipt[]): Uint8Array {
  return encodeRlpList(
    receipts.map((receipt) =>
      receipt.type === 0 ? encodeReceipt(receipt) : encodeRlpString(encodeReceipt(receipt)),
    ),
  );
}

/** Decoded values reference the payload, except transactions on their own, which are copied. */
export function decodeMessage(code: number, payload: Uint8Array): Result<EthMessage, MessageErrorCode> {
  const kind = KINDS.get(code);
  if (kind === undefined) return refuse("unknownCode", `eth/68 has no message 0x${code.toString(16)}`);
  if (payload.length > LONGEST[kind]) {
    return refuse("oversized", `${kind} of ${payload.length} bytes, at most ${LONGEST[kind]}`);
  }
  try {
    return ok(read(kind, payload));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse("malformed", `${kind}: ${error.message}`);
  }
}

/** The request id and the undecoded rest of a request or response. Fails when the payload is too long for its kind. */
export function openResponse(
  kind: MessageKind,
  payload: Uint8Array,
): Result<{ readonly requestId: bigint; readonly body: Uint8Array }, MessageErrorCode> {
  if (payload.length > LONGEST[kind]) return refuse("oversized", `${kind} of ${payload.length} bytes`);
  try {
    return ok(opened(payload));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse("malformed", `${kind}: ${error.message}`);
  }
}

/** The header and total difficulty of a NewBlock; the body may still be malformed. */
export function openNewBlock(
  payload: Uint8Array,
): Result<{ readonly header: Header; readonly totalDifficulty: bigint }, MessageErrorCode> {
  if (payload.length > LONGEST.newBlock) return refuse("oversized", `a block of ${payload.length} bytes`);
  try {
    return ok(readHeaderOfBlock(payload));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse("malformed", `newBlock: ${error.message}`);
  }
}

/**
 * The complete block of a NewBlock whose header is valid; `findTransaction` supplies transactions that are decoded
 * already.
 */
export function readNewBlock(
  payload: Uint8Array,
  header: Header,
  findTransaction?: FindTransaction,
): Result<Block, BlockErrorCode> {
  try {
    if (isBodyOfHeader(payload, header)) return ok(readBlock(payload, findTransaction).block);
    return err({ code: "foreignBody", fault: "peer", message: "its body belongs to another block" });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return err({ code: "malformed", fault: "peer", message: `newBlock: ${error.message}` });
  }
}

/** The transactions of an unsolicited message, decoded lazily. Throws RangeError. */
export function openTransactions(payload: Uint8Array): Iterator<Transaction> {
  if (payload.length > LONGEST.transactions) throw new RangeError(`${payload.length} bytes`);
  return readTransactionsOneByOne(payload, UNSOLICITED_TRANSACTIONS);
}

export function kindOfCode(code: number): MessageKind | undefined {
  return KINDS.get(code);
}

const KINDS: ReadonlyMap<number, MessageKind> = new Map(
  Object.entries(CODES).map(([kind, code]) => [code, kind as MessageKind]),
);

const LONGEST: Readonly<Record<MessageKind, number>> = {
  status: MAX_STATUS_BYTES,
  newBlockHashes: MAX_HASH_LIST_BYTES,
  transactions: MAX_CONTENT_BYTES,
  getBlockHeaders: MAX_STATUS_BYTES,
  blockHeaders: MAX_CONTENT_BYTES,
  getBlockBodies: MAX_HASH_LIST_BYTES,
  blockBodies: MAX_BLOCK_BYTES,
  newBlock: MAX_BLOCK_BYTES,
  newPooledTransactionHashes: MAX_ANNOUNCEMENT_BYTES,
  getPooledTransactions: MAX_HASH_LIST_BYTES,
  pooledTransactions: MAX_CONTENT_BYTES,
  getReceipts: MAX_HASH_LIST_BYTES,
  receipts: MAX_BLOCK_BYTES,
};

function read(kind: MessageKind, payload: Uint8Array): EthMessage {
  switch (kind) {
    case "status":
      return { kind, status: readStatus(payload) };
    case "newBlockHashes":
      return { kind, blocks: membersOf(payload, MAX_BLOCK_ANNOUNCEMENTS).map(readBlockAnnouncement) };
    case "transactions":
      return { kind, transactions: readTransactions(payload, UNSOLICITED_TRANSACTIONS) };
    case "newBlock":
      return { kind, ...readBlock(payload) };
    case "newPooledTransactionHashes":
      return { kind, announcements: readAnnouncements(payload) };
    case "getBlockHeaders": {
      const { requestId, body } = opened(payload);
      return { kind, requestId, query: readHeaderQuery(body) };
    }
    case "getBlockBodies":
    case "getPooledTransactions":
    case "getReceipts": {
      const { requestId, body } = opened(payload);
      return { kind, requestId, hashes: hashesOf(body, MAX_REQUESTED_HASHES) };
    }
    case "blockHeaders": {
      const { requestId, body } = opened(payload);
      return { kind, requestId, headers: readHeaders(body, MAX_SERVED_HEADERS) };
    }
    case "blockBodies": {
      const { requestId, body } = opened(payload);
      return { kind, requestId, bodies: readBodies(body, MAX_SERVED_BODIES) };
    }
    case "pooledTransactions": {
      const { requestId, body } = opened(payload);
      return { kind, requestId, transactions: readTransactions(body, REQUESTED_TRANSACTIONS) };
    }
    case "receipts": {
      const { requestId, body } = opened(payload);
      return { kind, requestId, receipts: readReceipts(body, MAX_SERVED_RECEIPTS) };
    }
    default:
      return assertNever(kind);
  }
}

const UNSOLICITED_TRANSACTIONS = { limit: MAX_TRANSACTIONS, most: MAX_TRANSACTIONS_BYTES };
const REQUESTED_TRANSACTIONS = { limit: MAX_TRANSACTIONS, most: MAX_CONTENT_BYTES };

function opened(payload: Uint8Array): { requestId: bigint; body: Uint8Array } {
  const [requestId, body] = tupleOf(payload, 2);
  if (body === undefined) throw new RangeError("a request or response without a body");
  return { requestId: scalarOf(requestId, 32), body };
}

function encodeStatus(status: Status): Uint8Array {
  return encodeRlpList([
    encodeRlpIndex(status.protocolVersion),
    encodeScalar(status.networkId),
    encodeScalar(status.totalDifficulty),
    encodeRlpString(status.headHash),
    encodeRlpString(status.genesisHash),
    encodeForkId(status.forkId),
  ]);
}

function readStatus(payload: Uint8Array): Status {
  const [version, networkId, totalDifficulty, headHash, genesisHash, fork] = tupleOf(payload, 6);
  const forkId = forkIdFromItems(fork === undefined ? undefined : readRlp(fork, 1));
  if (!forkId.ok) throw new RangeError(forkId.error.message);
  return {
    protocolVersion: Number(scalarOf(version, 4)),
    networkId: scalarOf(networkId, 32),
    totalDifficulty: scalarOf(totalDifficulty, 32),
    headHash: hashOf(headHash),
    genesisHash: hashOf(genesisHash),
    forkId: forkId.value,
  };
}

function readBlockAnnouncement(part: Uint8Array): { readonly hash: Hash; readonly number: bigint } {
  const [hash, number] = tupleOf(part, 2);
  return { hash: hashOf(hash), number: scalarOf(number, 8) };
}

export function encodeHeaderQuery({ start, max, skip, isReverse }: HeaderQuery): Uint8Array {
  return encodeRlpList([
    "hash" in start ? encodeRlpString(start.hash) : encodeScalar(start.number),
    encodeRlpIndex(max),
    encodeRlpIndex(skip),
    encodeRlpIndex(isReverse ? 1 : 0),
  ]);
}

function readHeaderQuery(body: Uint8Array): HeaderQuery {
  const [start, max, skip, reverse] = tupleOf(body, 4);
  const direction = scalarOf(reverse, 1);
  if (direction > 1n) throw new RangeError("a direction is 0 or 1");
  return {
    start: stringOf(start).length === 32 ? { hash: hashOf(start) } : { number: scalarOf(start, 8) },
    max: Number(scalarOf(max, 4)),
    skip: Number(scalarOf(skip, 4)),
    isReverse: direction === 1n,
  };
}

/** Types as one string, sizes, hashes: the format since eth/68. */
function encodeAnnouncements(announcements: readonly TransactionAnnouncement[]): Uint8Array {
  return encodeRlpList([
    encodeRlpString(Uint8Array.from(announcements, ({ type }) => type)),
    encodeRlpList(announcements.map(({ size }) => encodeRlpIndex(size))),
    encodeHashes(announcements.map(({ hash }) => hash)),
  ]);
}

function readAnnouncements(payload: Uint8Array): TransactionAnnouncement[] {
  const [types, sizes, hashes] = tupleOf(payload, 3);
  const typeBytes = stringOf(types);
  const sizeParts = membersOf(sizes ?? payload, MAX_TRANSACTION_ANNOUNCEMENTS);
  const hashList = hashesOf(hashes ?? payload, MAX_TRANSACTION_ANNOUNCEMENTS);
  if (typeBytes.length !== hashList.length || sizeParts.length !== hashList.length) {
    throw new RangeError("types, sizes and hashes differ in number");
  }
  return hashList.map((hash, index) => ({
    type: typeBytes[index] ?? 0,
    size: lenientSize(sizeParts[index]),
    hash,
  }));
}

/** The only field where leading zeros are accepted (p2p.md#eth-messages). */
function lenientSize(part: Uint8Array | undefined): number {
  const digits = stringOf(part);
  if (digits.length > 4) throw new RangeError("a size of more than 4 bytes");
  return digits.reduce((size, digit) => size * 256 + digit, 0);
}

function encodeHashes(hashes: readonly Hash[]): Uint8Array {
  return encodeRlpList(hashes.map(encodeRlpString));
}

function encodeScalar(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}

function refuse(code: MessageErrorCode, message: string): Result<never, MessageErrorCode> {
  return err({ code, fault: "peer", message });
}
