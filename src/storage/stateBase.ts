import type { Batch } from "./batch.ts";
import { RecordReader, RecordWriter } from "./blocks/byteRecord.ts";
import { openEntry, sealEntry } from "./checksum.ts";
import type { Database } from "./database.ts";
import { metaKey } from "./keys.ts";

/** Stands for the base of a database that has none yet: no version is that old. */
export const NO_BASE = -1;

/**
 * The newest version whose trie nodes are in the base (state/removal/stateRemoval.ts): nodes of later versions are only in
 * pages. NO_BASE before the first removal has ended; undefined if `--state-history` was never used.
 */
export function readStateBase(database: Pick<Database, "get">): number | undefined {
  const sealed = database.get(BASE_KEY);
  if (sealed === undefined) return undefined;
  const reader = new RecordReader(openEntry(BASE_KEY, sealed, "the record of the base of the states"));
  return reader.number() - 1;
}

export function putStateBase(batch: Batch, version: number): void {
  const writer = new RecordWriter(10);
  writer.number(version + 1);
  batch.put(BASE_KEY, sealEntry(BASE_KEY, writer.finish()));
}

const BASE_KEY = metaKey("base");
