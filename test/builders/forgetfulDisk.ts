import { Batch } from "../../src/storage/batch.ts";
import type { Database } from "../../src/storage/database.ts";
import { DiskError } from "../../src/storage/database.ts";
import type { HighWaterMark, MarkerFile } from "../../src/storage/markerFile.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import type { VoteLog } from "../../src/storage/votes/voteLog.ts";
import { generator, type Random } from "../storage/random.ts";

/** A database that simulates power cuts: a cut may lose any unsynced write. */
export interface ForgetfulDatabase extends Database {
  /**
   * Cuts the power now: this database fails from now on, its pending writes never resolve, and the contents that a restart
   * finds are returned. They have every write that was resolved as durable, and a prefix of the others, each completely or not at all.
   * With `losing`, they lack so many of the last resolved writes, and all pending ones: the disk has lost its end.
   */
  powerCut(losing?: number): ForgetfulDatabase;
}

/** A disk that simulates power cuts: the database, the head marker beside it and the vote log. */
export interface ForgetfulDisk {
  readonly database: ForgetfulDatabase;
  readonly markerFile: MarkerFile;
  readonly voteLog: VoteLog;
  /** With `losing`, the database alone has lost so many of its last writes, and the head marker tells. */
  powerCut(losing?: number): ForgetfulDisk;
}

export interface ForgetfulSettings {
  /** Decides how long a sync takes and how many pending writes survive. */
  readonly seed: number;
  /**
   * "before a write resolves", as our database does. "some time later" is sabotage that a test of durability must catch
   * every time.
   */
  readonly syncs?: "before a write resolves" | "some time later";
}

export function createForgetfulDatabase(settings: ForgetfulSettings): ForgetfulDatabase {
  return forgetfulOver(
    createMemoryDatabase(),
    generator(settings.seed),
    settings.syncs === "some time later",
  );
}

export function createForgetfulDisk(settings: ForgetfulSettings): ForgetfulDisk {
  const random = generator(settings.seed + 1);
  return diskOf(createForgetfulDatabase(settings), undefined, undefined, random);
}

function forgetfulOver(durable: MemoryDatabase, random: Random, syncsLate: boolean): ForgetfulDatabase {
  /** The entries that reads see: the durable ones, and those of writes that resolved early. */
  const visible = durable.copy();
  const underWay: Batch[] = [];
  /** What takes the newest durable writes back, the newest last. */
  const inverses: Batch[] = [];
  /** Writes become durable one after another, in the order they came. */
  let queue: Promise<void> = Promise.resolve();
  let isCut = false;

  const refuseWhenCut = (): void => {
    if (isCut) throw new DiskError("the power is cut");
  };
  const syncOldest = async (): Promise<void> => {
    const oldest = underWay.shift();
    if (oldest === undefined) return;
    inverses.push(inverseOf(oldest, durable));
    if (inverses.length > MOST_LOST_WRITES) inverses.shift();
    await durable.write(oldest);
  };

  /** Earlier writes that need not survive are synced with it. */
  const syncUpTo = async (batch: Batch): Promise<void> => {
    while (underWay.includes(batch)) await syncOldest();
  };

  return {
    get(key) {
      refuseWhenCut();
      return visible.get(key);
    },
    getMany(keys) {
      refuseWhenCut();
      return visible.getMany(keys);
    },
    range(range) {
      refuseWhenCut();
      return visible.range(range);
    },
    async write(batch, survives = "powerCut") {
      refuseWhenCut();
      underWay.push(batch);
      queue = queue.then(async () => {
        for (let turns = random.below(4); turns >= 0; turns--) await turn();
        if (isCut) return never();
        if (syncsLate && underWay.length > UNSYNCED_WRITES) await syncOldest();
        if (!syncsLate && survives === "powerCut") await syncUpTo(batch);
        await visible.write(batch);
      });
      return queue;
    },
    freeze() {
      refuseWhenCut();
      return visible.freeze();
    },
    async close() {
      if (!isCut) await queue;
      if (!isCut) while (underWay.length > 0) await syncOldest();
      isCut = true;
    },
    powerCut(losing = 0) {
      refuseWhenCut();
      isCut = true;
      const survivors = durable.copy();
      if (losing > 0) {
        for (const inverse of inverses.slice(-losing).reverse()) void survivors.write(inverse);
        return forgetfulOver(survivors, random, syncsLate);
      }
      for (const batch of underWay.slice(0, random.below(underWay.length + 1))) void survivors.write(batch);
      return forgetfulOver(survivors, random, syncsLate);
    },
  };
}

function inverseOf(batch: Batch, database: Database): Batch {
  const inverse = new Batch();
  for (const { key } of batch.operations) {
    const value = database.get(key);
    if (value === undefined) inverse.delete(key);
    else inverse.put(key, value);
  }
  return inverse;
}

/** Writes that a disk can lose after they were durable. */
const MOST_LOST_WRITES = 3;

/** Resolved writes that may be unsynced under sabotage. */
const UNSYNCED_WRITES = 3;

function diskOf(
  database: ForgetfulDatabase,
  mark: HighWaterMark | undefined,
  vote: Uint8Array | undefined,
  random: Random,
): ForgetfulDisk {
  /** Newest last. The first is durable; the disk may have any of the others. */
  let marks: (HighWaterMark | undefined)[] = [mark];
  let votes: (Uint8Array | undefined)[] = [vote];
  let isCut = false;

  const anyOf = <T>(states: readonly T[]): T => states[random.below(states.length)] as T;
  return {
    database,
    markerFile: {
      read: () => marks.at(-1),
      write: (next) => void marks.push(next),
      writeSynced(next) {
        marks = [next];
      },
      close: () => undefined,
    },
    voteLog: {
      read: () => votes[0],
      async write(record) {
        votes.push(Uint8Array.from(record));
        for (let turns = random.below(4); turns >= 0; turns--) await turn();
        if (isCut) return never();
        votes = [Uint8Array.from(record)];
      },
      close: async () => undefined,
    },
    powerCut(losing = 0) {
      isCut = true;
      const mark = losing > 0 ? marks.at(-1) : anyOf(marks);
      return diskOf(database.powerCut(losing), mark, anyOf(votes), random);
    },
  };
}

/** Runs everything else that is ready first. */
function turn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume));
}

/** Pending, because the waiting process has ended. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
