import { RLP } from "@ethereumjs/rlp";
import { assert } from "../primitives/assert.ts";
import { asHash } from "../primitives/hash.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import type { Account } from "../types/account.ts";

/** The account in a leaf of the account trie: RLP of [nonce, balance, storageRoot, codeHash]. */
export function decodeAccount(leaf: Uint8Array): Account {
  const items = RLP.decode(leaf);
  const [nonce, balance, storageRoot, codeHash] = Array.isArray(items) ? items : [];
  assert(
    nonce instanceof Uint8Array &&
      balance instanceof Uint8Array &&
      storageRoot instanceof Uint8Array &&
      codeHash instanceof Uint8Array,
    "a verified account leaf has four fields",
  );
  return {
    nonce: bytesToBigint(nonce),
    balance: bytesToBigint(balance),
    storageRoot: asHash(Uint8Array.from(storageRoot)),
    codeHash: asHash(Uint8Array.from(codeHash)),
  };
}

/** The value in a leaf of a storage trie: RLP of its bytes without leading zeros. */
export function decodeSlotValue(leaf: Uint8Array): Uint8Array {
  return leaf.slice(leaf.length === 1 && (leaf[0] ?? 0) < 0x80 ? 0 : 1);
}

/** A slot has at most 32 bytes, so its length always fits the first byte. */
export function encodeSlotValue(value: Uint8Array): Uint8Array {
  if (value.length === 1 && (value[0] ?? 0) < 0x80) return value;
  const leaf = new Uint8Array(1 + value.length);
  leaf[0] = 0x80 + value.length;
  leaf.set(value, 1);
  return leaf;
}
