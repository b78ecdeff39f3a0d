import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, type Hash } from "../primitives/hash.ts";

/** The value of an address in the state trie (yellow paper §4.1). Balance in wei. */
export interface Account {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly storageRoot: Hash;
  readonly codeHash: Hash;
}

export const EMPTY_ACCOUNT: Account = {
  nonce: 0n,
  balance: 0n,
  storageRoot: EMPTY_TRIE_ROOT,
  codeHash: EMPTY_CODE_HASH,
};
