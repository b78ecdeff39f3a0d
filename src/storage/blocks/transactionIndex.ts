import type { Hash } from "../../primitives/hash.ts";
import { toHex } from "../../primitives/hex.ts";
import type { Batch } from "../batch.ts";
import { openEntry, readUint32, sealEntry, writeUint32 } from "../checksum.ts";
import type { Database } from "../database.ts";
import { transactionKey } from "../keys.ts";

/** Block and index of a transaction. */
export interface TransactionPlace {
  readonly blockNumber: bigint;
  readonly index: number;
}

export function putTransactionPlace(batch: Batch, hash: Hash, place: TransactionPlace): void {
  const key = transactionKey(hash);
  batch.put(key, sealEntry(key, encodePlace(place)));
}

export function deleteTransactionPlace(batch: Batch, hash: Hash): void {
  batch.delete(transactionKey(hash));
}

/** Undefined when no stored block has a transaction of that hash. */
export function readTransactionPlace(database: Database, hash: Hash): TransactionPlace | undefined {
  const key = transactionKey(hash);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  return decodePlace(openEntry(key, sealed, () => `the index entry of transaction ${toHex(hash)}`));
}

/** Encodes number u64 and index u32, at fixed length: a full block has 12,000 of these. */
function encodePlace({ blockNumber, index }: TransactionPlace): Uint8Array {
  const bytes = new Uint8Array(PLACE_BYTES);
  const number = Number(blockNumber);
  writeUint32(bytes, 0, Math.floor(number / 2 ** 32));
  writeUint32(bytes, 4, number % 2 ** 32);
  writeUint32(bytes, 8, index);
  return bytes;
}

function decodePlace(bytes: Uint8Array): TransactionPlace {
  const number = readUint32(bytes, 0) * 2 ** 32 + readUint32(bytes, 4);
  return { blockNumber: BigInt(number), index: readUint32(bytes, 8) };
}

const PLACE_BYTES = 12;
