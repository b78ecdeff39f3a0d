import { RecordReader, RecordWriter } from "./blocks/byteRecord.ts";
import { openEntry, sealEntry } from "./checksum.ts";
import type { Batch, Database } from "./database.ts";
import { metaKey } from "./keys.ts";

/**
 * Where the stored history begins. A chain fetched from its genesis has everything; one that was imported from a snapshot
 * (operating.md#snapshots) has, besides the genesis block, only headers from `headers` on, and whole blocks with their
 * receipts and states from `blocks` on. Below these numbers a missing entry is no damage.
 */
export interface HistoryStart {
  readonly headers: bigint;
  /** At least `headers`. The genesis block is stored anyway, its state is not. */
  readonly blocks: bigint;
}

export const WHOLE_HISTORY: HistoryStart = { headers: 0n, blocks: 0n };

export function putHistoryStart(batch: Batch, { headers, blocks }: HistoryStart): void {
  const writer = new RecordWriter(20);
  writer.number(Number(headers));
  writer.number(Number(blocks));
  batch.put(HISTORY_KEY, sealEntry(HISTORY_KEY, writer.finish()));
}

export function readHistoryStart(database: Pick<Database, "get">): HistoryStart {
  const sealed = database.get(HISTORY_KEY);
  if (sealed === undefined) return WHOLE_HISTORY;
  const reader = new RecordReader(openEntry(HISTORY_KEY, sealed, "the record of where the history begins"));
  return { headers: BigInt(reader.number()), blocks: BigInt(reader.number()) };
}

const HISTORY_KEY = metaKey("history");
