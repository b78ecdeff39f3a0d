import { toHex } from "../primitives/hex.ts";
import { readHead } from "../storage/commitRecord.ts";
import { DamagedData, DiskError } from "../storage/database.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { checkSchema, SCHEMA_VERSION } from "../storage/schema.ts";
import { bytesIn, type DatabasePlace } from "./databasePlace.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";

/** `ibex database info`: one fact a line, name and value, so that people and scripts can read it. */
export async function printDatabaseInfo(
  place: DatabasePlace,
  print: (line: string) => void,
): Promise<number> {
  try {
    const database = await openLevelDatabase({ path: place.chain });
    try {
      const schema = await checkSchema(database);
      const head = readHead(database);
      print(`folder: ${place.chain}`);
      print(`schema version: ${schema === "ours" ? SCHEMA_VERSION : "none, the database is empty"}`);
      print(`head number: ${head === undefined ? "none" : head.number}`);
      print(`head hash: ${head === undefined ? "none" : toHex(head.hash)}`);
      print(`bytes on disk: ${bytesIn(place.chain)}`);
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
