import type { Batch } from "./batch.ts";
import { RecordReader, RecordWriter } from "./blocks/byteRecord.ts";
import { openEntry, sealEntry } from "./checksum.ts";
import type { Database } from "./database.ts";
import { metaKey } from "./keys.ts";

/**
 * Where the stored history begins. A chain fetched from its genesis has everything; one that was imported from a snapshot
 * (operating.md#snapshots) has, besides the genesis block, only headers from `headers` on, and whole blocks with their
 * receipts from `blocks` on. While the node runs, `--block-history` moves `blocks` on (removal/blockRemover.ts), and
 * `--state-history` moves `states` (state/removal/stateRemover.ts). Below these numbers a missing entry is no damage, and a block that
 * is still there is not read.
 */
export interface HistoryStart {
  readonly headers: bigint;
  /** First block that is stored whole, at least `headers`. The genesis block is always stored, without its state. */
  readonly blocks: bigint;
  /** States are readable from the one after this block on; at least `blocks`. */
  readonly states: bigint;
}

export const WHOLE_HISTORY: HistoryStart = { headers: 0n, blocks: 0n, states: 0n };

/** When the states begin with the blocks, the record is that of 0.2.0, which knows no other form. */
export function putHistoryStart(batch: Batch, { headers, blocks, states }: HistoryStart): void {
  const writer = new RecordWriter(30);
  writer.number(Number(headers));
  writer.number(Number(blocks));
  if (states > blocks) writer.number(Number(states));
  batch.put(HISTORY_KEY, sealEntry(HISTORY_KEY, writer.finish()));
}

export function readHistoryStart(database: Pick<Database, "get">): HistoryStart {
  const sealed = database.get(HISTORY_KEY);
  if (sealed === undefined) return WHOLE_HISTORY;
  const reader = new RecordReader(openEntry(HISTORY_KEY, sealed, "the record of where the history begins"));
  const [headers, blocks] = [BigInt(reader.number()), BigInt(reader.number())];
  return { headers, blocks, states: reader.isAtEnd ? blocks : BigInt(reader.number()) };
}

/** Whether a block is stored whole, not only its header: it is the genesis block, or not before the start of the blocks. */
export function isWithin({ blocks }: HistoryStart, number: bigint): boolean {
  return number === 0n || number >= blocks;
}

const HISTORY_KEY = metaKey("history");
