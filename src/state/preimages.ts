import type { Hash } from "../primitives/hash.ts";
import { openEntry, sealEntry } from "../storage/checksum.ts";
import type { Batch, Database } from "../storage/database.ts";
import { preimageKey } from "../storage/stateKeys.ts";

/**
 * Tries know accounts and slots by their hashes alone. What was hashed is kept beside them from their first use on, for
 * those who list what there is (debug_accountRange, debug_storageRangeAt); nothing else needs it, and a rewind leaves it.
 */
export function putPreimage(batch: Batch, hash: Hash, preimage: Uint8Array): void {
  const key = preimageKey(hash);
  batch.put(key, sealEntry(key, preimage));
}

/** Undefined in a database that was begun before preimages were kept. */
export function readPreimage(database: Database, hash: Uint8Array): Uint8Array | undefined {
  const key = preimageKey(hash);
  const sealed = database.get(key);
  return sealed === undefined ? undefined : Uint8Array.from(openEntry(key, sealed, "the preimage of a hash"));
}
