import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { equalBytes } from "../../primitives/hex.ts";
import type { Result } from "../../primitives/result.ts";
import { encodeRlpList, rlpMembers } from "../../primitives/rlp.ts";
import { withoutBlobs } from "../../types/blobWrapper.ts";
import { type Block, type Body, decodeBlock, decodeBody } from "../../types/block.ts";
import { decodeHeader, type Header } from "../../types/header.ts";
import { rootOfList } from "../../types/listRoot.ts";
import { type BareReceipt, decodeReceipt } from "../../types/receipt.ts";
import {
  decodeBodyTransaction,
  decodeTransaction,
  type FindTransaction,
  type Transaction,
} from "../../types/transaction.ts";
import {
  LEAST_GAS_USED,
  LONG_BLOCK_BYTES,
  MAX_HEADER_BYTES,
  MAX_RECEIPTS,
  SLICE_BYTES,
  SMALL_BLOCK_BYTES,
} from "./limits.ts";
import { membersOf, scalarOf, stringOf, tupleOf } from "./wireReader.ts";

/**
 * Readers of message payloads: headers, bodies, transactions, receipts, as lists of at most `limit` items. All throw
 * RangeError for malformed input, so that a message is decoded in one expression; messageCodec.ts turns that into results.
 */

export function readHeaders(list: Uint8Array, limit: number): Header[] {
  return membersOf(list, limit).map(readHeader);
}

export function readBodies(list: Uint8Array, limit: number): Body[] {
  return membersOf(list, limit).map((part) => (isEmpty(part) ? EMPTY_BODY : unwrap(decodeBody(part))));
}

/** Like `readBodies`, with at most `most` transactions in a body; yields to the event loop between slices. */
export async function readBodiesInSlices(
  list: Uint8Array,
  { limit, most }: { readonly limit: number; readonly most: number },
): Promise<Body[]> {
  const bodies: Body[] = [];
  const slicer = createSlicer();
  for (const part of membersOf(list, limit)) {
    const [transactionsPart, ...rest] = isEmpty(part) ? [] : membersOf(part, 3);
    if (transactionsPart === undefined) {
      bodies.push(EMPTY_BODY);
      continue;
    }
    const others = unwrap(decodeBody(encodeRlpList([Uint8Array.of(EMPTY_LIST), ...rest])));
    const transactions: Transaction[] = [];
    for (const { isList, start, from, until } of rlpMembers(transactionsPart)) {
      if (transactions.length === most) throw new RangeError(`a body of more than ${most} transactions`);
      await slicer.yieldAfter(until - start);
      const bytes = transactionsPart.subarray(isList ? start : from, until);
      transactions.push(unwrap(isList ? decodeTransaction(bytes) : decodeBodyTransaction(bytes)));
    }
    bodies.push({ ...others, transactions });
  }
  return bodies;
}

/**
 * Reads and copies each transaction, because it may stay in the pool long after the message; blobs are left out.
 * Transactions beyond `limit` are ignored; several of them may have at most `most` bytes together.
 */
export function readTransactions(list: Uint8Array, limits: TransactionListLimits): Transaction[] {
  return [...readTransactionsOneByOne(list, limits)];
}

interface TransactionListLimits {
  readonly limit: number;
  readonly most: number;
}

/** Like `readTransactions`, but reads each transaction on demand. */
export function* readTransactionsOneByOne(
  list: Uint8Array,
  { limit, most }: TransactionListLimits,
): Generator<Transaction> {
  let count = 0;
  for (const { start, until } of rlpMembers(list)) {
    if (count === limit) return;
    if (count === 1 && list.length > most)
      throw new RangeError(`${list.length} bytes of several transactions`);
    count++;
    yield readTransaction(list.subarray(start, until));
  }
}

/** A transaction that was requested. */
export interface DeliveredTransaction {
  readonly transaction: Transaction;
  /** Bytes of its encoding, blobs included: its size in announcements. */
  readonly size: number;
}

/** Reads requested transactions with their sizes; yields to the event loop between slices. */
export async function readTransactionsInSlices(
  list: Uint8Array,
  limit: number,
): Promise<DeliveredTransaction[]> {
  const delivered: DeliveredTransaction[] = [];
  const slicer = createSlicer();
  for (const part of membersOf(list, limit)) {
    await slicer.yieldAfter(part.length);
    delivered.push({ transaction: readTransaction(part), size: canonicalBytes(part).length });
  }
  return delivered;
}

/** Yields to the event loop once a slice's bytes were read. */
function createSlicer(): { yieldAfter(bytes: number): Promise<void> | undefined } {
  let read = 0;
  return {
    yieldAfter(bytes) {
      read += bytes + ITEM_BYTES;
      if (read <= SLICE_BYTES) return undefined;
      read = bytes;
      return yieldToEventLoop();
    },
  };
}

/** Fixed cost of an item, in bytes. */
const ITEM_BYTES = 128;

function isEmpty(part: Uint8Array): boolean {
  return part.length === 1 && part[0] === EMPTY_LIST;
}

function readTransaction(part: Uint8Array): Transaction {
  return unwrap(decodeTransaction(withoutBlobs(Uint8Array.from(canonicalBytes(part)))));
}

export function readReceipts(list: Uint8Array, limit: number): BareReceipt[][] {
  return membersOf(list, limit).map((block) =>
    membersOf(block, MAX_RECEIPTS).map((part) => unwrap(decodeReceipt(canonicalBytes(part)))),
  );
}

/** [block, total difficulty]. */
export function readBlock(
  payload: Uint8Array,
  find?: FindTransaction,
): { readonly block: Block; readonly totalDifficulty: bigint } {
  const [part, totalDifficulty] = tupleOf(payload, 2);
  if (part === undefined) throw new RangeError("a block is missing");
  const [header] = membersOf(part, 4);
  if (header !== undefined) checkHeaderLength(header);
  return { block: unwrap(decodeBlock(part, find)), totalDifficulty: scalarOf(totalDifficulty, 32) };
}

/**
 * Checks a long block's body before its transactions are decoded, which takes some 8 µs each and much longer for those
 * with long lists: their number must fit the gas used, and in a very long block their root must be the header's. The
 * header must be valid already. False when the body belongs to another block.
 */
export function isBodyOfHeader(payload: Uint8Array, header: Header): boolean {
  const [part] = tupleOf(payload, 2);
  const [, transactions] = membersOf(part ?? payload, 4);
  if (transactions === undefined) throw new RangeError("a body is missing");
  if (transactions.length <= SMALL_BLOCK_BYTES) return true;
  const raws: Uint8Array[] = [];
  for (const { isList, start, from, until } of rlpMembers(transactions)) {
    raws.push(transactions.subarray(isList ? start : from, until));
    if (BigInt(raws.length) * LEAST_GAS_USED > header.gasUsed) return false;
  }
  return transactions.length <= LONG_BLOCK_BYTES || equalBytes(rootOfList(raws), header.transactionsRoot);
}

/** The header and total difficulty of the same payload; the rest is not decoded. */
export function readHeaderOfBlock(payload: Uint8Array): {
  readonly header: Header;
  readonly totalDifficulty: bigint;
} {
  const [part, totalDifficulty] = tupleOf(payload, 2);
  const [header] = membersOf(part ?? payload, 4);
  if (header === undefined) throw new RangeError("a header is missing");
  return { header: readHeader(header), totalDifficulty: scalarOf(totalDifficulty, 32) };
}

function readHeader(part: Uint8Array): Header {
  checkHeaderLength(part);
  return unwrap(decodeHeader(part));
}

/** Checks the length before decoding: a header of only empty items would cost a hundred times its length. */
function checkHeaderLength(part: Uint8Array): void {
  if (part.length > MAX_HEADER_BYTES) throw new RangeError(`a header of ${part.length} bytes`);
}

/** Legacy transactions and receipts are lists; typed ones are wrapped in a byte string and begin with the type. */
function canonicalBytes(part: Uint8Array): Uint8Array {
  if ((part[0] ?? 0) >= 0xc0) return part;
  const bytes = stringOf(part);
  if ((bytes[0] ?? 0xff) >= 0x80) throw new RangeError("a byte string without a type");
  return bytes;
}

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new RangeError(result.error.message);
  return result.value;
}

const EMPTY_LIST = 0xc0;
const EMPTY_BODY: Body = { transactions: [], ommers: [] };
