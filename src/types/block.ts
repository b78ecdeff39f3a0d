import { type Hash, keccak256 } from "../primitives/hash.ts";
import { joinBytes } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import {
  encodeRlp,
  encodeRlpList,
  type RlpItem,
  readRlpString,
  rlpListSize,
  rlpMembers,
} from "../primitives/rlp.ts";
import { encodeRlpListInSteps } from "../primitives/rlpInSteps.ts";
import { atOnce, type Steps } from "../primitives/steps.ts";
import { decodeHeader, encodeHeader, type Header } from "./header.ts";
import type { Receipt } from "./receipt.ts";
import {
  bodyTransactionParts,
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
 * A decoded block that is not validated. `ommers` are empty on every IBFT chain; withdrawals exist only in test chains of
 * other clients and in a genesis block, so their items stay undecoded.
 */
export interface Block<T extends Transaction = Transaction> {
  readonly header: Header;
  readonly transactions: readonly T[];
  readonly ommers: readonly Header[];
  readonly withdrawals?: readonly RlpItem[];
}

/** A block without its header. */
export type Body<T extends Transaction = Transaction> = Omit<Block<T>, "header">;

/** A block with its chain hash. */
export interface NamedBlock<T extends Transaction = Transaction> extends Block<T> {
  readonly hash: Hash;
}

/** A header with its chain hash and the sum of difficulties up to and including it. */
export interface NamedHeader {
  readonly header: Header;
  readonly hash: Hash;
  readonly totalDifficulty: bigint;
}

/** A committed block with everything that the database has of it. */
export interface StoredBlock extends NamedBlock<SentTransaction> {
  readonly totalDifficulty: bigint;
  readonly receipts: readonly Receipt[];
  /** Length in bytes of the block's RLP: the `size` of JSON-RPC. */
  readonly size: number;
  /**
   * The result of encodeBody, read from the disk in steps; absent when the block is in memory. The steps fail when the block
   * is removed meanwhile.
   */
  bodyInSteps?(): Steps<Uint8Array>;
  /** The receipts, read from the disk in steps; absent when the block is in memory. */
  receiptsInSteps?(): Steps<readonly Receipt[]>;
  /** Number of transactions, without reading them; absent when the block is in memory. */
  readonly transactionCount?: number;
  /** The result of hashesOf, without decoding a transaction; absent when the block is in memory. */
  readHashes?(): Iterable<Uint8Array>;
  /** The result of transactionAt, without decoding the others; absent when the block is in memory. */
  readTransaction?(index: number): SentTransaction | undefined;
  /**
   * Adds memory that lives as long as this object, such as its text, to what the block counts in its cache. Absent when the
   * block is in memory, where each transaction counts more than that.
   */
  addHeldBytes?(bytes: number): void;
}

/** Number of transactions that a block has; those of one on the disk are not read. */
export function transactionCountOf(block: Pick<StoredBlock, "transactions" | "transactionCount">): number {
  return block.transactionCount ?? block.transactions.length;
}

/** The transaction at an index of its block, undefined beyond the last; the others of a block on the disk are not decoded. */
export function transactionAt(
  block: Pick<StoredBlock, "transactions" | "readTransaction">,
  index: number,
): SentTransaction | undefined {
  return block.readTransaction === undefined ? block.transactions[index] : block.readTransaction(index);
}

/**
 * The hashes of a block's transactions, in order and one behind the other, in pieces that take a fraction of a millisecond. Those of a block on the disk
 * are read as they are asked for, which fails when the block is removed meanwhile.
 */
export function* hashesOf(
  block: Pick<StoredBlock, "transactions" | "readHashes">,
): Generator<Uint8Array, void> {
  if (block.readHashes !== undefined) yield* block.readHashes();
  else yield joinBytes(block.transactions.map(({ hash }) => hash));
}

/** [header, [transactions], [ommers] (, [withdrawals])], as on the wire and in block files. */
export function encodeBlock(block: Block): Uint8Array {
  return encodeRlpList([encodeHeader(block.header), ...bodyParts(block)]);
}

/** Length in bytes of encodeBlock's result, computed without copying a block of megabytes. */
export function sizeOfBlock(block: Block): number {
  let transactions = 0;
  for (const transaction of block.transactions) transactions += bodyTransactionSize(transaction);
  let rest = encodeHeader(block.header).length + encodeOmmers(block.ommers).length;
  if (block.withdrawals !== undefined) rest += encodeWithdrawals(block.withdrawals).length;
  return rlpListSize(rlpListSize(transactions) + rest);
}

/** Like encodeBlock, without the header: the form in which peers request bodies. */
export function encodeBody(body: Body): Uint8Array {
  return encodeRlpList(bodyParts(body));
}

/** Like encodeBody, from the transactions' canonical encodings and in steps: a body can have megabytes. */
export function* encodeRawBodyInSteps(
  raws: readonly Uint8Array[],
  { ommers, withdrawals }: Pick<Block, "ommers" | "withdrawals">,
): Steps<Uint8Array> {
  const parts = [yield* encodeRlpListInSteps(raws.flatMap(bodyTransactionParts)), encodeOmmers(ommers)];
  if (withdrawals !== undefined) parts.push(encodeWithdrawals(withdrawals));
  return yield* encodeRlpListInSteps(parts);
}

function bodyParts({ transactions, ommers, withdrawals }: Body): Uint8Array[] {
  const parts = [encodeTransactions(transactions), encodeOmmers(ommers)];
  if (withdrawals !== undefined) parts.push(encodeWithdrawals(withdrawals));
  return parts;
}

function encodeWithdrawals(withdrawals: readonly RlpItem[]): Uint8Array {
  return encodeRlp(withdrawals);
}

/** The body's list of transactions, made of the bytes that each transaction keeps. */
export function encodeTransactions(transactions: readonly Transaction[]): Uint8Array {
  return encodeRlpList(transactions.map(encodeBodyTransaction));
}

export function encodeOmmers(ommers: readonly Header[]): Uint8Array {
  return encodeRlpList(ommers.map(encodeHeader));
}

/**
 * Decodes strictly. The transactions keep views of `bytes`, which the caller must not change; those that `find` returns are
 * reused, at a tenth of the cost of decoding.
 */
export function decodeBlock(bytes: Uint8Array, find?: FindTransaction): Result<Block, "malformedBlock"> {
  return atOnce(readBlock(bytes, { find }));
}

interface BlockReading {
  readonly find?: FindTransaction | undefined;
  /** A block with more is refused before any transaction is decoded; no bound when absent. */
  readonly maxTransactions?: number | undefined;
}

/**
 * Like decodeBlock, with points to pause at: a message of 16 MB can have a million invalid transactions, some µs each.
 */
export function* readBlock(
  bytes: Uint8Array,
  reading: BlockReading = {},
): Generator<"block", Result<Block, "malformedBlock">> {
  try {
    const [headerPart, ...rest] = partsOf(bytes, 4);
    if (headerPart === undefined || rest.length < 2)
      return fail("peer", "malformedBlock", "a block has three parts, or four");
    const header = decodeHeader(headerPart);
    if (!header.ok) return fail("peer", "malformedBlock", header.error.message);
    const body = yield* readBodyParts(rest, reading);
    return body.ok ? ok({ header: header.value, ...body.value }) : body;
  } catch (error) {
    return fail("peer", "malformedBlock", error instanceof Error ? error.message : "not RLP");
  }
}

/** Like decodeBlock, without the header. */
export function decodeBody(bytes: Uint8Array): Result<Body, "malformedBlock"> {
  try {
    return atOnce(readBodyParts(partsOf(bytes, 3)));
  } catch (error) {
    return fail("peer", "malformedBlock", error instanceof Error ? error.message : "not RLP");
  }
}

/** The encoded members of a list; throws at the first one beyond `limit`. */
function partsOf(bytes: Uint8Array, limit: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const { start, until } of rlpMembers(bytes)) {
    if (parts.length === limit) throw new RangeError(`a list of more than ${limit}`);
    parts.push(bytes.subarray(start, until));
  }
  return parts;
}

/** Transactions decoded between two pauses: some hundred µs. */
const PORTION_TRANSACTIONS = 64;

/** Throws RangeError for bytes that are not RLP, or nested too deeply. */
function* readBodyParts(
  parts: readonly Uint8Array[],
  { find, maxTransactions = Number.POSITIVE_INFINITY }: BlockReading = {},
): Generator<"block", Result<Body, "malformedBlock">> {
  const [transactionsPart, ommersPart, withdrawalsPart] = parts;
  if (transactionsPart === undefined || ommersPart === undefined)
    return fail("peer", "malformedBlock", "a body has two parts, or three");
  if (hasMoreThan(transactionsPart, maxTransactions))
    return fail("peer", "malformedBlock", `more than ${maxTransactions} transactions`);
  const transactions: Transaction[] = [];
  for (const { isList, start, from, until } of rlpMembers(transactionsPart)) {
    if (transactions.length > 0 && transactions.length % PORTION_TRANSACTIONS === 0) yield "block";
    const transaction = readMember(transactionsPart.subarray(isList ? start : from, until), isList, find);
    if (!transaction.ok) return fail("peer", "malformedBlock", transaction.error.message);
    transactions.push(transaction.value);
  }
  const rest = decodeRest(ommersPart, withdrawalsPart);
  return rest.ok ? ok({ transactions, ...rest.value }) : rest;
}

/** Counts members without decoding them, and only when the list is long enough to exceed the limit. */
function hasMoreThan(list: Uint8Array, limit: number): boolean {
  if (list.length <= limit) return false;
  let count = 0;
  for (const _ of rlpMembers(list)) if (++count > limit) return true;
  return false;
}

/** A list is a legacy transaction, a byte string contains a typed one. */
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

/** Ommers and withdrawals, which no IBFT block has. */
function decodeRest(
  ommersPart: Uint8Array,
  withdrawalsPart: Uint8Array | undefined,
): Result<Pick<Block, "ommers" | "withdrawals">, "malformedBlock"> {
  const ommers: Header[] = [];
  for (const part of partsOf(ommersPart, MAX_OMMERS)) {
    const ommer = decodeHeader(part);
    if (!ommer.ok) return fail("peer", "malformedBlock", ommer.error.message);
    ommers.push(ommer.value);
  }
  if (withdrawalsPart === undefined) return ok({ ommers });
  return ok({ ommers, withdrawals: partsOf(withdrawalsPart, MAX_WITHDRAWALS).map(readWithdrawal) });
}

/** Reads a list of fields; keeps anything else as it is. Throws RangeError for too many fields. */
function readWithdrawal(part: Uint8Array): RlpItem {
  const isList = (part[0] ?? 0) >= 0xc0;
  return isList ? partsOf(part, WITHDRAWAL_FIELDS).map(readRlpString) : readRlpString(part);
}

/**
 * The limit is far above what any chain has. Untrusted peers send ommers, and megabytes of empty items take gigabytes as
 * objects.
 */
const MAX_OMMERS = 64;
const MAX_WITHDRAWALS = 1024;
const WITHDRAWAL_FIELDS = 4;
