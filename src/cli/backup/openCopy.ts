import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expectDefined } from "../../primitives/assert.ts";
import { toHex } from "../../primitives/hex.ts";
import { readHeader } from "../../storage/blocks/headerStore.ts";
import { openChainDatabase } from "../../storage/chainDatabase.ts";
import { readHead } from "../../storage/commitRecord.ts";
import type { Database } from "../../storage/database.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { planMigration } from "../../storage/migration/planMigration.ts";
import { type CopyPace, copyFile, link } from "./copyFile.ts";
import type { FileList } from "./fileList.ts";

export type ChainInfo = Pick<FileList, "genesisHash" | "head">;

/** Opens a database, verified as at the start of a node, and closes it; undefined when it has no block. */
export async function readChainInfo(path: string, headFile: string): Promise<ChainInfo | undefined> {
  const { database, close } = await openChainDatabase({ path, headFile });
  try {
    return infoOf(database);
  } finally {
    await close();
  }
}

/** Whether this version migrates the database before it reads it (operating/upgrading.md). */
export async function isOutdated(path: string): Promise<boolean> {
  const database = await openLevelDatabase({ path });
  try {
    return (await planMigration(database)) !== undefined;
  } finally {
    await database.close();
  }
}

/**
 * Like `readChainInfo`, for a copy that must not change. Opening a database changes it, so it is opened in the folder `scratch`, which
 * is removed afterwards.
 */
export async function readCopyInfo(
  folder: string,
  scratch: string,
  pace: CopyPace,
): Promise<ChainInfo | undefined> {
  rmSync(scratch, { recursive: true, force: true });
  const chain = join(scratch, "chain");
  mkdirSync(chain, { recursive: true });
  try {
    for (const name of readdirSync(folder)) {
      const [from, to] = [join(folder, name), join(chain, name)];
      // LevelDB never changes a table, and deleting a link does not either.
      if (!isTable(name) || !link(from, to)) await copyFile(from, to, pace);
    }
    return await readChainInfo(chain, join(scratch, "head.log"));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

export function isTable(name: string): boolean {
  return /\.(ldb|sst)$/.test(name);
}

function infoOf(database: Database): ChainInfo | undefined {
  const head = readHead(database);
  if (head === undefined) return undefined;
  const genesis = expectDefined(readHeader(database, 0n), "the genesis block of a chain");
  return {
    genesisHash: toHex(genesis.hash),
    head: { number: Number(head.number), hash: toHex(head.hash) },
  };
}
