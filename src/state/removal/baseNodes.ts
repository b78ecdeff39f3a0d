import { openEntry } from "../../storage/checksum.ts";
import type { Database } from "../../storage/database.ts";
import { type BaseKey, baseKeysBelow, baseNodeKey, parseBaseKey } from "../../storage/stateKeys.ts";
import { ACCOUNT_TRIE } from "../stateWriter.ts";
import { encodeBaseNode } from "../trie/baseNode.ts";
import { findLeaf } from "../trie/findLeaf.ts";
import { divergenceDepth, nibbleAt } from "../trie/nibbles.ts";
import { isBranchNode, isLeafNode, readPath, secondItem } from "../trie/nodeRlp.ts";
import type { NodeReader } from "../trie/pageReader.ts";
import { childOf, readNode } from "../trie/readNode.ts";
import {
  ACCOUNT_LEAF,
  accountLeafStorage,
  extensionChild,
  type PlacedRecord,
  rlpStart,
  rootNode,
  type StoredNode,
} from "../trie/storedNode.ts";
import { isEmptyTrie, type TrieRoot } from "../trie/trieRoot.ts";
import type { RemovalStep, RemovalWriter } from "./removalWriter.ts";

const KEY_LENGTH = 32;

interface NodePlace {
  readonly trieId: number;
  /** A key whose first `depth` nibbles lead to the node. */
  readonly key: Uint8Array;
  readonly depth: number;
}

interface BaseNodesParts {
  readonly database: Database;
  readonly writer: RemovalWriter;
  /** Reads the state that the base will hold, whose accounts have this root. */
  readonly reader: NodeReader;
  readonly root: TrieRoot;
}

/**
 * Changes the nodes of the base towards those of a later state (stateRemoval.ts). The storage of an account leaves the base
 * before the account's leaf does, unless the account still has it: so a kill in between leaves nothing behind.
 */
export class BaseNodes {
  private readonly database: Database;
  private readonly writer: RemovalWriter;
  private readonly reader: NodeReader;
  private readonly root: TrieRoot;

  constructor({ database, writer, reader, root }: BaseNodesParts) {
    this.database = database;
    this.writer = writer;
    this.reader = reader;
    this.root = root;
  }

  /** Puts a node that was read from its page into its place in the base. */
  async *put(place: NodePlace, record: PlacedRecord): AsyncGenerator<RemovalStep, void> {
    const { trieId, key, depth } = place;
    const nodeKey = baseNodeKey(trieId, key, depth);
    if (trieId === ACCOUNT_TRIE) {
      const sealed = this.database.get(nodeKey);
      if (sealed !== undefined) yield* this.dropStorage(place, openBase(nodeKey, sealed));
    }
    yield* this.writer.put(nodeKey, encodeBaseNode(nodeKey, record));
  }

  /**
   * Deletes the nodes of the base around a deleted leaf that no longer belong to the trie: below an absent child, below a
   * leaf, and along and beside the path of an extension.
   */
  async *deleteStale(
    trieId: number,
    root: TrieRoot | undefined,
    leafKey: Uint8Array,
  ): AsyncGenerator<RemovalStep, void> {
    if (root === undefined || isEmptyTrie(root)) return yield* this.deleteBelow(trieId, leafKey, 0, 0);
    let node: StoredNode = rootNode(root.hash, root.version);
    let depth = 0;
    for (;;) {
      const read = readNode({ reader: this.reader, trieId }, node, leafKey, depth);
      const { record, rlp } = read;
      if (isBranchNode(record.bytes, rlp)) {
        const child = childOf(node, read, nibbleAt(leafKey, depth));
        depth++;
        if (child === undefined || child.isEmbedded)
          return yield* this.deleteBelow(trieId, leafKey, depth, depth);
        node = child;
        continue;
      }
      const path = Uint8Array.from(leafKey);
      const until = readPath(record.bytes, rlp, path, depth);
      if (isLeafNode(record.bytes, rlp)) return yield* this.deleteBelow(trieId, path, depth, depth + 1);
      const child = extensionChild(record, secondItem(record.bytes, rlp));
      if (child.isEmbedded) return yield* this.deleteBelow(trieId, path, depth, depth + 1);
      yield* this.deleteAround(trieId, path, depth, until);
      if (divergenceDepth(path, leafKey, 0) < until) return;
      node = child;
      depth = until;
    }
  }

  /** Deletes the base's nodes below the first `depth` nibbles of a path that have at least `atLeast` nibbles. */
  private deleteBelow(
    trieId: number,
    path: Uint8Array,
    depth: number,
    atLeast: number,
  ): AsyncGenerator<RemovalStep, void> {
    return this.deleteWhere(baseKeysBelow(trieId, path, depth), (place) => place.depth >= atLeast);
  }

  /**
   * Deletes the base's nodes below the first `depth` nibbles of a path, except the one there, and those at `until` nibbles
   * and below.
   */
  private async *deleteAround(
    trieId: number,
    path: Uint8Array,
    depth: number,
    until: number,
  ): AsyncGenerator<RemovalStep, void> {
    const all = baseKeysBelow(trieId, path, depth);
    const kept = baseKeysBelow(trieId, path, until);
    const isDeeper = (place: BaseKey): boolean => place.depth > depth;
    yield* this.deleteWhere({ from: all.from, until: kept.from }, isDeeper);
    for (let on = depth + 1; on < until; on++) {
      const key = baseNodeKey(trieId, path, on);
      const sealed = this.database.get(key);
      if (sealed !== undefined) yield* this.deleteNode(key, sealed);
    }
    yield* this.deleteWhere({ from: kept.until, until: all.until }, isDeeper);
  }

  private async *deleteWhere(
    keys: { readonly from: Uint8Array; readonly until: Uint8Array },
    isStale: (place: BaseKey) => boolean,
  ): AsyncGenerator<RemovalStep, void> {
    for await (const [key, sealed] of this.database.range(keys)) {
      if (isStale(parseBaseKey(key))) yield* this.deleteNode(key, sealed);
    }
  }

  private async *deleteNode(key: Uint8Array, sealed: Uint8Array): AsyncGenerator<RemovalStep, void> {
    const { trieId, path, depth } = parseBaseKey(key);
    if (trieId === ACCOUNT_TRIE) yield* this.dropStorage({ trieId, key: path, depth }, openBase(key, sealed));
    yield* this.writer.delete(key);
  }

  /** Deletes the storage trie of an account whose leaf leaves the base, unless the account still has that trie. */
  private async *dropStorage(
    { key, depth }: NodePlace,
    entry: Uint8Array,
  ): AsyncGenerator<RemovalStep, void> {
    if (entry[0] !== ACCOUNT_LEAF) return;
    const { trieId } = accountLeafStorage(entry, 0);
    if (trieId === 0) return;
    const addressHash = new Uint8Array(KEY_LENGTH);
    addressHash.set(key);
    readPath(entry, rlpStart(entry, 0), addressHash, depth);
    const leaf = findLeaf({ reader: this.reader, trieId: ACCOUNT_TRIE, root: this.root }, addressHash);
    if (leaf?.storage?.trieId === trieId) return;
    yield* this.deleteWhere(baseKeysBelow(trieId, addressHash, 0), () => true);
    // If the process is killed before this write, the leaf leads here again.
    yield* this.writer.write();
  }
}

function openBase(key: Uint8Array, sealed: Uint8Array): Uint8Array {
  return openEntry(key, sealed, "a node of the base of the states");
}
