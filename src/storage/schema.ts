import { EMPTY_BYTES } from "../primitives/hex.ts";
import { createBatch } from "./batch.ts";
import { RecordReader, RecordWriter } from "./blocks/byteRecord.ts";
import { missing, openEntry, sealEntry } from "./checksum.ts";
import { type Batch, type Database, DiskError, UnfinishedImport } from "./database.ts";
import { metaKey } from "./keys.ts";

/** Increased with each change to the keys or to the encoding of a value. */
export const SCHEMA_VERSION = 1;

/**
 * Says whether the database is empty or has our schema version. Throws DiskError for another version, which this
 * program does not try to read, UnfinishedImport for the remains of an import, and DamagedData when there is data but no
 * version.
 */
export async function checkSchema(database: Database): Promise<"empty" | "ours"> {
  const sealed = database.get(SCHEMA_KEY);
  if (sealed === undefined) {
    if (database.get(UNFINISHED_KEY) !== undefined) throw new UnfinishedImport(UNFINISHED);
    for await (const _ of database.range({ ...EVERYTHING, limit: 1 }))
      throw missing("the schema version of the database");
    return "empty";
  }
  const version = new RecordReader(
    openEntry(SCHEMA_KEY, sealed, "the schema version of the database"),
  ).number();
  if (version === SCHEMA_VERSION) return "ours";
  throw new DiskError(
    `The database has schema version ${version}; this version of Ibex reads version ${SCHEMA_VERSION} only. ` +
      "Start the version of Ibex that wrote it, or choose another --data-path and fetch the chain again.",
  );
}

/** Writes our schema version to an empty database. */
export async function writeSchema(database: Database): Promise<void> {
  const batch = createBatch();
  putSchema(batch, SCHEMA_VERSION);
  await database.write(batch);
}

export function putSchema(batch: Batch, version: number): void {
  const writer = new RecordWriter();
  writer.number(version);
  batch.put(SCHEMA_KEY, sealEntry(SCHEMA_KEY, writer.finish()));
}

/**
 * Marks an empty database as one that a snapshot is imported into. Until the import ends it has no schema version, so that
 * no release of Ibex takes it for a chain.
 */
export function putUnfinishedImport(batch: Batch): void {
  batch.put(UNFINISHED_KEY, sealEntry(UNFINISHED_KEY, EMPTY_BYTES));
}

/** Ends the import: the batch must also have the head. */
export function finishImport(batch: Batch): void {
  batch.delete(UNFINISHED_KEY);
  putSchema(batch, SCHEMA_VERSION);
}

const UNFINISHED =
  "The import of a snapshot into this database was not finished. Run `ibex snapshot import` again, which starts over, or " +
  "delete chain/ in the data folder and let the node fetch the chain from its peers.";

const UNFINISHED_KEY = metaKey("import");
const SCHEMA_KEY = metaKey("schema");
const EVERYTHING = { from: new Uint8Array(0), until: Uint8Array.of(0xff) };
