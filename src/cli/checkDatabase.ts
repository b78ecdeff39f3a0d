import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { findBlocksWithoutState } from "../state/missingStates.ts";
import { checkState } from "../state/verifyState.ts";
import { readHeader } from "../storage/blocks/headerStore.ts";
import { FETCH_LOST_BLOCKS, REMEDY, REPLACE_CHAIN } from "../storage/checksum.ts";
import { readHead } from "../storage/commitRecord.ts";
import { DamagedData, type Database, DiskError } from "../storage/database.ts";
import { findDamagedBlocks, findDamagedEntries } from "../storage/databaseCheck.ts";
import { developmentMarkFile } from "../storage/developmentMark.ts";
import { findLostEnd, findUnsyncedLoss, LostEnd } from "../storage/headMarker.ts";
import { readHistoryStart } from "../storage/historyStart.ts";
import { KEY_PREFIXES } from "../storage/keys.ts";
import { dropKeptLogs } from "../storage/leveldb/keptLog.ts";
import { openLevelDatabase, refuseLockedFolder } from "../storage/leveldb/levelDatabase.ts";
import { ALL_TABLES, findLevelDamage } from "../storage/leveldb/levelFiles.ts";
import { openMarkerFile } from "../storage/markerFile.ts";
import { checkSchema } from "../storage/schema.ts";
import { CheckProgress } from "./checkProgress.ts";
import { bytesIn, type DatabasePaths } from "./databasePaths.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";
import type { PrintedOutput } from "./printedOutput.ts";

/**
 * `ibex database check`: prints each damage on one line, and a summary at the end. The order matters, because each step
 * trusts the one before:
 *
 *   the folder is not in use -> LevelDB's files -> schema version -> the head against the head marker
 *   -> every entry and every block -> the states of all blocks
 *
 * Does not change blocks or states; opening moves the end of LevelDB's log into a table, as each start of a node does.
 */
export async function checkDatabase(paths: DatabasePaths, output: PrintedOutput): Promise<number> {
  const print = output.printLine;
  const progress = new CheckProgress(output);
  try {
    await refuseLockedFolder(paths.chain);
    const report = new Report(print);
    progress.begin(`Checking the files of ${paths.chain}`, bytesIn(paths.chain), "bytes");
    for (const damage of findLevelDamage(paths.chain, ALL_TABLES, (bytes) => progress.advance(bytes)))
      report.add(damage);
    if (report.count > 0) {
      print("The contents of the files were not checked, because that needs undamaged files.");
    } else {
      await checkContents(paths, report, progress);
    }
    progress.end();
    print(report.summary());
    return report.count === 0 ? EXIT.ok : EXIT.disk;
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    print(error.message);
    return exitCodeOf(error);
  } finally {
    progress.end();
  }
}

async function checkContents(paths: DatabasePaths, report: Report, progress: CheckProgress): Promise<void> {
  const database = await openLevelDatabase({ path: paths.chain, keepsLog: true });
  try {
    await report.damageIn(() => checkSchema(database));
    const isMarked = existsSync(developmentMarkFile(dirname(paths.chain)));
    await report.damageIn(() => checkHeadMarker(database, paths.headFile, { isMarked, report }));
    if (report.count === 0) dropKeptLogs(paths.chain);
    const blocks = headOf(database) + 1 - firstHeaderOf(database);
    progress.begin("Checking every entry", bytesIn(paths.chain), "bytes");
    const tally = new EntryTally(database, progress);
    for await (const damage of findDamagedEntries(tally.database)) report.add(damage);
    progress.begin(`Checking ${blocks} blocks`, blocks, "blocks");
    for await (const damage of findDamagedBlocks(database, () => progress.advance(1))) report.add(damage);
    progress.begin(`Checking that ${blocks} blocks have their states`, blocks, "blocks");
    for (const damage of findBlocksWithoutState(database, () => progress.advance(1))) report.add(damage);
    await checkStates(database, { blocks, tally }, { report, progress });
    if (isMarked)
      await report.damageIn(async () =>
        report.note(describeDevelopment(countAltered(database, firstHeaderOf(database)))),
      );
  } finally {
    await database.close();
  }
}

/** Makes three passes of about equal duration: over the pages, over each block's writes, over the head's state. */
async function checkStates(
  database: Database,
  { blocks, tally }: { readonly blocks: number; readonly tally: EntryTally },
  { report, progress }: { readonly report: Report; readonly progress: CheckProgress },
): Promise<void> {
  progress.begin("Checking the states of all blocks", 3, "entries");
  const pages = tally.count("trie");
  const entries = tally.count("account") + tally.count("slot");
  let before = 0;
  let countedBefore = 0;
  const { damages } = await checkState(database, (done) => {
    const walked =
      done.pages / Math.max(1, pages) +
      done.blocks / Math.max(1, blocks) +
      (done.accounts + done.slots) / Math.max(1, entries);
    const counted = done.pages + done.blocks + done.accounts + done.slots;
    progress.advance(walked - before, counted - countedBefore);
    before = walked;
    countedBefore = counted;
  });
  for (const damage of damages) report.add(damage);
}

/** Number of the newest block; -1 when there is none or it is unreadable. */
function headOf(database: Database): number {
  try {
    return Number(readHead(database)?.number ?? -1n);
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    return -1;
  }
}

/** Number of the first header after genesis that must exist; also 0 when its record is unreadable. */
function firstHeaderOf(database: Database): number {
  try {
    return Number(readHistoryStart(database).headers);
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    return 0;
  }
}

/**
 * Blocks of the development network whose states no transaction made; their time is their parent's, which no other block's is
 * (development-network.md#altered-states).
 */
function countAltered(database: Database, first: number): number {
  let altered = 0;
  let parent = readHeader(database, BigInt(first))?.header.timestamp;
  for (let number = first + 1; number <= headOf(database); number++) {
    const timestamp = readHeader(database, BigInt(number))?.header.timestamp;
    if (timestamp !== undefined && timestamp === parent) altered++;
    parent = timestamp;
  }
  return altered;
}

function describeDevelopment(altered: number): string {
  return (
    `This chain was made with the comforts of the development network; ${altered} of its blocks are altered ones. Their states were ` +
    "verified like all others, against the roots in their headers; nothing says that they follow from the states before."
  );
}

function describeUnsyncedLoss(lost: string): string {
  return `${lost}. The newest blocks of such a chain are not synced, and a power cut may take them: the node goes on from what is left.`;
}

async function checkHeadMarker(
  database: Database,
  headFile: string,
  { isMarked, report }: { readonly isMarked: boolean; readonly report: Report },
): Promise<void> {
  const marker = openMarkerFile(headFile, "the record of the newest block");
  try {
    if (isMarked) {
      const lost = findUnsyncedLoss(database, marker);
      if (lost !== undefined) report.note(describeUnsyncedLoss(lost));
      return;
    }
    const lost = findLostEnd(database, marker);
    if (lost !== undefined) throw lost;
  } finally {
    marker.close();
  }
}

/** Prints each damage once, although several steps may find it. */
class Report {
  readonly #seen = new Set<string>();
  readonly #print: (line: string) => void;
  #hasLostEnd = false;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get count(): number {
    return this.#seen.size;
  }

  add(damage: string): void {
    // The remedy is printed once, at the end.
    const what = damage.replace(` ${REMEDY}`, "");
    if (this.#seen.has(what)) return;
    this.#seen.add(what);
    this.#print(`Damage: ${what}`);
  }

  async damageIn(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof DamagedData)) throw error;
      if (error instanceof LostEnd) this.#hasLostEnd = true;
      this.add(error instanceof LostEnd ? error.what : error.message);
    }
  }

  /** Says something at the end that is no damage. */
  note(what: string): void {
    this.#print(what);
  }

  summary(): string {
    if (this.count === 0) return "The database is sound.";
    const remedy = this.#hasLostEnd && this.count === 1 ? FETCH_LOST_BLOCKS : REPLACE_CHAIN;
    return (
      `The database is damaged: ${this.count} ${this.count === 1 ? "damage" : "damages"} found. ` +
      `With the node stopped, ${remedy}`
    );
  }
}

/** Counts the entries of each kind while all of them are read; the counts are not stored anywhere. */
class EntryTally {
  /** The database, wrapped to count entries. */
  readonly database: Database;
  readonly #counts = new Map<number, number>();

  constructor(database: Database, progress: CheckProgress) {
    const counts = this.#counts;
    this.database = {
      get: (key) => database.get(key),
      getMany: (keys) => database.getMany(keys),
      async *range(range) {
        for await (const entry of database.range(range)) {
          const [key, value] = entry;
          const prefix = key[0] ?? 0;
          counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
          progress.advance(key.length + value.length);
          yield entry;
        }
      },
      write: (batch) => database.write(batch),
      freeze: () => database.freeze(),
      close: () => database.close(),
    };
  }

  count(kind: keyof typeof KEY_PREFIXES): number {
    return this.#counts.get(KEY_PREFIXES[kind]) ?? 0;
  }
}
