import { type Address, asAddress } from "../primitives/address.ts";
import { asHash, type Hash, ZERO_HASH } from "../primitives/hash.ts";
import { concatBytes } from "../primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../primitives/quantity.ts";
import type { Batch } from "../storage/batch.ts";
import { RecordReader, RecordWriter } from "../storage/blocks/byteRecord.ts";
import { sealEntry, writeUint32 } from "../storage/checksum.ts";
import type { DatabaseReads, KeyRange } from "../storage/database.ts";
import { STANDARDS, type Standard, valueIn } from "./layout.ts";

/**
 * Keys of the statistics in the database of the index by address: counts by day and by token (statistics.ts). Each value ends
 * with a checksum over key and value.
 */
const PREFIXES = {
  /** -> first and next block, hash of the block before the next one, and whether all counts are to be removed. */
  status: 0x20,
  /** days since 1970 u32 -> DayCounts. */
  day: 0x21,
  /** token -> TokenCounts and the names that it gives itself. */
  token: 0x22,
  /** token -> nothing: it has not been asked for its names. */
  unnamed: 0x23,
} as const;

export const SECONDS_OF_DAY = 86_400;

/** The blocks that the statistics count. */
export interface StatisticsStatus {
  readonly first: number;
  readonly next: number;
  /** Hash of the last counted block. */
  readonly hash: Hash;
  /** True while the counts of another chain are being removed. */
  readonly isStale: boolean;
}

/** Counts of the blocks of one day, in UTC by their timestamps. */
export interface DayCounts {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly transactions: number;
  readonly gasUsed: bigint;
  readonly feesWei: bigint;
  /** Senders and recipients that took part in a transaction for the first time. */
  readonly newAccounts: number;
  /** Seconds between these blocks and those before them: their sum and the longest. */
  readonly spacingSeconds: number;
  readonly longestSeconds: number;
}

/** A contract that has emitted transfers of tokens. */
export interface TokenCounts {
  readonly standard: Standard;
  readonly transfers: number;
  readonly firstBlock: number;
  readonly lastBlock: number;
  /** Names that it gave itself when it was asked; empty where it gave none. */
  readonly name: string;
  readonly symbol: string;
}

const STATUS_KEY = Uint8Array.of(PREFIXES.status);

/** All counts, without the status. */
export const STATISTICS_ENTRIES: Pick<KeyRange, "from" | "until"> = {
  from: Uint8Array.of(PREFIXES.day),
  until: Uint8Array.of(PREFIXES.unnamed + 1),
};

export function readStatistics(database: Pick<DatabaseReads, "get">): StatisticsStatus | undefined {
  const reader = recordAt(database, STATUS_KEY);
  if (reader === undefined) return undefined;
  const [first, next, stale] = [reader.number(), reader.number(), reader.number()];
  return { first, next, isStale: stale === 1, hash: asHash(reader.fixed(32)) };
}

export function putStatistics(batch: Batch, { first, next, isStale, hash }: StatisticsStatus): void {
  const writer = new RecordWriter(64);
  for (const number of [first, next, isStale ? 1 : 0]) writer.number(number);
  writer.fixed(hash);
  put(batch, STATUS_KEY, writer.finish());
}

/** Makes all counts stale without reading them: some may be damaged. */
export function forgetStatistics(batch: Batch, first: number): void {
  putStatistics(batch, { first, next: first, isStale: true, hash: ZERO_HASH });
}

function dayKey(day: number): Uint8Array {
  const key = new Uint8Array(5);
  key[0] = PREFIXES.day;
  writeUint32(key, 1, day);
  return key;
}

/** Days from one up to before another. */
export function dayRange(from: number, until: number): Pick<KeyRange, "from" | "until"> {
  return { from: dayKey(from), until: dayKey(until) };
}

export function dayInKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset, key.length).getUint32(1);
}

export function readDay(database: Pick<DatabaseReads, "get">, day: number): DayCounts | undefined {
  const key = dayKey(day);
  const sealed = database.get(key);
  return sealed && dayIn(key, sealed);
}

/** The counts of a day in an entry. Throws UnusableIndex. */
export function dayIn(key: Uint8Array, sealed: Uint8Array): DayCounts {
  const reader = new RecordReader(valueIn(key, sealed));
  return {
    firstBlock: reader.number(),
    lastBlock: reader.number(),
    transactions: reader.number(),
    gasUsed: reader.amount(),
    newAccounts: reader.number(),
    spacingSeconds: reader.number(),
    longestSeconds: reader.number(),
    feesWei: bytesToBigint(reader.fixed(32)),
  };
}

export function putDay(batch: Batch, day: number, counts: DayCounts): void {
  const writer = new RecordWriter(96);
  for (const number of [counts.firstBlock, counts.lastBlock, counts.transactions]) writer.number(number);
  writer.amount(counts.gasUsed);
  for (const number of [counts.newAccounts, counts.spacingSeconds, counts.longestSeconds])
    writer.number(number);
  writer.fixed(bigintToFixedBytes(counts.feesWei, 32));
  put(batch, dayKey(day), writer.finish());
}

/** All tokens, in the order of their addresses. */
export const TOKENS: Pick<KeyRange, "from" | "until"> = {
  from: Uint8Array.of(PREFIXES.token),
  until: Uint8Array.of(PREFIXES.token + 1),
};

/** Tokens that have not been asked for their names. */
export const UNNAMED: Pick<KeyRange, "from" | "until"> = {
  from: Uint8Array.of(PREFIXES.unnamed),
  until: Uint8Array.of(PREFIXES.unnamed + 1),
};

export function tokenInKey(key: Uint8Array): Address {
  return asAddress(key.slice(1, 21));
}

export function readToken(database: Pick<DatabaseReads, "get">, token: Address): TokenCounts | undefined {
  const key = tokenKey(token);
  const sealed = database.get(key);
  return sealed && tokenIn(key, sealed);
}

/** The counts of a token in an entry. Throws UnusableIndex. */
export function tokenIn(key: Uint8Array, sealed: Uint8Array): TokenCounts {
  const reader = new RecordReader(valueIn(key, sealed));
  return {
    standard: STANDARDS[reader.number()] ?? "ERC-20",
    transfers: reader.number(),
    firstBlock: reader.number(),
    lastBlock: reader.number(),
    name: TEXT.decode(reader.sized()),
    symbol: TEXT.decode(reader.sized()),
  };
}

export function putToken(batch: Batch, token: Address, counts: TokenCounts): void {
  const writer = new RecordWriter(128);
  writer.number(STANDARDS.indexOf(counts.standard));
  for (const number of [counts.transfers, counts.firstBlock, counts.lastBlock]) writer.number(number);
  for (const text of [counts.name, counts.symbol]) writer.sized(BYTES.encode(text));
  put(batch, tokenKey(token), writer.finish());
}

export function putUnnamed(batch: Batch, token: Address): void {
  put(batch, concatBytes(Uint8Array.of(PREFIXES.unnamed), token), new Uint8Array(0));
}

function tokenKey(token: Address): Uint8Array {
  return concatBytes(Uint8Array.of(PREFIXES.token), token);
}

function recordAt(database: Pick<DatabaseReads, "get">, key: Uint8Array): RecordReader | undefined {
  const sealed = database.get(key);
  return sealed && new RecordReader(valueIn(key, sealed));
}

function put(batch: Batch, key: Uint8Array, value: Uint8Array): void {
  batch.put(key, sealEntry(key, value));
}

const TEXT = new TextDecoder();
const BYTES = new TextEncoder();
