import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Account } from "../types/account.ts";

/** The state of all accounts at one moment, read synchronously. Throws DamagedData when stored data is damaged. */
export interface StateReader {
  /** Undefined for an account that does not exist. */
  account(address: Address): Account | undefined;
  /** Value of a storage slot as big-endian bytes without leading zeros; empty when unset. `slot` has 32 bytes. */
  storage(address: Address, slot: Uint8Array): Uint8Array;
  /** Contract code by its hash; empty for the hash of nothing. */
  code(codeHash: Hash): Uint8Array;
  /** Size of that code, from readers that know it without loading the code. */
  codeSize?(codeHash: Hash): number;
}
