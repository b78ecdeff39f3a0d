import { nibbleAt } from "./nibbles.ts";
import { isBranchNode, isLeafNode, itemEnd, readPath, secondItem } from "./nodeRlp.ts";
import {
  childOf,
  type LeafContents,
  leafContents,
  type NodeSource,
  type ReadNode,
  readNode,
} from "./readNode.ts";
import { extensionChild, rootNode, type StoredNode } from "./storedNode.ts";
import { isEmptyTrie, type TrieRoot } from "./trieRoot.ts";

/** A trie and the reader for it. */
export interface TrieSource extends NodeSource {
  readonly root: TrieRoot;
}

/**
 * Finds the leaf of `key`; undefined when there is none. Calls `visit` with the RLP of every hashed node on the path,
 * the root first: together a Merkle proof of the key or of its absence.
 */
export function findLeaf(
  source: TrieSource,
  key: Uint8Array,
  visit?: (rlp: Uint8Array) => void,
): LeafContents | undefined {
  const { root } = source;
  if (isEmptyTrie(root)) return undefined;
  const path = new Uint8Array(key.length);
  let node: StoredNode | undefined = rootNode(root.hash, root.version);
  let depth = 0;
  while (node !== undefined) {
    const read: ReadNode = readNode(source, node, key, depth);
    const { bytes } = read.record;
    if (!node.isEmbedded) visit?.(bytes.subarray(read.rlp, itemEnd(bytes, read.rlp)));
    if (isBranchNode(bytes, read.rlp)) {
      node = childOf(node, read, nibbleAt(key, depth));
      depth++;
      continue;
    }
    const until = readPath(bytes, read.rlp, path, depth);
    for (let at = depth; at < until; at++) if (nibbleAt(path, at) !== nibbleAt(key, at)) return undefined;
    if (isLeafNode(bytes, read.rlp)) return leafContents(node, read);
    node = extensionChild(read.record, secondItem(bytes, read.rlp));
    depth = until;
  }
  return undefined;
}
