import type { Batch, Database } from "../../src/storage/database.ts";
import { DiskError } from "../../src/storage/database.ts";
import type { HighWaterMark, MarkerFile } from "../../src/storage/markerFile.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import type { VoteLog } from "../../src/storage/votes/voteLog.ts";
import { generator, type Random } from "../storage/random.ts";

/** A database at power-cut strength: what was not synced when the power went may be gone. */
export interface ForgetfulDatabase extends Database {
  /**
   * Cuts the power now: this database fails from here on, its unfinished writes never resolve, and what a restart
   * would find is returned. Every write that had resolved is in it; of those under way a prefix, each whole or not.
   */
  powerCut(): ForgetfulDatabase;
}

/** A whole disk at power-cut strength: the database, the head marker beside it and the vote record. */
export interface ForgetfulDisk {
  readonly database: ForgetfulDatabase;
  readonly markerFile: MarkerFile;
  readonly voteLog: VoteLog;
  powerCut(): ForgetfulDisk;
}

export interface ForgetfulSettings {
  /** Decides how long a sync takes and how much of what was under way survives. */
  readonly seed: number;
  /**
   * "before a write resolves", as our database does. "some time later" is a saboteur: a test of durability must catch
   * it.
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
  /** What reads see: the durable entries, and those of writes that resolved early. */
  const visible = durable.copy();
  const underWay: Batch[] = [];
  /** Writes become durable one after another, in the order they came. */
  let queue: Promise<void> = Promise.resolve();
  let isCut = false;

  const refuseWhenCut = (): void => {
    if (isCut) throw new DiskError("the power is cut");
  };
  const syncOldest = async (): Promise<void> => {
    const oldest = underWay.shift();
    if (oldest !== undefined) await durable.write(oldest);
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
    async write(batch) {
      refuseWhenCut();
      underWay.push(batch);
      queue = queue.then(async () => {
        for (let turns = random.below(4); turns >= 0; turns--) await turn();
        if (isCut) return never();
        if (!syncsLate || underWay.length > UNSYNCED_WRITES) await syncOldest();
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
    powerCut() {
      refuseWhenCut();
      isCut = true;
      const survivors = durable.copy();
      for (const batch of underWay.slice(0, random.below(underWay.length + 1))) void survivors.write(batch);
      return forgetfulOver(survivors, random, syncsLate);
    },
  };
}

/** How many resolved writes the saboteur may owe to the disk. */
const UNSYNCED_WRITES = 3;

function diskOf(
  database: ForgetfulDatabase,
  mark: HighWaterMark | undefined,
  vote: Uint8Array | undefined,
  random: Random,
): ForgetfulDisk {
  /** Newest last. The first is durable; of the others any may be what the disk has. */
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
    powerCut() {
      isCut = true;
      return diskOf(database.powerCut(), anyOf(marks), anyOf(votes), random);
    },
  };
}

/** Lets everything else that is ready run first. */
function turn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume));
}

/** The process that waited is gone. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
