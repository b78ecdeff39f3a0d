import type { DatabaseOnDisk } from "../storage/database.ts";
import { type LevelSettings, openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { type AccountIndexReader, createIndexReader } from "./indexReader.ts";
import { REBUILD } from "./unusableIndex.ts";

/** Opens the index's database as openLevelDatabase does; errors say what to do about the index, not about the chain. */
export function openIndexDatabase(
  settings: Omit<LevelSettings, "remedy" | "writeBufferBytes">,
): Promise<DatabaseOnDisk> {
  return openLevelDatabase({ ...settings, writeBufferBytes: INDEX_WRITE_BUFFER_BYTES, remedy: REBUILD });
}

/**
 * A reader of the index on a thread that does not write it, which opens its database when it is asked for the first time. `report` is
 * called with damage that it finds.
 */
export function openIndexReader(
  settings: { readonly path: string; readonly maxBytes: number },
  report: (damage: string) => void,
): AccountIndexReader {
  const open = () => openIndexDatabase({ path: settings.path, readOnlyThread: true });
  return createIndexReader(open, settings, report);
}

/** Write buffer of the index, which writes a tenth as much as the chain's database. */
const INDEX_WRITE_BUFFER_BYTES = 16 * 1024 * 1024;
