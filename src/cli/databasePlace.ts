import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../primitives/result.ts";

/** Where a data folder keeps its database, found without creating anything. */
export interface DatabasePlace {
  /** Folder of the LevelDB database. */
  readonly chain: string;
  /** File of the head witness. */
  readonly headFile: string;
}

/** Refused when the data folder holds no database. */
export function findDatabase(dataPath: string): Result<DatabasePlace, "noDatabase"> {
  const chain = join(dataPath, "chain");
  if (existsSync(chain)) return ok({ chain, headFile: join(dataPath, "head.log") });
  return err({
    code: "noDatabase",
    fault: "caller",
    message: `There is no database in ${dataPath}. Name the data folder of the node with --data-path.`,
  });
}

/** Size of a folder of LevelDB, which may remove a file at any time; that one counts for nothing. */
export function bytesIn(folder: string): number {
  return readdirSync(folder)
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
