import type { Steps } from "../../primitives/steps.ts";
import { readUint32, SEAL_BYTES, writeUint32 } from "../../storage/checksum.ts";
import type { Database } from "../../storage/database.ts";
import { parseTrieKey } from "../../storage/stateKeys.ts";
import { ByteCache } from "../byteCache.ts";
import { itemEnd } from "./nodeRlp.ts";
import { type NodeReader, PageReader } from "./pageReader.ts";
import {
  BRANCH,
  EXTENSION,
  type PlacedRecord,
  readU16,
  rlpStart,
  type StoredNode,
  writeU16,
} from "./storedNode.ts";
import { walkPage } from "./walkPage.ts";

/** A page that a stage wrote, as it is stored. */
export interface NewPage {
  readonly key: Uint8Array;
  readonly page: Uint8Array;
}

/** Size of the cache of recently read pages: the nodes of one page are read one after another. */
const PAGE_CACHE_BYTES = 4 * 1024 * 1024;
const KEY_LENGTH = 32;
/** Bytes of pages whose nodes are cached in a step: less than a millisecond. A page has up to 64 KiB. */
const STEP_BYTES = 32 * 1024;

/** Location that is cached with a record: version u32, page depth u8, offset u16. */
const PLACE_LENGTH = 7;
/** The cache's key: trie id u48, depth u8, path. */
const CACHE_KEY_HEADER = 7;

/**
 * Nodes of the head's tries. Caches branches and extensions that were read or written, up to the limit, but no leaves,
 * which updates do not read. A cached record is used only for the version that wrote it.
 */
export class HeadNodes implements NodeReader {
  private readonly cache: ByteCache;
  private readonly pages: PageReader;
  private readonly cacheKey = new Uint8Array(CACHE_KEY_HEADER + KEY_LENGTH);
  private entry = new Uint8Array(1024);

  constructor(database: Database, limits: { readonly nodeCacheBytes: number }) {
    this.cache = new ByteCache(limits.nodeCacheBytes);
    this.pages = new PageReader(database, PAGE_CACHE_BYTES);
  }

  read(trieId: number, key: Uint8Array, depth: number, node: StoredNode): PlacedRecord {
    const { version } = node;
    const found = this.cache.find(this.cacheKey, this.writeCacheKey(trieId, key, depth));
    if (found !== undefined && readUint32(found.bytes, found.start) === version) {
      const { bytes, start } = found;
      const pageDepth = bytes[start + 4] ?? 0;
      return { bytes, start: start + PLACE_LENGTH, version, pageDepth, offset: readU16(bytes, start + 5) };
    }
    const record = this.pages.read(trieId, key, depth, node);
    const kind = record.bytes[record.start];
    if (kind === BRANCH || kind === EXTENSION) this.keep(trieId, key, depth, record);
    return record;
  }

  /**
   * Caches the nodes of a state that is, or will be, the head's. A cached node is used only for the version that wrote it,
   * and no other head reads that version: so this is safe before the state is adopted, and even if it never is.
   */
  *adoptInSteps(pages: readonly NewPage[]): Steps<void> {
    let work = STEP_BYTES;
    for (const { key, page } of pages) {
      work += page.length;
      if (work > STEP_BYTES) {
        work = 0;
        yield;
      }
      const { version, trieId, page: place } = parseTrieKey(key);
      if (place === undefined) continue;
      walkPage(page.subarray(0, page.length - SEAL_BYTES), { ...place, version }, KEY_LENGTH, {
        inner: (record, path, depth) => this.keep(trieId, path, depth, record),
      });
    }
  }

  /** Clears the caches, after a rewind. */
  forget(): void {
    this.cache.clear();
    this.pages.forget();
  }

  private keep(trieId: number, key: Uint8Array, depth: number, record: PlacedRecord): void {
    const { bytes, start, version, pageDepth, offset } = record;
    const end = itemEnd(bytes, rlpStart(bytes, start));
    const length = PLACE_LENGTH + end - start;
    if (length > this.entry.length) this.entry = new Uint8Array(2 * length);
    const entry = this.entry;
    writeUint32(entry, 0, version);
    entry[4] = pageDepth;
    writeU16(entry, 5, offset);
    entry.set(bytes.subarray(start, end), PLACE_LENGTH);
    this.cache.put(this.cacheKey, { bytes: entry, start: 0, length }, this.writeCacheKey(trieId, key, depth));
  }

  /** Returns the length of the key. */
  private writeCacheKey(trieId: number, key: Uint8Array, depth: number): number {
    const { cacheKey } = this;
    writeU16(cacheKey, 0, Math.floor(trieId / 2 ** 32));
    writeUint32(cacheKey, 2, trieId % 2 ** 32);
    cacheKey[6] = depth;
    const whole = depth >> 1;
    for (let i = 0; i < whole; i++) cacheKey[CACHE_KEY_HEADER + i] = key[i] ?? 0;
    if ((depth & 1) === 1) cacheKey[CACHE_KEY_HEADER + whole] = (key[whole] ?? 0) & 0xf0;
    return CACHE_KEY_HEADER + whole + (depth & 1);
  }
}
