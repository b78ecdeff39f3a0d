import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, type Hash } from "../primitives/hash.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
import { encodeRlp } from "../primitives/rlp.ts";

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

/** RLP of [nonce, balance, storageRoot, codeHash], the value of a leaf of the state trie. */
export function encodeAccount(account: Account): Uint8Array {
  return encodeRlp([
    bigintToBytes(account.nonce),
    bigintToBytes(account.balance),
    account.storageRoot,
    account.codeHash,
  ]);
}
