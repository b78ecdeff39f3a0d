import type { Batch } from "./batch.ts";

/**
 * The port to the disk: an ordered map from byte keys to byte values with atomic, durable batches. Reads are synchronous,
 * which is eight times cheaper than a promise for each (architecture.md#measurements).
 */
export interface Database {
  /** The stored bytes, or undefined. The caller must not change them. */
  get(key: Uint8Array): Uint8Array | undefined;
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /** Entries with `from` <= key < `until` in key order, or in descending order when `reverse`. */
  range(range: KeyRange): AsyncIterable<readonly [key: Uint8Array, value: Uint8Array]>;
  /**
   * Applies the whole batch or nothing, after all earlier ones; resolves only when it is durable: synced, with all earlier ones, unless
   * it need not survive a power cut. Throws DiskError.
   */
  write(batch: Batch, survives?: Survival): Promise<void>;
  /**
   * Freezes the current contents: until the release, reads through this object see them, whatever is written meanwhile. Used
   * for a write that contradicts caches until they are updated; one at a time.
   */
  freeze(): FrozenReads;
  close(): Promise<void>;
}

/**
 * What a write must survive. A kill of the process loses nothing that the system has, even unsynced (architecture.md#measurements);
 * a power cut loses any of the newest unsynced writes.
 */
export type Survival = "powerCut" | "kill";

/** The part of a database that reads need. */
export type DatabaseReads = Pick<Database, "get" | "getMany" | "range">;

/** The contents at one moment. It holds back compaction, so close it within seconds. */
export interface DatabaseSnapshot extends DatabaseReads {
  close(): void;
}

/** A database on disk, which takes room. */
export interface DatabaseOnDisk extends Database {
  /** The current contents, whatever is written afterwards. */
  snapshot(): DatabaseSnapshot;
  /** Approximate bytes of the entries on disk; the most recent writes may be missing. */
  approximateBytes(range: Pick<KeyRange, "from" | "until">): Promise<number>;
  /** Rewrites the range without deleted or replaced entries, which take room until then. */
  compact(range: Pick<KeyRange, "from" | "until">): Promise<void>;
}

export interface FrozenReads {
  release(): void;
}

export interface KeyRange {
  readonly from: Uint8Array;
  readonly until: Uint8Array;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** A failure of the disk: full, read-only, too few file descriptors, damaged. The message says what to do. */
export class DiskError extends Error {
  override name = "DiskError";
}

/** Another process has the folder open; the disk and its contents are fine. */
export class FolderInUse extends DiskError {
  override name = "FolderInUse";
}

/** The schema version of the database differs from this program's, or its migration is not finished. */
export class OtherSchema extends DiskError {
  override name = "OtherSchema";
}

/** The import of a snapshot was interrupted, so the database is neither empty nor a chain. */
export class UnfinishedImport extends DiskError {
  override name = "UnfinishedImport";
}

/** Bytes on disk differ from what was written. The message says where, what, and what to run. They are never used. */
export class DamagedData extends Error {
  override name = "DamagedData";
}
