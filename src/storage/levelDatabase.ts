import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ClassicLevel } from "classic-level";
import { assert } from "../primitives/assert.ts";
import { type Batch, DamagedData, type Database, DiskFailure, type KeyRange } from "./database.ts";

export interface LevelSettings {
  /** Folder of the database; created when absent, unless a thread joins. */
  readonly path: string;
  /**
   * True in a worker thread that reads what the main thread has open: it joins that very database, sees each committed
   * write at once, and cannot write. The main thread opens first and closes last.
   */
  readonly readOnlyThread?: boolean;
}

/**
 * The database on disk: LevelDB, by way of classic-level, which appears in this file and nowhere else. Fails with
 * DiskFailure when the disk or another process stands in the way, and with DamagedData when LevelDB finds its own
 * files unsound.
 */
export async function openLevelDatabase(settings: LevelSettings): Promise<Database> {
  const path = resolve(settings.path);
  const isReader = settings.readOnlyThread === true;
  if (!isReader) refuseHeadlessFolder(path);
  const level: Level = new ClassicLevel(path, {
    ...OPTIONS,
    keyEncoding: "view",
    valueEncoding: "view",
    createIfMissing: !isReader,
  });
  try {
    await level.open();
  } catch (error) {
    throw translate(error, `The database in ${path} cannot be opened`);
  }
  return new LevelDatabase(level, path, isReader);
}

type Level = ClassicLevel<Uint8Array, Uint8Array>;

/** `multithreading` lets worker threads join; the rest are bounds on memory, files and work. */
const OPTIONS = {
  multithreading: true,
  compression: false,
  cacheSize: 32 * 1024 * 1024,
  writeBufferSize: 32 * 1024 * 1024,
  maxOpenFiles: 500,
  blockSize: 4096,
};

/** Entries fetched at a time by a range: enough to pay for the promise, few enough to keep the event loop going. */
const RANGE_CHUNK_ENTRIES = 1000;
const RANGE_CHUNK_BYTES = 256 * 1024;

class LevelDatabase implements Database {
  private readonly level: Level;
  private readonly path: string;
  private readonly isReader: boolean;
  /** Why the last write failed. No later one is tried: LevelDB would append it behind a torn record. */
  private failure: Error | undefined;

  constructor(level: Level, path: string, isReader: boolean) {
    this.level = level;
    this.path = path;
    this.isReader = isReader;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    try {
      return plainBytes(this.level.getSync(key));
    } catch (error) {
      throw translate(error, `The database in ${this.path} cannot be read`);
    }
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    try {
      return (await this.level.getMany(keys as Uint8Array[])).map(plainBytes);
    } catch (error) {
      throw translate(error, `The database in ${this.path} cannot be read`);
    }
  }

  async *range({ from, until, reverse, limit }: KeyRange): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
    const iterator = this.level.iterator({
      gte: from,
      lt: until,
      reverse: reverse === true,
      limit: limit ?? -1,
      highWaterMarkBytes: RANGE_CHUNK_BYTES,
    });
    try {
      for (;;) {
        const entries = await iterator.nextv(RANGE_CHUNK_ENTRIES);
        if (entries.length === 0) return;
        for (const [key, value] of entries) yield [bytesOf(key), bytesOf(value)];
      }
    } catch (error) {
      throw translate(error, `The database in ${this.path} cannot be read`);
    } finally {
      await iterator.close();
    }
  }

  async write(batch: Batch): Promise<void> {
    assert(!this.isReader, "a reading thread does not write");
    if (this.failure !== undefined) throw this.failure;
    try {
      await this.writeSynced(batch);
    } catch (error) {
      this.failure ??= translate(error, `The database in ${this.path} cannot be written`);
      throw this.failure;
    }
  }

  async close(): Promise<void> {
    await this.level.close();
  }

  /** Chained, because an array of operations costs 300 ms of the main thread where this costs 30 (50,000 puts). */
  private async writeSynced(batch: Batch): Promise<void> {
    const chained = this.level.batch();
    for (const { key, value } of batch.operations) {
      if (value === undefined) chained.del(key);
      else chained.put(key, value);
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
 * LevelDB keeps the name of its manifest in CURRENT. Where that file is gone it would see an empty folder, start a
 * database of its own there and delete the tables that it does not know.
 */
function refuseHeadlessFolder(path: string): void {
  if (!existsSync(path) || existsSync(join(path, "CURRENT"))) return;
  if (readdirSync(path).some((name) => /^(MANIFEST-\d+|\d+\.(ldb|sst|log))$/.test(name))) {
    throw new DamagedData(
      `The file ${join(path, "CURRENT")} is missing, but the folder holds other files of a database. ` +
        "Restore the folder from a backup, or empty it and let the node fetch the chain again.",
    );
  }
}

/** An error of classic-level in our words. Anything that is not the disk's doing is passed on as it is. */
function translate(error: unknown, what: string): Error {
  const causes = causesOf(error);
  const codes = causes.map(codeOf);
  const reason = causes.at(-1)?.message ?? String(error);
  if (codes.includes("LEVEL_CORRUPTION") || /^Corruption:/.test(reason)) {
    return new DamagedData(
      `${what}: ${reason}. Run \`ibex database check\` to see all that is damaged; ` +
        "then restore the folder from a backup, or empty it and let the node fetch the chain again.",
      { cause: error },
    );
  }
  const advice = codes.includes("LEVEL_LOCKED") ? LOCKED : adviceFor(reason, codes);
  if (advice !== undefined) return new DiskFailure(`${what}: ${reason}. ${advice}`, { cause: error });
  if (codes.includes("LEVEL_IO_ERROR") || /^IO error:/.test(reason))
    return new DiskFailure(`${what}: ${reason}. Look after the disk, then start the node again.`, {
      cause: error,
    });
  return error instanceof Error ? error : new Error(reason);
}

const LOCKED =
  "Another node is using this data folder: stop it, or give this one a folder of its own (--data-path).";

/** What an operator can do, by what the operating system says (in LevelDB's words, or as an error code of Node). */
const ADVICE: readonly (readonly [reason: RegExp, code: string, advice: string])[] = [
  [/No space left/i, "ENOSPC", "The disk is full: make room, then start the node again."],
  [
    /quota exceeded/i,
    "EDQUOT",
    "The disk quota is used up: raise it or make room, then start the node again.",
  ],
  [
    /Read-only file system/i,
    "EROFS",
    "The disk is mounted read-only: mount it writable, or choose another --data-path.",
  ],
  [
    /Permission denied/i,
    "EACCES",
    "This user may not write there: change the owner of the folder, or choose another --data-path.",
  ],
  [
    /Operation not permitted/i,
    "EPERM",
    "This user may not write there: change the owner of the folder, or choose another --data-path.",
  ],
  [
    /Too many open files/i,
    "EMFILE",
    "Too few open files are allowed: raise the limit (ulimit -n 4096), then start the node again.",
  ],
  [/Not a directory/i, "ENOTDIR", "A file stands where the folder should be: choose another --data-path."],
];

function adviceFor(reason: string, codes: readonly (string | undefined)[]): string | undefined {
  return ADVICE.find(([pattern, code]) => codes.includes(code) || pattern.test(reason))?.[2];
}

/** The error and what caused it, outermost first. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let next = error; next instanceof Error && causes.length < 10; next = next.cause) causes.push(next);
  return causes;
}

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
