import { systemClock } from "../primitives/clock.ts";
import { checkState } from "../state/check.ts";
import { CURE } from "../storage/checksum.ts";
import { DamagedData, type Database, DiskFailure } from "../storage/database.ts";
import { findDamage } from "../storage/databaseCheck.ts";
import { openHeadWitness } from "../storage/headWitness.ts";
import { openLevelDatabase, refuseLockedFolder } from "../storage/levelDatabase.ts";
import { findLevelDamage } from "../storage/levelFiles.ts";
import { checkSchema } from "../storage/schema.ts";
import { openWitness } from "../storage/witness.ts";
import type { DatabasePlace } from "./databasePlace.ts";
import { EXIT } from "./exitCodes.ts";

/**
 * `ibex database check`: names all that is damaged, one line each, and ends with a verdict. In this order, because
 * each step trusts the one before:
 *
 *   nobody else has the folder open -> LevelDB's files -> schema version -> the head against its witness
 *   -> every entry and every block -> the states of all blocks
 *
 * Changes no block and no state; opening moves the end of LevelDB's log into a table, as each start of a node does.
 */
export async function checkDatabase(place: DatabasePlace, print: (line: string) => void): Promise<number> {
  try {
    await refuseLockedFolder(place.chain);
    const report = new Report(print);
    print(`Checking the files of ${place.chain}`);
    for (const damage of findLevelDamage(place.chain, Number.POSITIVE_INFINITY)) report.add(damage);
    if (report.count > 0) {
      print("What the files hold was not looked at: they have to be sound for that.");
    } else {
      await checkContents(place, report, print);
    }
    print(report.verdict());
    return report.count === 0 ? EXIT.ok : EXIT.disk;
  } catch (error) {
    if (!(error instanceof DiskFailure)) throw error;
    print(error.message);
    return EXIT.disk;
  }
}

async function checkContents(
  place: DatabasePlace,
  report: Report,
  print: (line: string) => void,
): Promise<void> {
  const database = countingReads(await openLevelDatabase({ path: place.chain }), progressLines(print));
  try {
    await report.damageIn(() => checkSchema(database));
    await report.damageIn(() => checkWitness(database, place.headFile));
    print("Checking every entry and every block");
    for await (const damage of findDamage(database)) report.add(damage);
    print("Checking the states of all blocks");
    for (const damage of (await checkState(database)).damages) report.add(damage);
  } finally {
    await database.close();
  }
}

async function checkWitness(database: Database, headFile: string): Promise<void> {
  const witness = openWitness(headFile, "the record of the newest block");
  try {
    openHeadWitness(database, witness);
  } finally {
    witness.close();
  }
}

/** Each damage once, although several steps may come upon it. */
class Report {
  readonly #seen = new Set<string>();
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get count(): number {
    return this.#seen.size;
  }

  add(damage: string): void {
    // What to do is said once, at the end.
    const what = damage.replace(` ${CURE}`, "");
    if (this.#seen.has(what)) return;
    this.#seen.add(what);
    this.#print(`Damage: ${what}`);
  }

  async damageIn(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof DamagedData)) throw error;
      this.add(error.message);
    }
  }

  verdict(): string {
    if (this.count === 0) return "The database is sound.";
    return (
      `The database is damaged: ${this.count} ${this.count === 1 ? "damage" : "damages"} found. ` +
      "Restore the data folder from a backup, or empty it and let the node fetch the chain again; keep its file key."
    );
  }
}

const PROGRESS_MS = 5000;

/** Says every few seconds how many entries were read. Their total is not known beforehand. */
function progressLines(print: (line: string) => void): () => void {
  let entries = 0;
  let nextMs = systemClock.nowMs() + PROGRESS_MS;
  return () => {
    entries++;
    if (entries % 1000 !== 0 || systemClock.nowMs() < nextMs) return;
    nextMs = systemClock.nowMs() + PROGRESS_MS;
    print(`  ${entries.toLocaleString("en-US")} entries read`);
  };
}

/** The database, telling of each entry that is read from it. */
function countingReads(database: Database, onEntry: () => void): Database {
  return {
    get(key) {
      onEntry();
      return database.get(key);
    },
    getMany(keys) {
      for (const _ of keys) onEntry();
      return database.getMany(keys);
    },
    async *range(range) {
      for await (const entry of database.range(range)) {
        onEntry();
        yield entry;
      }
    },
    write: (batch) => database.write(batch),
    close: () => database.close(),
  };
}
