import { asHash, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/quantity.ts";
import { readUint32, writeUint32 } from "../storage/checksum.ts";
import type { Account } from "../types/account.ts";
import { NO_STORAGE, type StoragePointer } from "./trie/nodeRecord.ts";

/** An account at the head, and where its storage trie is. */
export interface FlatAccount {
  readonly account: Account;
  readonly storage: StoragePointer;
}

const HAS_CODE = 1;
const HAS_STORAGE = 2;
const TWO_TO_32 = 2 ** 32;

/**
 * flags u8 | length u8, nonce | length u8, balance | code hash, when there is code | storage root, trie id u64 and
 * version of the root u32, when there is storage. Most accounts take some fifteen bytes.
 */
export function encodeFlatAccount({ account, storage }: FlatAccount): Uint8Array {
  const nonce = bigintToBytes(account.nonce);
  const balance = bigintToBytes(account.balance);
  const hasCode = !equalBytes(account.codeHash, EMPTY_CODE_HASH);
  const hasStorage = storage.trieId !== 0;
  const length = 3 + nonce.length + balance.length + (hasCode ? 32 : 0) + (hasStorage ? 44 : 0);
  const bytes = new Uint8Array(length);
  bytes[0] = (hasCode ? HAS_CODE : 0) | (hasStorage ? HAS_STORAGE : 0);
  bytes[1] = nonce.length;
  bytes.set(nonce, 2);
  let at = 2 + nonce.length;
  bytes[at++] = balance.length;
  bytes.set(balance, at);
  at += balance.length;
  if (hasCode) {
    bytes.set(account.codeHash, at);
    at += 32;
  }
  if (hasStorage) {
    bytes.set(account.storageRoot, at);
    writeUint32(bytes, at + 32, Math.floor(storage.trieId / TWO_TO_32));
    writeUint32(bytes, at + 36, storage.trieId % TWO_TO_32);
    writeUint32(bytes, at + 40, storage.version);
  }
  return bytes;
}

/** Reads what encodeFlatAccount wrote, whose checksum has been compared. */
export function decodeFlatAccount(bytes: Uint8Array): FlatAccount {
  const flags = bytes[0] ?? 0;
  const balanceAt = 2 + (bytes[1] ?? 0);
  const nonce = bytesToBigint(bytes.subarray(2, balanceAt));
  let at = balanceAt + 1 + (bytes[balanceAt] ?? 0);
  const balance = bytesToBigint(bytes.subarray(balanceAt + 1, at));
  let codeHash = EMPTY_CODE_HASH;
  if ((flags & HAS_CODE) !== 0) {
    codeHash = asHash(bytes.slice(at, at + 32));
    at += 32;
  }
  if ((flags & HAS_STORAGE) === 0)
    return { account: { nonce, balance, storageRoot: EMPTY_TRIE_ROOT, codeHash }, storage: NO_STORAGE };
  const storageRoot = asHash(bytes.slice(at, at + 32));
  const trieId = readUint32(bytes, at + 32) * TWO_TO_32 + readUint32(bytes, at + 36);
  const storage = { trieId, version: readUint32(bytes, at + 40) };
  return { account: { nonce, balance, storageRoot, codeHash }, storage };
}
