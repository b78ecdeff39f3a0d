import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../primitives/hex.ts";
import { createBoundedCache } from "../storage/boundedCache.ts";
import { damaged, missing } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { codeKey } from "../storage/stateKeys.ts";

const CODE_OVERHEAD_BYTES = 300;

/** Contract code by hash, compared with it when it comes from disk; the code last used is kept, `cacheBytes` at most. */
export function createCodeReader(database: Database, cacheBytes: number): (codeHash: Hash) => Uint8Array {
  const cache = createBoundedCache<string, Uint8Array>(cacheBytes);
  return (codeHash) => {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES;
    const key = toKey(codeHash);
    const known = cache.get(key);
    if (known !== undefined) return known;
    const code = database.get(codeKey(codeHash));
    if (code === undefined) throw missing(`the contract code ${toHex(codeHash)}`);
    if (!equalBytes(keccak256(code), codeHash))
      throw damaged(`the contract code ${toHex(codeHash)}`, "it does not have that hash");
    cache.set(key, code, code.length + CODE_OVERHEAD_BYTES);
    return code;
  };
}
