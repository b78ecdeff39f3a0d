import { assert } from "../../primitives/assert.ts";
import { BoundedCache } from "../../primitives/boundedCache.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { damaged, missing, openEntry } from "../../storage/checksum.ts";
import type { Database } from "../../storage/database.ts";
import { NO_BASE, readStateBase } from "../../storage/stateBase.ts";
import { baseNodeKey, triePageKey } from "../../storage/stateKeys.ts";
import { baseNodeVersion } from "./baseNode.ts";
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
 * Reads nodes from their pages, or from the base if they are there, and verifies each once against the hash in its parent.
 * Caches the most recently used pages, up to `cacheBytes`. Call `forget` after a rewind, because the same versions will be
 * written again.
 *
 * The base takes in later versions while this reads (state/removal/stateRemoval.ts). A version is in pages until it is in
 * the base, so a node found in neither place has moved between the two reads, or is gone with its state.
 */
export class PageReader implements NodeReader {
  private readonly source: PageSource;
  private readonly pages;
  /** The newest version in the base, as far as this reader knows. */
  private base = NO_BASE;

  constructor(source: PageSource, cacheBytes: number) {
    this.source = source;
    this.pages = new BoundedCache<string, Page>(cacheBytes);
  }

  read(trieId: number, key: Uint8Array, depth: number, node: StoredNode): PlacedRecord {
    assert(!node.isEmbedded, "an embedded node is read from its parent");
    const { version } = node;
    const inBase = version <= this.base ? this.baseNode(trieId, key, depth, version) : undefined;
    if (inBase !== undefined) return verifiedNode(inBase, 0, { trieId, key, depth, node });
    const page = this.page(trieId, key, node);
    if (page === undefined) return this.readAgain(trieId, key, depth, node);
    const offset = node.offset === PAGE_TOP ? pageTop(page.bytes) : node.offset;
    return verifiedNode(page, offset, { trieId, key, depth, node });
  }

  forget(): void {
    this.pages.forget(() => true);
  }

  /** Searches the base for a node that is in no page. */
  private readAgain(trieId: number, key: Uint8Array, depth: number, node: StoredNode): PlacedRecord {
    const { version, pageDepth } = node;
    this.base = readStateBase(this.source) ?? NO_BASE;
    const inBase = version <= this.base ? this.baseNode(trieId, key, depth, version) : undefined;
    if (inBase === undefined) throw missing(pageText(trieId, key, pageDepth, version));
    return verifiedNode(inBase, 0, { trieId, key, depth, node });
  }

  /** The page of a node; undefined when it is not stored. */
  private page(trieId: number, key: Uint8Array, { version, pageDepth }: StoredNode): Page | undefined {
    const pageKey = triePageKey(version, trieId, key, pageDepth);
    const text = textOf(pageKey);
    const known = this.pages.get(text);
    if (known !== undefined) return known;
    const sealed = this.source.get(pageKey);
    if (sealed === undefined) return undefined;
    const bytes = openEntry(pageKey, sealed, () => pageText(trieId, key, pageDepth, version));
    return this.keep(text, bytes);
  }

  /** The node in the base; undefined when there is none, or one of another version. */
  private baseNode(trieId: number, key: Uint8Array, depth: number, version: number): Page | undefined {
    const nodeKey = baseNodeKey(trieId, key, depth);
    const text = `base ${version} ${textOf(nodeKey)}`;
    const known = this.pages.get(text);
    if (known !== undefined) return known;
    const sealed = this.source.get(nodeKey);
    if (sealed === undefined) return undefined;
    const bytes = openEntry(
      nodeKey,
      sealed,
      () => `the base's trie node at ${placeText(trieId, key, depth)}`,
    );
    return baseNodeVersion(bytes) === version ? this.keep(text, bytes) : undefined;
  }

  private keep(text: string, bytes: Uint8Array): Page {
    const page = { bytes, verified: new Set<number>() };
    this.pages.set(text, page, bytes.length + PAGE_OVERHEAD_BYTES);
    return page;
  }
}

interface ReadPlace {
  readonly trieId: number;
  readonly key: Uint8Array;
  readonly depth: number;
  readonly node: StoredNode;
}

/** The record at `offset`, once its hash has been checked against the one in the parent of `node`. */
function verifiedNode(page: Page, offset: number, { trieId, key, depth, node }: ReadPlace): PlacedRecord {
  const { version, pageDepth } = node;
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

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");
}

function pageText(trieId: number, key: Uint8Array, depth: number, version: number): string {
  return `the trie page at ${placeText(trieId, key, depth)} of block ${version}`;
}

const PAGE_OVERHEAD_BYTES = 500;

export function pageTop(page: Uint8Array): number {
  return readU16(page, page.length - PAGE_TRAILER_LENGTH);
}

/** An entry of the base ends with its version, which is longer than a trailer. */
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
