import { nibbleAt } from "./nibbles.ts";
import {
  ACCOUNT_LEAF,
  accountLeafStorage,
  branchChild,
  embeddedChild,
  extensionChild,
  type PlacedRecord,
  rlpStart,
  rootNode,
  type StoragePointer,
  type StoredNode,
} from "./nodeRecord.ts";
import { isBranchNode, isLeafNode, itemEnd, payloadStart, readPath, secondItem } from "./nodeRlp.ts";
import type { NodeReader } from "./pageReader.ts";
import { isEmptyTrie, type TrieRoot } from "./trieRoot.ts";

export interface FoundLeaf {
  /** What the leaf holds; a view that must not be changed. */
  readonly value: Uint8Array;
  /** Where the account's storage is; undefined for leaves of storage tries. */
  readonly storage: StoragePointer | undefined;
}

/** A trie to look into, and by what to read it. */
export interface TrieSource {
  readonly reader: NodeReader;
  readonly trieId: number;
  readonly root: TrieRoot;
}

/**
 * The leaf of `key`, or undefined when there is none. `visit` sees the RLP of every node on the way that is known by
 * a hash, the root first: a Merkle proof, of the key's absence too.
 */
export function findLeaf(
  { reader, trieId, root }: TrieSource,
  key: Uint8Array,
  visit?: (rlp: Uint8Array) => void,
): FoundLeaf | undefined {
  if (isEmptyTrie(root)) return undefined;
  let node: StoredNode | undefined = rootNode(root.hash, root.version);
  let depth = 0;
  const path = new Uint8Array(key.length);
  while (node !== undefined) {
    const record: PlacedRecord = node.isEmbedded
      ? { bytes: node.referenceBytes, start: node.referenceStart, version: 0, pageDepth: 0, offset: 0 }
      : reader.read(trieId, key, depth, node);
    const { bytes, start } = record;
    const rlp: number = node.isEmbedded ? start : rlpStart(bytes, start);
    if (!node.isEmbedded) visit?.(bytes.subarray(rlp, itemEnd(bytes, rlp)));
    if (isBranchNode(bytes, rlp)) {
      node = node.isEmbedded
        ? embeddedChild(bytes, rlp, nibbleAt(key, depth))
        : branchChild(record, nibbleAt(key, depth));
      depth++;
      continue;
    }
    const until = readPath(bytes, rlp, path, depth);
    for (let at = depth; at < until; at++) if (nibbleAt(path, at) !== nibbleAt(key, at)) return undefined;
    const item = secondItem(bytes, rlp);
    if (isLeafNode(bytes, rlp)) {
      const value = bytes.subarray(payloadStart(bytes, item), itemEnd(bytes, item));
      const isAccount = !node.isEmbedded && bytes[start] === ACCOUNT_LEAF;
      return { value, storage: isAccount ? accountLeafStorage(bytes, start) : undefined };
    }
    node = extensionChild(record, item);
    depth = until;
  }
  return undefined;
}
