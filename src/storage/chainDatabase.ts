import { verifyNewest } from "./blocks/verifyNewest.ts";
import type { Database } from "./database.ts";
import { type HeadMarker, openHeadMarker } from "./headMarker.ts";
import { openLevelDatabase } from "./leveldb/levelDatabase.ts";
import { type MarkerFile, openMarkerFile } from "./markerFile.ts";
import { checkSchema, writeSchema } from "./schema.ts";

export interface ChainDatabaseSettings {
  /** Folder of the database. */
  readonly path: string;
  /** File of the head marker, outside that folder. */
  readonly headFile: string;
  /** Bytes of the database to keep in memory; the database's own measure unless given. */
  readonly cacheBytes?: number;
}

/** The chain's database, looked over and ready. */
export interface ChainDatabase {
  readonly database: Database;
  readonly headMarker: HeadMarker;
  close(): Promise<void>;
}

/**
 * Opens the chain's database as a node does at its start, and trusts nothing in it
 * (architecture.md#trust-no-disk):
 *
 *   LevelDB's own files against their checksums -> LevelDB opens them -> schema version
 *   -> the head against the witness outside -> the newest blocks against their commit records
 *
 * Throws DamagedData (what, where, what to do) or DiskError. What lies deeper than a start can look is checked when it
 * is read: every value carries a checksum (checksum.ts), or is known by its hash.
 */
export async function openChainDatabase(settings: ChainDatabaseSettings): Promise<ChainDatabase> {
  const { headFile, ...level } = settings;
  const database = await openLevelDatabase(level);
  let markerFile: MarkerFile | undefined;
  const close = async (): Promise<void> => {
    await database.close();
    markerFile?.close();
  };
  try {
    markerFile = openMarkerFile(headFile, "the record of the newest block");
    return { database, headMarker: await verifyChain(database, markerFile), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** All that a start verifies once a database is open, whatever it is made of. */
export async function verifyChain(database: Database, markerFile: MarkerFile): Promise<HeadMarker> {
  const schema = await checkSchema(database);
  const headMarker = openHeadMarker(database, markerFile);
  if (schema === "empty") await writeSchema(database);
  await verifyNewest(database);
  return headMarker;
}
