import { assert } from "../../primitives/assert.ts";
import { createBoundedCache } from "../../primitives/boundedCache.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { damaged, missing, openEntry } from "../../storage/checksum.ts";
import type { Database } from "../../storage/database.ts";
import { triePageKey } from "../../storage/stateKeys.ts";
import { pathText } from "./nibbles.ts";
import { itemEnd } from "./nodeRlp.ts";
import { PAGE_TOP, type PlacedRecord, readU16, rlpStart, type StoredNode } from "./storedNode.ts";

/** Reads the records of trie nodes. The first `depth` nibbles of `key` are the path to the node. */
export interface NodeReader {
  read(trieId: number, key: Uint8Array, depth: number, node: StoredNode): PlacedRecord;
}

/** Bytes after the nodes of a page: the offset of its topmost node. */
export const PAGE_TRAILER_LENGTH = 2;

/** A source of pages with their checksums: a database, or a map of unsaved pages. */
export type PageSource = Pick<Database, "get">;

interface Page {
  readonly bytes: Uint8Array;
  /** Offsets of the nodes whose hash was verified against the reference in their parent. */
  readonly verified: Set<number>;
}

/**
 * Reads nodes from their pages and verifies each once against the hash in its parent. Caches the pages last used, up to
 * `cacheBytes`. Call `forget` after a rewind, because the same versions will be written again.
 */
export class PageReader implements NodeReader {
  private readonly source: PageSource;
  private readonly pages;

  constructor(source: PageSource, cacheBytes: number) {
    this.source = source;
    this.pages = createBoundedCache<string, Page>(cacheBytes);
  }

  read(trieId: number, key: Uint8Array, depth: number, node: StoredNode): PlacedRecord {
    assert(!node.isEmbedded, "an embedded node is read from its parent");
    const { version, pageDepth } = node;
    const page = this.page(trieId, key, node);
    const offset = node.offset === PAGE_TOP ? pageTop(page.bytes) : node.offset;
    if (!page.verified.has(offset)) {
      if (!isNode(page.bytes, offset, node))
        throw damaged(
          `the trie node at ${placeText(trieId, key, depth)} of block ${version}`,
          "its hash differs from the one in its parent",
        );
      page.verified.add(offset);
    }
    return { bytes: page.bytes, start: offset, version, pageDepth, offset };
  }

  forget(): void {
    this.pages.forget(() => true);
  }

  private page(trieId: number, key: Uint8Array, { version, pageDepth }: StoredNode): Page {
    const pageKey = triePageKey(version, trieId, key, pageDepth);
    const text = Buffer.from(pageKey.buffer, pageKey.byteOffset, pageKey.length).toString("latin1");
    const known = this.pages.get(text);
    if (known !== undefined) return known;
    const what = () => `the trie page at ${placeText(trieId, key, pageDepth)} of block ${version}`;
    const sealed = this.source.get(pageKey);
    if (sealed === undefined) throw missing(what());
    const page = { bytes: openEntry(pageKey, sealed, what), verified: new Set<number>() };
    this.pages.set(text, page, page.bytes.length + PAGE_OVERHEAD_BYTES);
    return page;
  }
}

const PAGE_OVERHEAD_BYTES = 500;

export function pageTop(page: Uint8Array): number {
  return readU16(page, page.length - PAGE_TRAILER_LENGTH);
}

function isNode(page: Uint8Array, offset: number, node: StoredNode): boolean {
  if (offset >= page.length - PAGE_TRAILER_LENGTH) return false;
  const rlp = rlpStart(page, offset);
  const end = itemEnd(page, rlp);
  if (end > page.length - PAGE_TRAILER_LENGTH) return false;
  const hash = keccak256(page.subarray(rlp, end));
  const { referenceBytes, referenceStart } = node;
  for (let i = 0; i < hash.length; i++) if (hash[i] !== referenceBytes[referenceStart + i]) return false;
  return true;
}

function placeText(trieId: number, key: Uint8Array, depth: number): string {
  return `${trieId === 0 ? "accounts" : `storage ${trieId}`}/${pathText(key, depth)}`;
}
