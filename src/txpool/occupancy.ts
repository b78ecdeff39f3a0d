import type { Transaction } from "../types/transaction.ts";

/** Memory of a decoded item of an access list without its storage keys, of a storage key, and of an authorization, in bytes. */
const ACCESS_ENTRY_BYTES = 150;
const STORAGE_KEY_BYTES = 110;
const AUTHORIZATION_BYTES = 350;

/**
 * Bytes of memory that the contents of a transaction occupy: its encoding, and its lists as objects, which take three to ten
 * times their bytes. The number of entries bounds the rest, some 2 kB for each (limits.ts).
 */
export function occupiedBytes({ raw, accessList, authorizationList }: Transaction): number {
  let bytes = raw.length + authorizationList.length * AUTHORIZATION_BYTES;
  for (const { storageKeys } of accessList) {
    bytes += ACCESS_ENTRY_BYTES + storageKeys.length * STORAGE_KEY_BYTES;
  }
  return bytes;
}
