import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ClassicLevel } from "classic-level";
import { assert } from "../../primitives/assert.ts";
import { type Batch, type Database, DiskError, type FrozenReads, type KeyRange } from "../database.ts";
import { translateDiskError } from "../diskErrors.ts";
import { refuseDamagedLevelFiles } from "./levelFiles.ts";
import { lockHolder } from "./lockHolder.ts";

export interface LevelSettings {
  /** Folder of the database; created when absent, unless a thread joins. */
  readonly path: string;
  /**
   * True in a worker thread that reads what the main thread has open: it joins that very database, sees each committed
   * write at once, and cannot write. The main thread opens first and closes last.
   */
  readonly readOnlyThread?: boolean;
  /** Bytes of the database to keep in memory; 32 MB unless given. */
  readonly cacheBytes?: number;
}

/**
 * The database on disk: LevelDB, by way of classic-level, which appears in this file and nowhere else. Its files are
 * verified first (levelFiles.ts). Fails with FolderInUse or another DiskError when another process or the disk stands in
 * the way, and with DamagedData when the files are not sound.
 */
export async function openLevelDatabase(settings: LevelSettings): Promise<Database> {
  const path = resolve(settings.path);
  const isReader = settings.readOnlyThread === true;
  if (!isReader) {
    await refuseLockedFolder(path);
    refuseDamagedLevelFiles(path);
  }
  const level: Level = new ClassicLevel(path, {
    ...OPTIONS,
    cacheSize: settings.cacheBytes ?? OPTIONS.cacheSize,
    keyEncoding: "view",
    valueEncoding: "view",
    createIfMissing: !isReader,
  });
  try {
    await level.open();
  } catch (error) {
    throw translateDiskError(error, `The database in ${path} cannot be opened`);
  }
  return new LevelDatabase(level, path, isReader);
}

type Level = ClassicLevel<Uint8Array, Uint8Array>;
type Snapshot = ReturnType<Level["snapshot"]>;

/**
 * Measured with blocks of 12,000 transfers (14 MB of pages, flat entries, index and body) over half a million accounts.
 * A larger write buffer saves a fourth of what compaction writes, but its log is read again at each start: 32 MB cost
 * 200 ms there, 16 MB cost 100. Hashes and signatures do not compress. Larger tables mean fewer files, nothing else.
 */
const OPTIONS = {
  /** Lets worker threads join. */
  multithreading: true,
  compression: false,
  writeBufferSize: 16 * 1024 * 1024,
  maxFileSize: 8 * 1024 * 1024,
  blockSize: 4096,
  cacheSize: 32 * 1024 * 1024,
  maxOpenFiles: 500,
};

/** Entries fetched at a time by a range: enough to pay for the promise, few enough to keep the event loop going. */
const RANGE_CHUNK_ENTRIES = 1000;
const RANGE_CHUNK_BYTES = 256 * 1024;

/** Handed to LevelDB before others have their turn: some milliseconds of work. */
const PORTION_OPERATIONS = 4096;
const PORTION_BYTES = 2 * 1024 * 1024;

/** Reads without a snapshot. */
const NEWEST = {};

class LevelDatabase implements Database {
  private readonly level: Level;
  private readonly path: string;
  private readonly isReader: boolean;
  /** Why the last write failed. No later one is tried: LevelDB would append it behind a torn record. */
  private failure: Error | undefined;
  private readonly writing = new Set<Promise<void>>();
  /** Names the snapshot that is read instead of the newest entries. */
  private frozen: { readonly snapshot?: Snapshot } = NEWEST;

  constructor(level: Level, path: string, isReader: boolean) {
    this.level = level;
    this.path = path;
    this.isReader = isReader;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    try {
      return plainBytes(
        this.frozen === NEWEST ? this.level.getSync(key) : this.level.getSync(key, this.frozen),
      );
    } catch (error) {
      throw translateDiskError(error, `The database in ${this.path} cannot be read`);
    }
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    try {
      return (await this.level.getMany(keys as Uint8Array[], this.frozen)).map(plainBytes);
    } catch (error) {
      throw translateDiskError(error, `The database in ${this.path} cannot be read`);
    }
  }

  async *range({ from, until, reverse, limit }: KeyRange): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
    const iterator = this.level.iterator({
      gte: from,
      lt: until,
      reverse: reverse === true,
      limit: limit ?? -1,
      highWaterMarkBytes: RANGE_CHUNK_BYTES,
      ...this.frozen,
    });
    try {
      for (;;) {
        const entries = await iterator.nextv(RANGE_CHUNK_ENTRIES);
        if (entries.length === 0) return;
        for (const [key, value] of entries) yield [bytesOf(key), bytesOf(value)];
      }
    } catch (error) {
      throw translateDiskError(error, `The database in ${this.path} cannot be read`);
    } finally {
      await iterator.close();
    }
  }

  async write(batch: Batch): Promise<void> {
    assert(!this.isReader, "a reading thread does not write");
    if (this.failure !== undefined) throw this.failure;
    const writing = this.writeSynced(batch);
    this.writing.add(writing);
    try {
      await writing;
    } catch (error) {
      this.failure ??= translateDiskError(error, `The database in ${this.path} cannot be written`);
      throw this.failure;
    } finally {
      this.writing.delete(writing);
    }
  }

  freeze(): FrozenReads {
    assert(this.frozen === NEWEST, "reads are frozen once at a time");
    const snapshot = this.level.snapshot();
    this.frozen = { snapshot };
    return {
      release: () => {
        this.frozen = NEWEST;
        // It waits for those who still read from it; a database that is closed has closed it.
        void snapshot.close();
      },
    };
  }

  /** A write that has begun is waited for: LevelDB would forget what was gathered for it. */
  async close(): Promise<void> {
    await Promise.allSettled(this.writing);
    await this.level.close();
  }

  /**
   * Chained, because an array of operations costs 300 ms of the main thread where this costs 30 (50,000 puts). Of many
   * operations these are handed over in portions, and others have their turn in between: LevelDB does nothing with them
   * before it has all, so nobody reads a part of a batch.
   */
  private async writeSynced(batch: Batch): Promise<void> {
    const chained = this.level.batch();
    let bytes = 0;
    let count = 0;
    for (const { key, value } of batch.operations) {
      if (value === undefined) chained.del(key);
      else chained.put(key, value);
      bytes += value?.length ?? 0;
      if (++count < PORTION_OPERATIONS && bytes < PORTION_BYTES) continue;
      count = 0;
      bytes = 0;
      await nextTurn();
    }
    await chained.write({ sync: true });
  }
}

/** classic-level answers with Buffers, whose `slice` is a view where that of a Uint8Array is a copy. */
function bytesOf(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

function plainBytes(buffer: Uint8Array | undefined): Uint8Array | undefined {
  return buffer === undefined ? undefined : bytesOf(buffer);
}

/**
 * Asks for the lock and nothing else, so that the files of another node at work are not mistaken for damaged ones:
 * LevelDB takes the lock before it looks whether the folder is as these options want it, and it never is. Fails with
 * FolderInUse, or another DiskError.
 */
export async function refuseLockedFolder(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const level = new ClassicLevel(path, { createIfMissing: false, errorIfExists: true });
  try {
    await level.open();
  } catch (error) {
    const holder = lockHolder(join(path, "LOCK"));
    const what = holder === undefined ? "cannot be opened" : `is in use by process ${holder}`;
    const failure = translateDiskError(error, `The database in ${path} ${what}`);
    if (failure instanceof DiskError) throw failure;
  }
}
