import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fail, ok, type Result } from "../primitives/result.ts";

/** The database's paths in a data folder, found without creating anything. */
export interface DatabasePaths {
  /** Folder of the LevelDB database. */
  readonly chain: string;
  /** File of the head marker. */
  readonly headFile: string;
}

/** Finds the paths; fails when the data folder has no database. */
export function findDatabase(dataPath: string): Result<DatabasePaths, "noDatabase"> {
  const chain = join(dataPath, "chain");
  if (existsSync(chain)) return ok({ chain, headFile: join(dataPath, "head.log") });
  return fail(
    "caller",
    "noDatabase",
    `There is no database in ${dataPath}. Name the data folder of the node with --data-path.`,
  );
}

/** Size of a LevelDB folder. Skips files that LevelDB removes in the meantime. */
export function bytesIn(folder: string): number {
  return readdirSync(folder)
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
