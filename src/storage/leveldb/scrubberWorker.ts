import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { reportLoaded } from "../../workers/loadedMessage.ts";
import { openWorkerPort } from "../../workers/workerPort.ts";
import { DamagedData } from "../database.ts";
import { openLevelDatabase } from "./levelDatabase.ts";
import { liveTables, type TableFile } from "./levelFiles.ts";
import { findTableDamage } from "./levelTable.ts";
import { scrubBlocks } from "./scrubBlocks.ts";

export interface ScrubberWorkerData {
  /** Folder of the database, which the main thread has open. */
  readonly path: string;
  readonly bytesPerSecond: number;
  readonly entriesPerSecond: number;
}

/** The result of one round. A round that cannot be completed throws; that says nothing about the database. */
export type ScrubReport =
  | { readonly kind: "sound"; readonly tables: number; readonly bytes: number; readonly blocks: number }
  | { readonly kind: "damaged"; readonly message: string };

/** One round of the scrubber (scrubber.ts): tables against LevelDB's checksums, blocks against their commit records. */
const port = openWorkerPort();
reportLoaded(port);
const { path, bytesPerSecond, entriesPerSecond } = workerData as ScrubberWorkerData;

async function scrub(): Promise<ScrubReport> {
  try {
    const found = await scrubTables();
    if (typeof found === "string") return { kind: "damaged", message: found };
    return { kind: "sound", ...found, blocks: await scrubAllBlocks() };
  } catch (error) {
    if (error instanceof DamagedData) return { kind: "damaged", message: error.message };
    throw error;
  }
}

/** Verifies all tables, the oldest first: the start has verified the newest. */
async function scrubTables(): Promise<{ readonly tables: number; readonly bytes: number } | string> {
  const tables = [...liveTables(path)].sort((a, b) => a.number - b.number);
  let bytes = 0;
  for (const table of tables) {
    const damage = await damageIn(table);
    // Compactions constantly replace tables, and delete the replaced ones.
    if (damage !== undefined && liveTables(path).some(({ number }) => number === table.number))
      return `${table.path}: ${damage}`;
    bytes += table.length;
    await pause((table.length / bytesPerSecond) * 1000);
  }
  return { tables: tables.length, bytes };
}

async function damageIn({ path: file, length }: TableFile): Promise<string | undefined> {
  let table: Uint8Array;
  try {
    table = await readFile(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "it is missing";
    throw error;
  }
  return table.length === length
    ? findTableDamage(table)
    : `it has ${table.length} bytes instead of ${length}`;
}

async function scrubAllBlocks(): Promise<number> {
  const database = await openLevelDatabase({ path, readOnlyThread: true });
  let entries = 0;
  try {
    return await scrubBlocks(database, async (read) => {
      entries += read;
      if (entries < ENTRIES_PER_PAUSE) return;
      await pause((entries / entriesPerSecond) * 1000);
      entries = 0;
    });
  } finally {
    await database.close();
  }
}

const ENTRIES_PER_PAUSE = 500;

// The scrubber starts here, where all constants of the file are initialised. It is not awaited (loadedMessage.ts).
void scrub().then((end) => port.postMessage(end));
