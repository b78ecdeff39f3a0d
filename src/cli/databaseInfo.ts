import { toHex } from "../primitives/hex.ts";
import { readHead } from "../storage/commitRecord.ts";
import { DamagedData, DiskError } from "../storage/database.ts";
import { readHistoryStart } from "../storage/historyStart.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { type MigrationPlan, planMigration } from "../storage/migration/planMigration.ts";
import { checkSchema, readSchema, type StoredSchema } from "../storage/schema.ts";
import { bytesIn, type DatabasePaths } from "./databasePaths.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";

/** `ibex database info`: prints one name and value per line, readable by people and scripts. */
export async function printDatabaseInfo(
  paths: DatabasePaths,
  print: (line: string) => void,
): Promise<number> {
  try {
    const database = await openLevelDatabase({ path: paths.chain });
    try {
      print(`folder: ${paths.chain}`);
      const plan = await planMigration(database);
      if (plan !== undefined) return printOutdated(plan, paths, print);
      await checkSchema(database);
      const head = readHead(database);
      print(`schema version: ${shownSchema(await readSchema(database))}`);
      print(`head number: ${head === undefined ? "none" : head.number}`);
      print(`head hash: ${head === undefined ? "none" : toHex(head.hash)}`);
      const { headers, blocks, states } = readHistoryStart(database);
      print(
        `history begins: ${blocks === 0n ? "with genesis" : `with block ${blocks}, headers with ${headers}`}`,
      );
      if (states > blocks) print(`states begin: with that of block ${states}; older ones were removed`);
      print(`bytes on disk: ${bytesIn(paths.chain)}`);
      return EXIT.ok;
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof DiskError || error instanceof DamagedData)) throw error;
    print(error.message);
    return exitCodeOf(error);
  }
}

function shownSchema(schema: StoredSchema | undefined): string {
  if (schema === undefined) return "none, the database is empty";
  return schema.isPruned === true
    ? `${schema.version}, pruned: versions of Ibex without --state-history and --block-history refuse it`
    : `${schema.version}`;
}

/** Prints what is known about an outdated database: the rest is in a format that this version does not read. */
function printOutdated(
  { from, to, isResumed }: MigrationPlan,
  { chain }: DatabasePaths,
  print: (line: string) => void,
): number {
  print(`schema version: ${from}${isResumed ? ", half migrated" : ""}`);
  print(`migration needed: to schema version ${to}, by \`ibex database migrate\``);
  print(`bytes on disk: ${bytesIn(chain)}`);
  return EXIT.ok;
}
