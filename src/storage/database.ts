/**
 * The port to the disk: an ordered map of byte keys to byte values with atomic, durable batches.
 * Reads are synchronous because that is eight times cheaper than a promise each
 * (architecture.md#measurements).
 */
export interface Database {
  /** The stored bytes, or undefined. The caller must not change them. */
  get(key: Uint8Array): Uint8Array | undefined;
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /** Entries with `from` <= key < `until` in key order, or in falling order when `reverse`. */
  range(range: KeyRange): AsyncIterable<readonly [key: Uint8Array, value: Uint8Array]>;
  /** Applies the whole batch or nothing; resolves only when it is durable (synced). Throws DiskError. */
  write(batch: Batch): Promise<void>;
  /**
   * From here until the release, whoever reads by this object finds what is there now, whatever is written meanwhile: for a
   * write that contradicts what is held in memory until that is put right. One at a time.
   */
  freeze(): FrozenReads;
  close(): Promise<void>;
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

/** Puts and deletes collected for one atomic write; a later operation on a key wins. */
export interface Batch {
  put(key: Uint8Array, value: Uint8Array): void;
  delete(key: Uint8Array): void;
  readonly operations: readonly BatchOperation[];
  /** Sum of key and value lengths in bytes. */
  readonly byteLength: number;
}

export interface BatchOperation {
  readonly key: Uint8Array;
  /** Absent for a delete. */
  readonly value?: Uint8Array;
}

/** The disk refused or lost something: full, read-only, too few descriptors, damaged. The message says what to do. */
export class DiskError extends Error {
  override name = "DiskError";
}

/** Another process has the folder open: nothing is wrong with the disk or with what lies on it. */
export class FolderInUse extends DiskError {
  override name = "FolderInUse";
}

/** Bytes on disk that are not what was written: where, what, and what to run. Never answered from. */
export class DamagedData extends Error {
  override name = "DamagedData";
}
