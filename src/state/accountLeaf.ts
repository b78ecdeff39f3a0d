import { assert } from "../primitives/assert.ts";
import { asHash } from "../primitives/hash.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import { readRlp } from "../primitives/rlp.ts";
import type { Account } from "../types/account.ts";
import type { ByteArena } from "./byteArena.ts";
import { scalarLength, writeScalar } from "./scalar.ts";
import { headerLength, writeHeader } from "./trie/nodeRlp.ts";

/** Like encodeAccount of types/account.ts, in an eighth of the time: a full block encodes 24,000 accounts. */
export function encodeAccountLeaf(
  { nonce, balance, storageRoot, codeHash }: Account,
  arena: ByteArena,
): Uint8Array {
  const nonceLength = scalarLength(nonce);
  const balanceLength = scalarLength(balance);
  const payload = scalarItemLength(nonce, nonceLength) + scalarItemLength(balance, balanceLength) + 2 * 33;
  const bytes = arena.allocate(headerLength(payload) + payload);
  let at = writeHeader(bytes, 0, payload, 0xc0);
  at = writeScalarItem(bytes, at, nonce, nonceLength);
  at = writeScalarItem(bytes, at, balance, balanceLength);
  bytes[at] = 0xa0;
  bytes.set(storageRoot, at + 1);
  bytes[at + 33] = 0xa0;
  bytes.set(codeHash, at + 34);
  return bytes;
}

function scalarItemLength(value: bigint, length: number): number {
  return length === 1 && value < 0x80n ? 1 : 1 + length;
}

function writeScalarItem(bytes: Uint8Array, start: number, value: bigint, length: number): number {
  if (length === 1 && value < 0x80n) return writeScalar(bytes, start, value, length);
  bytes[start] = 0x80 + length;
  return writeScalar(bytes, start + 1, value, length);
}

/** The account in a leaf of the account trie: RLP of [nonce, balance, storageRoot, codeHash]. */
export function decodeAccount(leaf: Uint8Array): Account {
  const [nonce, balance, storageRoot, codeHash] = readRlp(leaf, 1);
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
