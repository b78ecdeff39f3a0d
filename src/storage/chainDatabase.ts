import type { Logger } from "../observability/logger.ts";
import { verifyNewest } from "./blocks/verifyNewest.ts";
import { inMarkedFolder } from "./checksum.ts";
import type { HeadPointer } from "./commitRecord.ts";
import { DamagedData, type Database, type DatabaseOnDisk } from "./database.ts";
import { freeBytesOf } from "./diskGuard.ts";
import {
  createHeadMarker,
  findLostEnd,
  findUnsyncedLoss,
  type HeadMarker,
  type JudgeLostEnd,
} from "./headMarker.ts";
import { dropKeptLogs } from "./leveldb/keptLog.ts";
import { openLevelDatabase } from "./leveldb/levelDatabase.ts";
import { type MarkerFile, openMarkerFile } from "./markerFile.ts";
import { migrate } from "./migration/migrate.ts";
import { isQuick, planMigration } from "./migration/planMigration.ts";
import { checkSchema, writeSchema } from "./schema.ts";

interface ChainDatabaseSettings {
  /** Folder of the database. */
  readonly path: string;
  /** File of the head marker, outside that folder. */
  readonly headFile: string;
  /** Bytes of the database to keep in memory; the default of openLevelDatabase unless given. */
  readonly cacheBytes?: number;
  readonly openTables?: number;
  /** Bytes of writes to gather; the default of openLevelDatabase unless given. */
  readonly writeBufferBytes?: number;
  /**
   * Told before a database of an older schema version is migrated, which happens here only when it is quick
   * (migration/planMigration.ts). Without it, and when it is not quick, such a database is refused.
   */
  readonly migrationLog?: Logger;
  /** Without it, a database that has lost its newest blocks is refused. */
  readonly judgeLostEnd?: JudgeLostEnd;
  /**
   * Given where the chain's writes are not synced (a folder that is marked for development): what a power cut took of them is lost, which
   * this is told once the rest is verified, and the chain goes on from what is left. Damage has a remedy for such a folder.
   */
  readonly unsyncedLog?: Logger | undefined;
}

interface LossJudges {
  readonly judgeLostEnd?: JudgeLostEnd | undefined;
  /** Like `unsyncedLog`, it is given where writes are not synced, and gets what is lost. */
  readonly onUnsyncedLoss?: ((what: string) => void) | undefined;
}

/** The chain's database, verified and open. */
export interface ChainDatabase {
  readonly database: Database;
  readonly headMarker: HeadMarker;
  /** The newest block that the database has lost, which must be restored; undefined when nothing is lost. */
  readonly lost: HeadPointer | undefined;
  close(): Promise<void>;
}

/**
 * Opens the chain's database as a node does when it starts, and trusts nothing in it (architecture.md#trust-no-disk):
 *
 *   LevelDB's own files against their checksums -> LevelDB opens them -> schema version (a quick migration)
 *   -> the head against the head marker -> the newest blocks against their commit records
 *
 * Throws DamagedData (what, where, what to do) or DiskError. Older data is verified when it is read: every value carries a
 * checksum (checksum.ts), or is identified by its hash.
 *
 * LevelDB permanently drops the incomplete end of its log when it opens. A second name of the file keeps it
 * (leveldb/keptLog.ts) until the chain is found whole, or its lost blocks are durable again.
 */
export async function openChainDatabase(
  settings: ChainDatabaseSettings,
): Promise<ChainDatabase & { readonly database: DatabaseOnDisk }> {
  try {
    return await openAndVerify(settings);
  } catch (error) {
    throw error instanceof DamagedData && settings.unsyncedLog !== undefined ? inMarkedFolder(error) : error;
  }
}

async function openAndVerify({
  headFile,
  migrationLog,
  judgeLostEnd,
  unsyncedLog,
  ...level
}: ChainDatabaseSettings): Promise<ChainDatabase & { readonly database: DatabaseOnDisk }> {
  const database = await openLevelDatabase({ ...level, keepsLog: true });
  let markerFile: MarkerFile | undefined;
  const close = async (): Promise<void> => {
    await database.close();
    markerFile?.close();
  };
  try {
    if (migrationLog !== undefined) await migrateIfQuick(database, level.path, migrationLog);
    markerFile = openMarkerFile(headFile, "the record of the newest block");
    const onUnsyncedLoss = unsyncedLog && ((what: string) => logUnsyncedLoss(what, unsyncedLog));
    const verified = await verifyChain(database, markerFile, { judgeLostEnd, onUnsyncedLoss }, () =>
      dropKeptLogs(level.path),
    );
    return { database, ...verified, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function migrateIfQuick(database: DatabaseOnDisk, path: string, logger: Logger): Promise<void> {
  const plan = await planMigration(database);
  if (plan === undefined || !isQuick(plan)) return;
  const { from, to, bytes, seconds } = plan;
  logger.info(
    { from, to, bytes, seconds },
    "the database has an older schema version and is migrated; older versions of Ibex refuse it from now on",
  );
  await migrate(database, { freeBytes: () => freeBytesOf(path) });
}

function logUnsyncedLoss(what: string, logger: Logger): void {
  logger.warn(
    { lost: what },
    "this development chain has lost its newest blocks, which are not synced: the power was cut, or files were changed. It goes on from " +
      "the newest block that is left",
  );
}

/**
 * Verifies an open database of any kind: its schema, its head against the marker file, its newest blocks. Calls `onWhole` once
 * nothing is missing: now, or when the lost blocks are back.
 */
export async function verifyChain(
  database: Database,
  markerFile: MarkerFile,
  { judgeLostEnd = () => "refused", onUnsyncedLoss }: LossJudges = {},
  onWhole: () => void = () => undefined,
): Promise<Pick<ChainDatabase, "headMarker" | "lost">> {
  const schema = await checkSchema(database);
  const unsynced = onUnsyncedLoss && findUnsyncedLoss(database, markerFile);
  const end = onUnsyncedLoss === undefined ? findLostEnd(database, markerFile) : undefined;
  const action = end === undefined ? undefined : await judgeLostEnd(end);
  if (action === "refused") throw end;
  if (schema === "empty") await writeSchema(database);
  await verifyNewest(database);
  if (unsynced !== undefined) onUnsyncedLoss?.(unsynced);
  const lost = action === "restored" ? end?.lost : undefined;
  const restoration = lost && { lost, onRestored: onWhole };
  const headMarker = createHeadMarker(database, markerFile, restoration);
  if (lost === undefined) onWhole();
  return { headMarker, lost };
}
