import { createBoundedCache } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../primitives/hex.ts";
import { checksumOf, damaged, missing } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { codeKey } from "../storage/stateKeys.ts";

export interface CodeReader {
  /** Contract code by its hash; empty for the hash of nothing. */
  code(codeHash: Hash): Uint8Array;
  /** Its size, mostly without a look at the code. */
  codeSize(codeHash: Hash): number;
}

/**
 * Contract code by hash. What comes from disk is never believed: the first time it is compared with the hash, which takes
 * 63 µs for 24 KB; from then on with the size and the checksum that it had then, which takes 4 µs. The code last used is
 * kept, `cacheBytes` at most.
 */
export function createCodeReader(database: Database, cacheBytes: number): CodeReader {
  const cache = createBoundedCache<string, Uint8Array>(cacheBytes);
  const sound = createBoundedCache<string, SoundCode>(KNOWN_CODES);

  function read(codeHash: Hash, key: string): Uint8Array {
    const code = database.get(codeKey(codeHash));
    if (code === undefined) throw missing(`the contract code ${toHex(codeHash)}`);
    const known = sound.get(key);
    const checksum = checksumOf(EMPTY_BYTES, code);
    const isSound =
      known === undefined
        ? equalBytes(keccak256(code), codeHash)
        : known.size === code.length && known.checksum === checksum;
    if (!isSound) throw damaged(`the contract code ${toHex(codeHash)}`, "it does not have that hash");
    if (known === undefined) sound.set(key, { size: code.length, checksum }, 1);
    cache.set(key, code, code.length + CODE_OVERHEAD_BYTES);
    return code;
  }

  return {
    code(codeHash) {
      if (equalBytes(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES;
      const key = toKey(codeHash);
      return cache.get(key) ?? read(codeHash, key);
    },
    codeSize(codeHash) {
      if (equalBytes(codeHash, EMPTY_CODE_HASH)) return 0;
      const key = toKey(codeHash);
      return sound.get(key)?.size ?? read(codeHash, key).length;
    },
  };
}

/** What code had whose hash was found right. */
interface SoundCode {
  readonly size: number;
  readonly checksum: number;
}

/** Codes of which size and checksum are kept, in some 6 MB. */
const KNOWN_CODES = 32_768;
const CODE_OVERHEAD_BYTES = 300;
