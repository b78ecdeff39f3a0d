import { BoundedCache } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../primitives/hex.ts";
import { checksumOf, damaged, missing } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { codeKey } from "../storage/stateKeys.ts";

export interface CodeReader {
  /** Contract code by its hash; empty for the hash of nothing. */
  code(codeHash: Hash): Uint8Array;
  /** Size of a contract's code, usually without loading the code. */
  codeSize(codeHash: Hash): number;
}

/**
 * Reads contract code by hash and verifies what comes from disk: the first time against the hash, which takes 63 µs for 24
 * KB; later against the size and checksum of that first time, which takes 4 µs. Caches code up to `cacheBytes`, and always
 * the last code read. Once the cache is full, it takes in every eighth code that it lacks: if slightly more contracts than
 * fit are called in turn, it would otherwise drop each before its next turn.
 */
export function createCodeReader(database: Database, cacheBytes: number): CodeReader {
  const cache = new BoundedCache<string, Uint8Array>(cacheBytes);
  const verified = new BoundedCache<string, VerifiedCode>(VERIFIED_CODES);
  let last: { readonly key: string; readonly code: Uint8Array } | undefined;
  /** Total bytes put into the cache so far. */
  let putBytes = 0;
  let notPut = 0;

  function keep(key: string, code: Uint8Array): void {
    const size = code.length + CODE_OVERHEAD_BYTES;
    if (size > cacheBytes) return;
    last = { key, code };
    if (putBytes + size > cacheBytes && ++notPut < PUT_EVERY) return;
    notPut = 0;
    putBytes += size;
    cache.set(key, code, size);
  }

  function read(codeHash: Hash, key: string): Uint8Array {
    const code = database.get(codeKey(codeHash));
    if (code === undefined) throw missing(`the contract code ${toHex(codeHash)}`);
    const known = verified.get(key);
    const checksum = checksumOf(EMPTY_BYTES, code);
    const isSound =
      known === undefined
        ? equalBytes(keccak256(code), codeHash)
        : known.size === code.length && known.checksum === checksum;
    if (!isSound) throw damaged(`the contract code ${toHex(codeHash)}`, "it does not have that hash");
    if (known === undefined) verified.set(key, { size: code.length, checksum }, 1);
    keep(key, code);
    return code;
  }

  return {
    code(codeHash) {
      if (equalBytes(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES;
      const key = toKey(codeHash);
      if (last?.key === key) return last.code;
      return cache.get(key) ?? read(codeHash, key);
    },
    codeSize(codeHash) {
      if (equalBytes(codeHash, EMPTY_CODE_HASH)) return 0;
      const key = toKey(codeHash);
      return verified.get(key)?.size ?? read(codeHash, key).length;
    },
  };
}

/** Size and checksum of code that matched its hash. */
interface VerifiedCode {
  readonly size: number;
  readonly checksum: number;
}

/** Number of entries of size and checksum, some 6 MB. */
const VERIFIED_CODES = 32_768;
const CODE_OVERHEAD_BYTES = 300;
const PUT_EVERY = 8;
