import { bigintToBytes } from "../../src/primitives/quantity.ts";
import { encodeRlp } from "../../src/primitives/rlp.ts";
import type { Account } from "../../src/types/account.ts";

/** RLP of [nonce, balance, storageRoot, codeHash], the value of a leaf of the state trie. */
export function encodeAccount(account: Account): Uint8Array {
  return encodeRlp([
    bigintToBytes(account.nonce),
    bigintToBytes(account.balance),
    account.storageRoot,
    account.codeHash,
  ]);
}
