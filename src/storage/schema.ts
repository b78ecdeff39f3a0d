import { EMPTY_BYTES } from "../primitives/hex.ts";
import { Batch } from "./batch.ts";
import { RecordReader, RecordWriter } from "./blocks/byteRecord.ts";
import { missing, openEntry, REPLACE_CHAIN, sealEntry } from "./checksum.ts";
import { type Database, OtherSchema, UnfinishedImport } from "./database.ts";
import { metaKey } from "./keys.ts";
import type { MigrationStep } from "./migration/migrationStep.ts";
import { FIRST_SCHEMA_VERSION, MIGRATION_STEPS } from "./migration/steps.ts";

/** The schema version that this program reads and writes. */
export const SCHEMA_VERSION: number = FIRST_SCHEMA_VERSION + MIGRATION_STEPS.length;

/** Progress of a migration. */
export interface MigrationMark {
  readonly from: number;
  /** Index of the current pass (migrationStep.ts). */
  readonly pass: number;
  /** Key of the last entry that this pass has converted. */
  readonly cursor: Uint8Array;
  /** Bytes of entries read by all passes so far, and their expected sum. */
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** The schema record of the database. */
export interface StoredSchema {
  /** Schema version. During a migration, the version that it leads to, so that older programs refuse the database. */
  readonly version: number;
  /**
   * True once old blocks or states were removed from this database (`--block-history`, `--state-history`): programs that do not know of
   * it refuse the number.
   */
  readonly isPruned?: boolean;
  /** Absent when the whole database has that version. */
  readonly migration?: MigrationMark;
}

/**
 * Checks whether the database is empty or has our schema version. Throws OtherSchema for another version or an unfinished
 * migration, UnfinishedImport for the remains of an import, and DamagedData when there is data but no version.
 */
export async function checkSchema(database: Database): Promise<"empty" | "ours"> {
  const stored = await readSchema(database);
  if (stored === undefined) return "empty";
  const refused = refusalOf(stored);
  if (refused !== undefined) throw new OtherSchema(refused);
  return "ours";
}

/** Reads the schema record; undefined for an empty database. Throws UnfinishedImport and DamagedData as checkSchema does. */
export async function readSchema(database: Database): Promise<StoredSchema | undefined> {
  const sealed = database.get(SCHEMA_KEY);
  if (sealed !== undefined) return decodeSchema(openEntry(SCHEMA_KEY, sealed, WHAT));
  if (database.get(UNFINISHED_KEY) !== undefined) throw new UnfinishedImport(UNFINISHED);
  for await (const _ of database.range({ ...EVERYTHING, limit: 1 })) throw missing(WHAT);
  return undefined;
}

/**
 * Why this program can neither read nor migrate a database with this record; undefined when it can. `steps` are its
 * migrations.
 */
export function refusalOfVersion(
  { version, migration }: StoredSchema,
  steps: readonly MigrationStep[] = MIGRATION_STEPS,
): string | undefined {
  const newest = FIRST_SCHEMA_VERSION + steps.length;
  if (version > newest)
    return (
      `The database has schema version ${version}; this version of Ibex reads version ${newest} only. A newer version of ` +
      `Ibex wrote it: start that one again. To stay with this version, stop the node and ${REPLACE_CHAIN}`
    );
  if ((migration?.from ?? version) < FIRST_SCHEMA_VERSION)
    return (
      `The database has schema version ${version}, which no release of Ibex wrote; the oldest is ` +
      `${FIRST_SCHEMA_VERSION}. With the node stopped, ${REPLACE_CHAIN}`
    );
  return undefined;
}

function refusalOf(stored: StoredSchema): string | undefined {
  const refused = refusalOfVersion(stored);
  if (refused !== undefined) return refused;
  const { version, migration } = stored;
  if (migration !== undefined)
    return (
      `The migration of the database from schema version ${migration.from} to ${version} is not finished. ` +
      "Run `ibex database migrate` again: it continues where it stopped."
    );
  if (version === SCHEMA_VERSION) return undefined;
  return (
    `The database has schema version ${version}; this version of Ibex uses version ${SCHEMA_VERSION}. If you may ` +
    "want to go back, make a copy of chain/ and head.log. Then run `ibex database migrate`, which first says what it does " +
    "and how long it takes (docs/operating/upgrading.md)."
  );
}

/** Marks a database of our schema version as one whose old blocks or states are removed. */
export function putPrunedSchema(batch: Batch): void {
  putSchema(batch, { version: SCHEMA_VERSION, isPruned: true });
}

/** Writes our schema version to an empty database. */
export async function writeSchema(database: Database): Promise<void> {
  const batch = new Batch();
  putSchema(batch, { version: SCHEMA_VERSION });
  await database.write(batch);
}

export function putSchema(batch: Batch, { version, isPruned = false, migration }: StoredSchema): void {
  const writer = new RecordWriter();
  writer.number(isPruned ? version + PRUNED : version);
  if (migration !== undefined) {
    const { from, pass, cursor, doneBytes, totalBytes } = migration;
    for (const number of [from, pass, doneBytes, totalBytes]) writer.number(number);
    writer.sized(cursor);
  }
  batch.put(SCHEMA_KEY, sealEntry(SCHEMA_KEY, writer.finish()));
}

/** The version always comes first: 0.2.0 reads the first number and nothing after it. */
function decodeSchema(record: Uint8Array): StoredSchema {
  const reader = new RecordReader(record);
  const number = reader.number();
  const isPruned = number >= PRUNED && number < 2 * PRUNED;
  const version = isPruned ? number - PRUNED : number;
  const kind = isPruned ? { version, isPruned } : { version };
  if (reader.isAtEnd) return kind;
  const [from, pass, doneBytes, totalBytes] = [
    reader.number(),
    reader.number(),
    reader.number(),
    reader.number(),
  ];
  return { ...kind, migration: { from, pass, doneBytes, totalBytes, cursor: reader.sized() } };
}

/**
 * Marks an empty database as the target of a snapshot import. Until the import ends it has no schema version, so that no
 * release of Ibex takes it for a chain.
 */
export function putUnfinishedImport(batch: Batch): void {
  batch.put(UNFINISHED_KEY, sealEntry(UNFINISHED_KEY, EMPTY_BYTES));
}

/** Ends the import: the batch must also have the head. */
export function finishImport(batch: Batch): void {
  batch.delete(UNFINISHED_KEY);
  putSchema(batch, { version: SCHEMA_VERSION });
}

/** Added to the schema version of a database whose old blocks or states are removed. */
const PRUNED = 1000;

const WHAT = "the schema version of the database";
const UNFINISHED =
  "The import of a snapshot into this database was not finished. Run `ibex snapshot import` again, which starts over, or " +
  "delete chain/ in the data folder and let the node fetch the chain from its peers.";

const UNFINISHED_KEY = metaKey("import");
const SCHEMA_KEY = metaKey("schema");
const EVERYTHING = { from: new Uint8Array(0), until: Uint8Array.of(0xff) };
