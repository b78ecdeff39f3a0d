import type { Hash } from "../primitives/hash.ts";
import type { Batch } from "../storage/batch.ts";
import { openEntry, sealEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { preimageKey } from "../storage/stateKeys.ts";

/**
 * Tries identify accounts and slots by their hashes alone. Addresses and slots are stored from their first use on, for
 * methods that list them (debug_accountRange, debug_storageRangeAt); nothing else needs them, and a rewind keeps them.
 */
export function putPreimage(batch: Batch, hash: Hash, preimage: Uint8Array): void {
  const key = preimageKey(hash);
  batch.put(key, sealEntry(key, preimage));
}

/** Reads a preimage; undefined in a database that was created before preimages were stored. */
export function readPreimage(database: Database, hash: Uint8Array): Uint8Array | undefined {
  const key = preimageKey(hash);
  const sealed = database.get(key);
  return sealed === undefined ? undefined : Uint8Array.from(openEntry(key, sealed, "the preimage of a hash"));
}
