import { asHash, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { readUint32, writeUint32 } from "../storage/checksum.ts";
import type { Account } from "../types/account.ts";
import { readScalar, scalarLength, writeScalar } from "./scalar.ts";
import { NO_STORAGE, type StoragePointer } from "./trie/storedNode.ts";

/** An account at the head, with the pointer to its storage trie. */
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
  const nonceLength = scalarLength(account.nonce);
  const balanceLength = scalarLength(account.balance);
  const hasCode = !equalBytes(account.codeHash, EMPTY_CODE_HASH);
  const hasStorage = storage.trieId !== 0;
  const length = 3 + nonceLength + balanceLength + (hasCode ? 32 : 0) + (hasStorage ? 44 : 0);
  const bytes = Buffer.allocUnsafe(length);
  bytes[0] = (hasCode ? HAS_CODE : 0) | (hasStorage ? HAS_STORAGE : 0);
  bytes[1] = nonceLength;
  let at = writeScalar(bytes, 2, account.nonce, nonceLength);
  bytes[at] = balanceLength;
  at = writeScalar(bytes, at + 1, account.balance, balanceLength);
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

/** Decodes what encodeFlatAccount wrote, beginning at `start`. The checksum must have been verified. */
export function decodeFlatAccount(bytes: Uint8Array, start = 0): FlatAccount {
  const flags = bytes[start] ?? 0;
  const nonceLength = bytes[start + 1] ?? 0;
  const nonce = readScalar(bytes, start + 2, nonceLength);
  let at = start + 2 + nonceLength;
  const balanceLength = bytes[at] ?? 0;
  const balance = readScalar(bytes, at + 1, balanceLength);
  at += 1 + balanceLength;
  let codeHash = EMPTY_CODE_HASH;
  if ((flags & HAS_CODE) !== 0) {
    codeHash = asHash(Uint8Array.prototype.slice.call(bytes, at, at + 32));
    at += 32;
  }
  if ((flags & HAS_STORAGE) === 0)
    return { account: { nonce, balance, storageRoot: EMPTY_TRIE_ROOT, codeHash }, storage: NO_STORAGE };
  const storageRoot = asHash(Uint8Array.prototype.slice.call(bytes, at, at + 32));
  const trieId = readUint32(bytes, at + 32) * TWO_TO_32 + readUint32(bytes, at + 36);
  const storage = { trieId, version: readUint32(bytes, at + 40) };
  return { account: { nonce, balance, storageRoot, codeHash }, storage };
}
