import { BoundedCache } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../primitives/hex.ts";
import { checksumOf, damaged, missing } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { codeKey } from "../storage/stateKeys.ts";

/**
 * Reads contract code by hash and verifies what comes from disk: the first time against the hash, which takes 63 µs for 24
 * KB; later against the size and checksum of that first time, which takes 4 µs. Caches code up to `cacheBytes`, and always
 * the last code read. Once the cache is full, it takes in every eighth code that it lacks: if slightly more contracts than
 * fit are called in turn, it would otherwise drop each before its next turn.
 */
export class CodeReader {
  private readonly database: Database;
  private readonly cacheBytes: number;
  private readonly cache: BoundedCache<string, Uint8Array>;
  private readonly verified = new BoundedCache<string, VerifiedCode>(VERIFIED_CODES);
  private last: { readonly key: string; readonly code: Uint8Array } | undefined;
  /** Total bytes put into the cache so far. */
  private putBytes = 0;
  private notPut = 0;

  constructor(database: Database, cacheBytes: number) {
    this.database = database;
    this.cacheBytes = cacheBytes;
    this.cache = new BoundedCache<string, Uint8Array>(cacheBytes);
  }

  /** Contract code by its hash; empty for the hash of nothing. */
  code(codeHash: Hash): Uint8Array {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES;
    const key = toKey(codeHash);
    if (this.last?.key === key) return this.last.code;
    return this.cache.get(key) ?? this.read(codeHash, key);
  }

  /** Size of a contract's code, usually without loading the code. */
  codeSize(codeHash: Hash): number {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return 0;
    const key = toKey(codeHash);
    return this.verified.get(key)?.size ?? this.read(codeHash, key).length;
  }

  private keep(key: string, code: Uint8Array): void {
    const size = code.length + CODE_OVERHEAD_BYTES;
    if (size > this.cacheBytes) return;
    this.last = { key, code };
    if (this.putBytes + size > this.cacheBytes && ++this.notPut < PUT_EVERY) return;
    this.notPut = 0;
    this.putBytes += size;
    this.cache.set(key, code, size);
  }

  private read(codeHash: Hash, key: string): Uint8Array {
    const code = this.database.get(codeKey(codeHash));
    if (code === undefined) throw missing(`the contract code ${toHex(codeHash)}`);
    const known = this.verified.get(key);
    const checksum = checksumOf(EMPTY_BYTES, code);
    const isSound =
      known === undefined
        ? equalBytes(keccak256(code), codeHash)
        : known.size === code.length && known.checksum === checksum;
    if (!isSound) throw damaged(`the contract code ${toHex(codeHash)}`, "it does not have that hash");
    if (known === undefined) this.verified.set(key, { size: code.length, checksum }, 1);
    this.keep(key, code);
    return code;
  }
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
