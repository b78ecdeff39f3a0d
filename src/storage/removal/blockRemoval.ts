import { Batch } from "../batch.ts";
import { deleteBodyChunk } from "../blocks/bodyStore.ts";
import type { DatabaseOnDisk, KeyRange } from "../database.ts";
import { readHistoryStart } from "../historyStart.ts";
import {
  bodyKey,
  chunkAfter,
  commitKey,
  KEY_PREFIXES,
  type NumberedPrefix,
  numberInKey,
  numberRange,
  prefixRange,
} from "../keys.ts";

/** Progress of the removal, and what it has removed since it was opened. */
export interface RemovalProgress {
  /** Number of the first block that may have more than its header left. */
  readonly next: number;
  /** Start of the blocks, up to which everything is to be removed. */
  readonly until: number;
  readonly transactions: number;
}

type RemovalDatabase = Pick<DatabaseOnDisk, "range" | "write" | "approximateBytes" | "compact">;

/** Bounds of one step. */
interface RemovalLimits {
  /** Most chunks of a body (blocks/chunks.ts), or commit records. */
  readonly entries: number;
  /** Most bytes read; the last chunk may exceed it. */
  readonly bytes: number;
}

/** Limits of one step, which takes some milliseconds: a chunk has 128 transactions, whose hashes are derived. */
const REMOVAL_LIMITS: RemovalLimits = { entries: 8, bytes: 256 * 1024 };

/**
 * Removes the bodies, receipts, transactions by hash and commit records of the blocks before the start of the history, in
 * steps of one atomic batch each. Headers, numbers by hash and vote tallies stay, so that seals, votes and hashes of the
 * whole chain can be verified for ever.
 *
 *     keepBlocks (chain): the start moves, durably ──> readers leave out what lies before ──> step, step, … ──> compactSome
 *
 * Invariants: nothing from the start of the history on is touched, nor the genesis block · the parts of a chunk are removed
 * together, so that a kill leaves whole chunks, which the next run finds: no record of progress is needed.
 */
export class BlockRemoval {
  private readonly database: RemovalDatabase;
  private readonly limits: RemovalLimits;
  /** Keys from which on bodies, and commit records, may exist. */
  private body = bodyKey(1n, 0);
  private commit = commitKey(1n);
  private until = 0n;
  private transactions = 0;
  /** What was removed since the last compaction of its range: bodies, commit records, entries of the index by hash. */
  private bodies = { from: 1n, bytes: 0 };
  private commits = { from: 1n, bytes: 0 };
  private places = 0;
  /** Parts of the index by hash that are to be compacted. */
  private parts: readonly HashRange[] = [];

  constructor(database: RemovalDatabase, limits: RemovalLimits = REMOVAL_LIMITS) {
    this.database = database;
    this.limits = limits;
  }

  /** Called once all readers know this start of the blocks: everything before it may be removed. */
  startMoved(until: bigint): void {
    this.until = until;
  }

  /** Removes some entries, durably; false when nothing is left to remove. */
  async step(): Promise<boolean> {
    const { until } = this;
    if (until <= 1n) return false;
    const batch = new Batch();
    const isMore = (await this.removeBodies(batch, until)) || (await this.removeCommits(batch, until));
    if (batch.operations.length > 0) await this.database.write(batch);
    return isMore;
  }

  /** Returns the room of removed entries to the file system, a part at a time; false when too little was removed since. */
  async compactSome(isAtEnd: boolean): Promise<boolean> {
    const least = isAtEnd ? LITTLE_BYTES : MANY_BYTES;
    if (this.bodies.bytes >= least) {
      await this.compact([KEY_PREFIXES.body, KEY_PREFIXES.receipts], this.bodies.from, this.next);
      this.bodies = { from: this.next, bytes: 0 };
      return true;
    }
    if (this.commits.bytes >= least) {
      const until = numberInKey(this.commit);
      await this.compact([KEY_PREFIXES.commit], this.commits.from, until);
      this.commits = { from: until, bytes: 0 };
      return true;
    }
    return this.compactPartOfIndex();
  }

  get progress(): RemovalProgress {
    const { until, next, transactions } = this;
    return { next: Number(next), until: Number(until), transactions };
  }

  private get next(): bigint {
    return numberInKey(this.body);
  }

  private async removeBodies(batch: Batch, until: bigint): Promise<boolean> {
    const { entries, bytes } = this.limits;
    const end = bodyKey(until, 0);
    let count = 0;
    let read = 0;
    for await (const [key, sealed] of this.database.range({ from: this.body, until: end, limit: entries })) {
      const transactions = deleteBodyChunk(batch, key, sealed);
      this.transactions += transactions;
      this.places += transactions;
      this.bodies.bytes += sealed.length;
      this.body = chunkAfter(key);
      count++;
      read += sealed.length;
      if (read >= bytes) break;
    }
    if (count === entries || read >= bytes) return true;
    this.body = end;
    return false;
  }

  /** Removes commit records after the bodies, including those of empty blocks. */
  private async removeCommits(batch: Batch, until: bigint): Promise<boolean> {
    const limit = this.limits.entries * COMMITS_PER_CHUNK;
    let count = 0;
    const commits = this.database.range({ from: this.commit, until: commitKey(until), limit });
    for await (const [key, sealed] of commits) {
      batch.delete(key);
      this.commits.bytes += key.length + sealed.length;
      this.commit = commitKey(numberInKey(key) + 1n);
      count++;
    }
    return count === limit;
  }

  private async compact(prefixes: readonly NumberedPrefix[], from: bigint, until: bigint): Promise<void> {
    for (const prefix of prefixes) await this.database.compact(numberRange(prefix, { from, until }));
  }

  private async compactPartOfIndex(): Promise<boolean> {
    if (this.parts.length === 0) this.parts = await this.partsOfIndex();
    const [part, ...rest] = this.parts;
    if (part === undefined) return false;
    this.parts = rest;
    await this.database.compact(part);
    return true;
  }

  /** All parts of the index, once enough of it was removed to be worth rewriting it, at a cost in proportion to its size. */
  private async partsOfIndex(): Promise<readonly HashRange[]> {
    if (this.places < MANY_TRANSACTIONS) return [];
    const bytes = await this.database.approximateBytes(prefixRange(KEY_PREFIXES.transaction));
    if (this.places * PLACE_ENTRY_BYTES < bytes / 2) return [];
    this.places = 0;
    return indexInParts(Math.ceil(bytes / PART_BYTES));
  }
}

/** Whether anything is left to remove before the start of the history. */
export async function hasRemovable(database: Pick<DatabaseOnDisk, "get" | "range">): Promise<boolean> {
  const { blocks: until } = readHistoryStart(database);
  if (until <= 1n) return false;
  for (const prefix of [KEY_PREFIXES.body, KEY_PREFIXES.commit] as const)
    for await (const _ of database.range({ ...numberRange(prefix, { from: 1n, until }), limit: 1 }))
      return true;
  return false;
}

/** Number of commit records that count as one chunk, because they are small. */
const COMMITS_PER_CHUNK = 16;
/**
 * Bytes of removed bodies, or commit records, at which their range is compacted, with as much of receipts: while more is
 * removed, and at the end.
 */
const MANY_BYTES = 32 * 1024 * 1024;
const LITTLE_BYTES = 4 * 1024 * 1024;
/** Removed entries of the index by hash that make a compaction worthwhile; LevelDB compacts by itself now and then. */
const MANY_TRANSACTIONS = 100_000;
const PLACE_ENTRY_BYTES = 60;
/** Size of a part of the index by hash, which is compacted within seconds. */
const PART_BYTES = 64 * 1024 * 1024;

type HashRange = Pick<KeyRange, "from" | "until">;

/** Splits the index by hash into `count` parts of similar size, at most 256: hashes are spread evenly over their first byte. */
function indexInParts(count: number): readonly HashRange[] {
  const parts = Math.min(Math.max(count, 1), 256);
  const startOf = (part: number): Uint8Array =>
    part === parts
      ? Uint8Array.of(KEY_PREFIXES.transaction + 1)
      : Uint8Array.of(KEY_PREFIXES.transaction, Math.floor((part * 256) / parts));
  return Array.from({ length: parts }, (_, part) => ({ from: startOf(part), until: startOf(part + 1) }));
}
