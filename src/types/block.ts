import { RLP } from "@ethereumjs/rlp";
import { type Hash, keccak256 } from "../primitives/hash.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { encodeRlpList, type RlpItem, readRlp, rlpListSize, rlpMembers } from "../primitives/rlp.ts";
import { atOnce } from "../primitives/steps.ts";
import { decodeHeader, encodeHeader, type Header, headerFromItems } from "./header.ts";
import type { Receipt } from "./receipt.ts";
import {
  bodyTransactionSize,
  decodeBodyTransaction,
  decodeTransaction,
  encodeBodyTransaction,
  type FindTransaction,
  type SentTransaction,
  type Transaction,
  type TransactionErrorCode,
} from "./transaction.ts";

/**
 * A block as it arrives: decoded, nothing judged. `ommers` are empty on every IBFT chain; withdrawals exist only in
 * foreign test chains and in a genesis block, so their items are kept as they came.
 */
export interface Block<T extends Transaction = Transaction> {
  readonly header: Header;
  readonly transactions: readonly T[];
  readonly ommers: readonly Header[];
  readonly withdrawals?: readonly unknown[];
}

/** A block without its header. */
export type Body<T extends Transaction = Transaction> = Omit<Block<T>, "header">;

/** A block under its chain hash. */
export interface NamedBlock<T extends Transaction = Transaction> extends Block<T> {
  readonly hash: Hash;
}

/** A header under its chain hash, with the sum of difficulties up to and including it. */
export interface NamedHeader {
  readonly header: Header;
  readonly hash: Hash;
  readonly totalDifficulty: bigint;
}

/** A committed block with all that the database keeps of it. */
export interface StoredBlock extends NamedBlock<SentTransaction> {
  readonly totalDifficulty: bigint;
  readonly receipts: readonly Receipt[];
  /** Length in bytes of the block's RLP: the `size` of JSON-RPC. */
  readonly size: number;
}

/** [header, [transactions], [ommers] (, [withdrawals])], as on the wire and in block files. */
export function encodeBlock(block: Block): Uint8Array {
  return encodeRlpList([encodeHeader(block.header), ...bodyParts(block)]);
}

/** Length in bytes of what encodeBlock makes: a full block of megabytes is not copied for it. */
export function sizeOfBlock(block: Block): number {
  let transactions = 0;
  for (const transaction of block.transactions) transactions += bodyTransactionSize(transaction);
  let rest = encodeHeader(block.header).length + encodeOmmers(block.ommers).length;
  if (block.withdrawals !== undefined) rest += encodeWithdrawals(block.withdrawals).length;
  return rlpListSize(rlpListSize(transactions) + rest);
}

/** Bytes that a decoded block takes in memory, roughly: for whoever keeps what strangers send, who may put anything in it. */
export function memoryOfBlock({ header, transactions, ommers, withdrawals = [] }: Block): number {
  let bytes = withdrawals.length * OBJECT_BYTES;
  for (const { extraData } of [header, ...ommers]) bytes += 4 * OBJECT_BYTES + extraData.length;
  for (const { raw } of transactions) bytes += OBJECT_BYTES + raw.length;
  return bytes;
}

const OBJECT_BYTES = 1024;

/** As encodeBlock, without the header: how a body is answered to a peer. */
export function encodeBody(body: Body): Uint8Array {
  return encodeRlpList(bodyParts(body));
}

function bodyParts({ transactions, ommers, withdrawals }: Body): Uint8Array[] {
  const parts = [encodeTransactions(transactions), encodeOmmers(ommers)];
  if (withdrawals !== undefined) parts.push(encodeWithdrawals(withdrawals));
  return parts;
}

function encodeWithdrawals(withdrawals: readonly unknown[]): Uint8Array {
  return RLP.encode([...withdrawals] as Uint8Array[]);
}

/** The body's list of transactions; nothing is encoded twice, each brings its own bytes. */
export function encodeTransactions(transactions: readonly Transaction[]): Uint8Array {
  return encodeRlpList(transactions.map(encodeBodyTransaction));
}

export function encodeOmmers(ommers: readonly Header[]): Uint8Array {
  return encodeRlpList(ommers.map(encodeHeader));
}

/**
 * Strict. The transactions keep views of `bytes`, which the caller must not change; those that `find` knows are taken
 * from there, which costs a tenth of decoding them.
 */
export function decodeBlock(bytes: Uint8Array, find?: FindTransaction): Result<Block, "malformedBlock"> {
  return atOnce(readBlock(bytes, { find }));
}

export interface BlockReading {
  readonly find?: FindTransaction | undefined;
  /** Whose block has more is refused before any of them is decoded; any number when absent. */
  readonly maxTransactions?: number | undefined;
}

/**
 * As decodeBlock, with places to pause: a message of 16 MB has room for a million transactions that are not worth one,
 * some µs each.
 */
export function* readBlock(
  bytes: Uint8Array,
  reading: BlockReading = {},
): Generator<"block", Result<Block, "malformedBlock">> {
  try {
    const [headerPart, ...rest] = partsOf(bytes, 4);
    if (headerPart === undefined || rest.length < 2) return malformed("a block has three parts, or four");
    const header = decodeHeader(headerPart);
    if (!header.ok) return malformed(header.error.message);
    const body = yield* readBodyParts(rest, reading);
    return body.ok ? ok({ header: header.value, ...body.value }) : body;
  } catch (error) {
    return malformed(error instanceof Error ? error.message : "not RLP");
  }
}

/** As decodeBlock, without the header. */
export function decodeBody(bytes: Uint8Array): Result<Body, "malformedBlock"> {
  try {
    return atOnce(readBodyParts(partsOf(bytes, 3)));
  } catch (error) {
    return malformed(error instanceof Error ? error.message : "not RLP");
  }
}

/** The encodings of a list's members; a list that goes on is not read to its end. */
function partsOf(bytes: Uint8Array, limit: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const { start, until } of rlpMembers(bytes)) {
    if (parts.length === limit) throw new RangeError(`a list of more than ${limit}`);
    parts.push(bytes.subarray(start, until));
  }
  return parts;
}

/** Decoded between two places to pause: some hundred µs. */
const PORTION_TRANSACTIONS = 64;

/** Throws RangeError for what is not RLP, or too deep. */
function* readBodyParts(
  parts: readonly Uint8Array[],
  { find, maxTransactions = Number.POSITIVE_INFINITY }: BlockReading = {},
): Generator<"block", Result<Body, "malformedBlock">> {
  const [transactionsPart, ommersPart, withdrawalsPart] = parts;
  if (transactionsPart === undefined || ommersPart === undefined)
    return malformed("a body has two parts, or three");
  if (hasMoreThan(transactionsPart, maxTransactions))
    return malformed(`more than ${maxTransactions} transactions`);
  const transactions: Transaction[] = [];
  for (const { isList, start, from, until } of rlpMembers(transactionsPart)) {
    if (transactions.length > 0 && transactions.length % PORTION_TRANSACTIONS === 0) yield "block";
    const transaction = readMember(transactionsPart.subarray(isList ? start : from, until), isList, find);
    if (!transaction.ok) return malformed(transaction.error.message);
    transactions.push(transaction.value);
  }
  const rest = decodeRest(ommersPart, withdrawalsPart);
  return rest.ok ? ok({ transactions, ...rest.value }) : rest;
}

/** Nothing is looked into; where there is no limit nothing is counted. */
function hasMoreThan(list: Uint8Array, limit: number): boolean {
  if (list.length <= limit) return false;
  let count = 0;
  for (const _ of rlpMembers(list)) if (++count > limit) return true;
  return false;
}

/** What is a list is legacy, and a byte string carries a typed transaction. */
function readMember(
  bytes: Uint8Array,
  isList: boolean,
  find: FindTransaction | undefined,
): Result<Transaction, TransactionErrorCode> {
  if (find !== undefined && (isList || (bytes[0] ?? 0xff) < 0x80)) {
    const known = find(keccak256(bytes));
    if (known !== undefined) return ok(known);
  }
  return isList ? decodeTransaction(bytes) : decodeBodyTransaction(bytes);
}

/** What no IBFT block has: ommers and withdrawals. */
function decodeRest(
  ommersPart: Uint8Array,
  withdrawalsPart: Uint8Array | undefined,
): Result<Pick<Block, "ommers" | "withdrawals">, "malformedBlock"> {
  const ommers: Header[] = [];
  for (const part of partsOf(ommersPart, MOST_OMMERS)) {
    const ommer = decodeHeader(part);
    if (!ommer.ok) return malformed(ommer.error.message);
    ommers.push(ommer.value);
  }
  if (withdrawalsPart === undefined) return ok({ ommers });
  return ok({ ommers, withdrawals: partsOf(withdrawalsPart, MOST_WITHDRAWALS).map(readWithdrawal) });
}

/** A list of fields; what else it may be is kept as it came. Throws RangeError for more fields than there are. */
function readWithdrawal(part: Uint8Array): RlpItem {
  const isList = (part[0] ?? 0) >= 0xc0;
  return isList ? partsOf(part, WITHDRAWAL_FIELDS).map((field) => readRlp(field, 0)) : readRlp(part, 0);
}

/** Far more than any chain has: strangers send this, and megabytes of empty items cost gigabytes as objects. */
const MOST_OMMERS = 64;
const MOST_WITHDRAWALS = 1024;
const WITHDRAWAL_FIELDS = 4;

/** As decodeBlock, from items already taken out of a larger RLP (an IBFT proposal, a NewBlock message). */
export function blockFromItems(items: unknown): Result<Block, "malformedBlock"> {
  if (!Array.isArray(items) || items.length < 3 || items.length > 4)
    return malformed("a block has three parts, or four");
  const [headerPart, transactionsPart, ommersPart, withdrawals] = items as unknown[];
  const header = headerFromItems(headerPart);
  if (!header.ok) return malformed(header.error.message);
  if (!Array.isArray(transactionsPart) || !Array.isArray(ommersPart))
    return malformed("a body is made of lists");
  if (withdrawals !== undefined && !Array.isArray(withdrawals)) return malformed("withdrawals are a list");
  const transactions: Transaction[] = [];
  for (const item of transactionsPart) {
    const transaction = decodeBodyTransaction(item);
    if (!transaction.ok) return malformed(transaction.error.message);
    transactions.push(transaction.value);
  }
  const ommers: Header[] = [];
  for (const item of ommersPart) {
    const ommer = headerFromItems(item);
    if (!ommer.ok) return malformed(ommer.error.message);
    ommers.push(ommer.value);
  }
  return ok({
    header: header.value,
    transactions,
    ommers,
    ...(withdrawals !== undefined && { withdrawals }),
  });
}

function malformed(message: string): Result<never, "malformedBlock"> {
  return err({ code: "malformedBlock", fault: "peer", message });
}
