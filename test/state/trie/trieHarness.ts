import { EMPTY_CODE_HASH } from "../../../src/primitives/hash.ts";
import { compareBytes } from "../../../src/primitives/hex.ts";
import { ByteArena } from "../../../src/state/byteArena.ts";
import { findLeaf, type TrieSource } from "../../../src/state/trie/findLeaf.ts";
import { PageReader } from "../../../src/state/trie/pageReader.ts";
import type { LeafContents } from "../../../src/state/trie/readNode.ts";
import { EMPTY_TRIE, type TrieRoot } from "../../../src/state/trie/trieRoot.ts";
import { updateTrie } from "../../../src/state/trie/updateTrie.ts";
import { Batch } from "../../../src/storage/batch.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";

/** One trie with its own database, and the root after each version. */
export class TrieHarness {
  readonly database: Database = createMemoryDatabase();
  readonly roots: TrieRoot[] = [EMPTY_TRIE];
  /** Key (hex) to value after the newest version. */
  readonly contents = new Map<string, Uint8Array>();
  private readonly trieId: number;

  constructor(trieId = 7) {
    this.trieId = trieId;
  }

  get root(): TrieRoot {
    return this.roots.at(-1) ?? EMPTY_TRIE;
  }

  /** Applies puts and deletions (undefined) as one version, with a reader without cache. */
  async apply(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<TrieRoot> {
    const batch = new Batch();
    const list = [...changes]
      .map(([text, value]) => ({ key: bytesOf(text), value, existed: this.contents.has(text) }))
      .filter(({ value, existed }) => value !== undefined || existed)
      .sort((a, b) => compareBytes(a.key, b.key));
    const version = this.roots.length;
    const root = updateTrie(
      {
        trieId: this.trieId,
        version,
        reader: this.reader(),
        sink: (key, page) => batch.put(key, page),
        arena: new ByteArena(),
      },
      this.root,
      list,
    );
    await this.database.write(batch);
    for (const [text, value] of changes) {
      if (value === undefined) this.contents.delete(text);
      else this.contents.set(text, value);
    }
    this.roots.push(root);
    return root;
  }

  find(
    text: string,
    root: TrieRoot = this.root,
    visit?: (rlp: Uint8Array) => void,
  ): LeafContents | undefined {
    return findLeaf(this.source(root), bytesOf(text), visit);
  }

  /** A source for walks over the whole trie. */
  source(root: TrieRoot = this.root): TrieSource {
    return { reader: this.reader(), trieId: this.trieId, root };
  }

  private reader(): PageReader {
    return new PageReader(this.database, 1_000_000);
  }
}

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

/** A value of `length` bytes that depends on `seed`. */
export function someValue(seed: number, length: number): Uint8Array {
  const value = new Uint8Array(length);
  for (let i = 0; i < length; i++) value[i] = (EMPTY_CODE_HASH[(seed + i) % 32] ?? 0) ^ seed;
  if (value[0] === 0) value[0] = 1;
  return value;
}
