import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { reportLoaded } from "../../workers/loadedMessage.ts";
import { openWorkerPort } from "../../workers/workerPort.ts";
import { type HeaderRecord, readHeader } from "../blocks/headerStore.ts";
import { verifyCommit } from "../blocks/verifyNewest.ts";
import { missing } from "../checksum.ts";
import { readHead } from "../commitRecord.ts";
import { DamagedData, type Database } from "../database.ts";
import { isWithin, readHistoryStart } from "../historyStart.ts";
import { openLevelDatabase } from "./levelDatabase.ts";
import { liveTables, type TableFile } from "./levelFiles.ts";
import { findTableDamage } from "./levelTable.ts";

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
    return { kind: "sound", ...found, blocks: await scrubBlocks() };
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

/**
 * Verifies all blocks. A damaged table may have been compacted into one with valid checksums before it was verified: entries
 * are then missing, which only the count in their block's commit record shows.
 */
async function scrubBlocks(): Promise<number> {
  const database = await openLevelDatabase({ path, readOnlyThread: true });
  try {
    return await verifyBlocks(database);
  } finally {
    await database.close();
  }
}

async function verifyBlocks(database: Database): Promise<number> {
  const head = readHead(database);
  if (head === undefined) return 0;
  const { headers } = readHistoryStart(database);
  let entries = 0;
  for (let number = head.number; number >= 0n; number--) {
    // Before the start of the history only the genesis block exists.
    if (number > 0n && number < headers) number = 0n;
    const header = readHeader(database, number);
    if (header === undefined) throw missing(`block ${number}`);
    entries += await verifyBlock(database, header);
    if (entries < ENTRIES_PER_PAUSE) continue;
    await pause((entries / entriesPerSecond) * 1000);
    entries = 0;
  }
  return Number(head.number) + 1;
}

/** Verifies a block, or only its header if the rest is not stored; returns the number of entries that were read. */
async function verifyBlock(database: Database, header: HeaderRecord): Promise<number> {
  // The start of the history may move on during a round, which can take hours.
  const isWhole = (): boolean => isWithin(readHistoryStart(database), header.header.number);
  if (!isWhole()) return 1;
  try {
    return await verifyCommit(database, header);
  } catch (error) {
    if (isWhole()) throw error;
    return 1;
  }
}

const ENTRIES_PER_PAUSE = 500;

// The scrubber starts here, where all constants of the file are initialised.
port.postMessage(await scrub());
