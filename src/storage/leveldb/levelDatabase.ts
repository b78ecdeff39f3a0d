import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { ClassicLevel } from "classic-level";
import { assert } from "../../primitives/assert.ts";
import type { Batch } from "../batch.ts";
import {
  type DatabaseOnDisk,
  type DatabaseSnapshot,
  DiskError,
  type FrozenReads,
  type KeyRange,
  type Survival,
} from "../database.ts";
import { translateDiskError } from "../diskErrors.ts";
import { keepNewestLog } from "./keptLog.ts";
import { refuseDamagedLevelFiles } from "./levelFiles.ts";

export interface LevelSettings {
  /** Folder of the database; created when absent, unless this is a read-only thread. */
  readonly path: string;
  /**
   * True in a worker thread that reads the database that the main thread has open: it shares the same instance, sees
   * each committed write at once, and cannot write. The main thread opens first and closes last.
   */
  readonly readOnlyThread?: boolean;
  /**
   * True in a worker thread that writes to a database that the main thread has open for it: either the main thread does not
   * write to it, or no other thread writes the same keys.
   */
  readonly isWritingThread?: boolean;
  /** Bytes of the database to keep in memory; 32 MB unless given. */
  readonly cacheBytes?: number;
  /** Tables that are open at the same time, MAPPED_TABLES unless given: a read of a further one closes another one first. */
  readonly openTables?: number;
  /**
   * Bytes of writes to gather for a table, WRITE_BUFFER_BYTES unless given: they take twice as much memory, and are read
   * again at a start.
   */
  readonly writeBufferBytes?: number;
  /** Keeps the newest log under a second name, as it is before LevelDB opens it (keptLog.ts). */
  readonly keepsLog?: boolean;
  /**
   * What an operator can do about damage, which ends the message of DamagedData; REMEDY, for the chain's database, unless
   * given.
   */
  readonly remedy?: string;
}

/**
 * Opens the database on disk: LevelDB through classic-level, which only this file imports. Verifies its files first
 * (levelFiles.ts). Fails with FolderInUse when another process has it open, with another DiskError when the disk
 * refuses, and with DamagedData when the files are damaged.
 */
export async function openLevelDatabase(settings: LevelSettings): Promise<DatabaseOnDisk> {
  const path = resolve(settings.path);
  const isReader = settings.readOnlyThread === true;
  const isMain = !isReader && settings.isWritingThread !== true;
  if (isMain) {
    await refuseLockedFolder(path);
    refuseDamagedLevelFiles(path, settings.remedy);
    if (settings.keepsLog === true) keepNewestLog(path);
  }
  const level: Level = new ClassicLevel(path, {
    ...OPTIONS,
    cacheSize: settings.cacheBytes ?? OPTIONS.cacheSize,
    writeBufferSize: settings.writeBufferBytes ?? OPTIONS.writeBufferSize,
    maxOpenFiles: (settings.openTables ?? MAPPED_TABLES) + OTHER_FILES,
    keyEncoding: "view",
    valueEncoding: "view",
    createIfMissing: isMain,
  });
  try {
    await level.open();
  } catch (error) {
    throw translateDiskError(error, `The database in ${path} cannot be opened`, settings.remedy);
  }
  return new LevelDatabase(level, { path, isReader, remedy: settings.remedy });
}

type Level = ClassicLevel<Uint8Array, Uint8Array>;
type Chunks = Pick<ReturnType<Level["iterator"]>, "nextv">;
type Snapshot = ReturnType<Level["snapshot"]>;

/** Bytes of a database to keep in memory when memory is no concern. */
export const DATABASE_CACHE_BYTES = 32 * 1024 * 1024;

/**
 * LevelDB maps as many tables into memory, those of all databases of a process together. A further one takes a file descriptor, and
 * memory for its index and filter (OPEN_TABLE_BYTES).
 */
export const MAPPED_TABLES = 1000;

/** Memory of an open table that is not mapped, as 900 of them took it. */
export const OPEN_TABLE_BYTES = 64 * 1024;

/**
 * Tables to have open when neither memory nor file descriptors are a concern: those of 16 GB, with some ten million accounts. Each
 * new account is searched for in tables at random, and to open one takes some 100 µs.
 */
export const OPEN_TABLES = 4000;

/** Files that LevelDB counts besides its tables. */
const OTHER_FILES = 10;

/** Bytes gathered for one table of the newest level when memory is no concern. */
export const WRITE_BUFFER_BYTES = 32 * 1024 * 1024;

/**
 * Write buffer and file size determine how much compaction writes (architecture.md#what-compaction-writes). The log of a
 * full buffer is read again at each start: 32 MB take 200 ms there. Hashes and signatures do not compress.
 */
const OPTIONS = {
  /** Lets worker threads share the database. */
  multithreading: true,
  compression: false,
  writeBufferSize: WRITE_BUFFER_BYTES,
  maxFileSize: 4 * 1024 * 1024,
  blockSize: 4096,
  cacheSize: DATABASE_CACHE_BYTES,
};

/**
 * Number of entries that a range fetches at a time: enough to amortise the promise, and few enough that their room, 64 bytes
 * each outside of the heap, is small: it remains with a closed iterator until V8 collects it, and nothing in the heap urges
 * V8 to do so.
 */
const RANGE_CHUNK_ENTRIES = 128;
const RANGE_CHUNK_BYTES = 256 * 1024;

/** Operations and bytes handed to LevelDB between two yields to the event loop: some milliseconds of work. */
const PORTION_OPERATIONS = 4096;
const PORTION_BYTES = 2 * 1024 * 1024;

/** The contents that reads see: a snapshot, or the newest entries. */
interface View {
  readonly snapshot?: Snapshot;
}

const NEWEST: View = {};

interface OpenedAs {
  readonly path: string;
  readonly isReader: boolean;
  readonly remedy: string | undefined;
}

class LevelDatabase implements DatabaseOnDisk {
  private readonly level: Level;
  private readonly openedAs: OpenedAs;
  /** Why a write failed. Later writes are refused: LevelDB would append them after a torn record. */
  private failure: Error | undefined;
  private readonly writing = new Set<Promise<void>>();
  /** The contents that reads without a snapshot of their own see. */
  private frozen: View = NEWEST;

  constructor(level: Level, openedAs: OpenedAs) {
    this.level = level;
    this.openedAs = openedAs;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.getIn(this.frozen, key);
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.getManyIn(this.frozen, keys);
  }

  range(range: KeyRange): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
    return this.rangeIn(this.frozen, range);
  }

  snapshot(): DatabaseSnapshot {
    const snapshot = this.level.snapshot();
    const view = { snapshot };
    return {
      get: (key) => this.getIn(view, key),
      getMany: (keys) => this.getManyIn(view, keys),
      range: (range) => this.rangeIn(view, range),
      // Waits for the reads that still use it. Closing the database closes it, too.
      close: () => void snapshot.close(),
    };
  }

  async approximateBytes({ from, until }: Pick<KeyRange, "from" | "until">): Promise<number> {
    try {
      return await this.level.approximateSize(from, until);
    } catch (error) {
      throw this.translated(error, "cannot be read");
    }
  }

  async compact({ from, until }: Pick<KeyRange, "from" | "until">): Promise<void> {
    try {
      await this.level.compactRange(from, until);
    } catch (error) {
      throw this.translated(error, "cannot be written");
    }
  }

  async write(batch: Batch, survives: Survival = "powerCut"): Promise<void> {
    assert(!this.openedAs.isReader, "a read-only thread does not write");
    if (this.failure !== undefined) throw this.failure;
    const writing = this.writeWhole(batch, survives);
    this.writing.add(writing);
    try {
      await writing;
    } catch (error) {
      this.failure ??= this.translated(error, "cannot be written");
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
        // Waits for the reads that still use it. Closing the database closes it, too.
        void snapshot.close();
      },
    };
  }

  private getIn(view: View, key: Uint8Array): Uint8Array | undefined {
    try {
      return plainBytes(view === NEWEST ? this.level.getSync(key) : this.level.getSync(key, view));
    } catch (error) {
      throw this.translated(error, "cannot be read");
    }
  }

  private async getManyIn(view: View, keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    try {
      return (await this.level.getMany(keys as Uint8Array[], view)).map(plainBytes);
    } catch (error) {
      throw this.translated(error, "cannot be read");
    }
  }

  private async *rangeIn(
    view: View,
    { from, until, reverse, limit = Number.POSITIVE_INFINITY }: KeyRange,
  ): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
    const iterator = this.level.iterator({
      gte: from,
      lt: until,
      reverse: reverse === true,
      highWaterMarkBytes: RANGE_CHUNK_BYTES,
      ...view,
    });
    let hasEnded = false;
    try {
      // An iterator with a limit of its own would not forget its last entries.
      for (let left = limit; left > 0; ) {
        const entries = await iterator.nextv(Math.min(left, RANGE_CHUNK_ENTRIES));
        hasEnded = entries.length === 0;
        if (hasEnded) return;
        left -= entries.length;
        for (const [key, value] of entries) yield [bytesOf(key), bytesOf(value)];
      }
    } catch (error) {
      hasEnded = true;
      throw this.translated(error, "cannot be read");
    } finally {
      if (!hasEnded) await forgetChunk(iterator);
      await iterator.close();
    }
  }

  private translated(error: unknown, what: string): Error {
    const { path, remedy } = this.openedAs;
    return translateDiskError(error, `The database in ${path} ${what}`, remedy);
  }

  /** Waits for writes in progress: LevelDB would drop the operations gathered for them. */
  async close(): Promise<void> {
    await Promise.allSettled(this.writing);
    await this.level.close();
  }

  /**
   * Uses a chained batch, because an array of operations takes 300 ms of the main thread where this takes 30 (50,000
   * puts). Yields to the event loop between portions of a large batch: LevelDB applies none of it before it has all, so
   * no reader sees a part of a batch.
   */
  private async writeWhole(batch: Batch, survives: Survival): Promise<void> {
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
      await yieldToEventLoop();
    }
    await chained.write({ sync: survives === "powerCut" });
  }
}

/**
 * Makes an unfinished iterator replace the entries that it fetched last, up to RANGE_CHUNK_BYTES, by a single one:
 * classic-level keeps copies of them outside of the heap until V8 collects a closed iterator, and a thread that does little
 * else collects none for hours. Seeking beyond the range would drop that one as well, but ends the process when the database
 * is empty.
 */
async function forgetChunk(iterator: Chunks): Promise<void> {
  try {
    await iterator.nextv(1);
  } catch {
    // A database that closes, or whose disk fails, has already rejected those who wait for it.
  }
}

/** Wraps the memory of a Buffer: classic-level returns Buffers, whose `slice` is a view, where a Uint8Array's is a copy. */
function bytesOf(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

function plainBytes(buffer: Uint8Array | undefined): Uint8Array | undefined {
  return buffer === undefined ? undefined : bytesOf(buffer);
}

/**
 * Only tries the lock, so that the files of a running node are not mistaken for damaged ones: LevelDB takes the lock before
 * it compares the folder with these options, which no folder satisfies. Fails with FolderInUse or another DiskError.
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

/**
 * The id of the process that has a lock on the file, from Linux's /proc/locks; undefined on other systems and for a
 * process in another container.
 */
function lockHolder(path: string): number | undefined {
  try {
    return holderIn(readFileSync("/proc/locks", "utf8"), statSync(path).ino);
  } catch {
    return undefined;
  }
}

/**
 * Finds the process in lines such as `1: POSIX  ADVISORY  WRITE 4123 08:01:262154 0 EOF`. Ignores the device: layered file systems have several.
 */
function holderIn(locks: string, inode: number): number | undefined {
  for (const line of locks.split("\n")) {
    const [, , , , pid, file] = line.split(/\s+/);
    if (file?.split(":").at(-1) === `${inode}` && Number(pid) > 0) return Number(pid);
  }
  return undefined;
}
