import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DataDirectory } from "../../node/dataFolder/dataDirectory.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { Batch } from "../../storage/batch.ts";
import { type Database, UnfinishedImport } from "../../storage/database.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { checkSchema, putUnfinishedImport } from "../../storage/schema.ts";

/**
 * Opens the database of a data folder that has no chain, marked as an unfinished import: until finishImport (schema.ts) no
 * node takes it for a chain. Removes the remains of an import that was killed. Throws DiskError.
 */
export async function openForImport(
  directory: DataDirectory,
  cacheBytes: number | undefined,
): Promise<Result<Database, "notEmpty">> {
  const settings = { path: directory.chain, ...(cacheBytes !== undefined && { cacheBytes }) };
  let database = await openLevelDatabase(settings);
  const content = await contentOf(database);
  if (content !== "empty") {
    await database.close();
    if (content === "chain") return notEmpty(directory.path, "already has a chain");
    removeChain(directory);
    database = await openLevelDatabase(settings);
  } else if (existsSync(directory.headFile)) {
    await database.close();
    return notEmpty(directory.path, "has the file head.log of a chain");
  }
  const batch = new Batch();
  putUnfinishedImport(batch);
  await database.write(batch);
  return ok(database);
}

/** Removes the files of an import, and those derived from a chain. */
export function removeChain({ path, chain }: Pick<DataDirectory, "path" | "chain">): void {
  rmSync(chain, { recursive: true, force: true });
  rmSync(join(path, "caches"), { recursive: true, force: true });
}

async function contentOf(database: Database): Promise<"empty" | "unfinished" | "chain"> {
  try {
    return (await checkSchema(database)) === "empty" ? "empty" : "chain";
  } catch (error) {
    if (error instanceof UnfinishedImport) return "unfinished";
    await database.close();
    throw error;
  }
}

function notEmpty(path: string, what: string): Result<never, "notEmpty"> {
  return fail(
    "caller",
    "notEmpty",
    `The data folder ${path} ${what}; a snapshot needs a folder without one. Use another --data-path, or delete ` +
      "chain/, caches/ and head.log there and keep everything else.",
  );
}
