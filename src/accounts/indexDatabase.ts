import type { DatabaseOnDisk } from "../storage/database.ts";
import { type LevelSettings, openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { REBUILD } from "./unusableIndex.ts";

/** Opens the index's database as openLevelDatabase does; errors say what to do about the index, not about the chain. */
export function openIndexDatabase(settings: Omit<LevelSettings, "remedy">): Promise<DatabaseOnDisk> {
  return openLevelDatabase({ ...settings, remedy: REBUILD });
}
