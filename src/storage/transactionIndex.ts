import type { Hash } from "../primitives/hash.ts";
import { toHex } from "../primitives/hex.ts";
import { RecordReader, RecordWriter } from "./byteRecord.ts";
import { openEntry, sealEntry } from "./checksum.ts";
import type { Batch, Database } from "./database.ts";
import { transactionKey } from "./keys.ts";

/** Where on the chain a transaction is. */
export interface TransactionPlace {
  readonly blockNumber: bigint;
  readonly index: number;
}

export function putTransactionPlace(batch: Batch, hash: Hash, place: TransactionPlace): void {
  const key = transactionKey(hash);
  const writer = new RecordWriter(12);
  writer.number(Number(place.blockNumber));
  writer.number(place.index);
  batch.put(key, sealEntry(key, writer.finish()));
}

export function deleteTransactionPlace(batch: Batch, hash: Hash): void {
  batch.delete(transactionKey(hash));
}

/** Undefined when no stored block has a transaction of that hash. */
export function readTransactionPlace(database: Database, hash: Hash): TransactionPlace | undefined {
  const key = transactionKey(hash);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  const reader = new RecordReader(
    openEntry(key, sealed, () => `the index entry of transaction ${toHex(hash)}`),
  );
  return { blockNumber: BigInt(reader.number()), index: reader.number() };
}
