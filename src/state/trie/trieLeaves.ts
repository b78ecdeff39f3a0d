import { expectDefined } from "../../primitives/assert.ts";
import type { TrieSource } from "./findLeaf.ts";
import { divergenceDepth, nibbleAt, withNibble } from "./nibbles.ts";
import { isBranchNode, isLeafNode, readPath, secondItem } from "./nodeRlp.ts";
import {
  childOf,
  type LeafContents,
  leafContents,
  type NodeSource,
  type ReadNode,
  readNode,
} from "./readNode.ts";
import { extensionChild, rootNode, type StoredNode } from "./storedNode.ts";
import { isEmptyTrie } from "./trieRoot.ts";

export interface TrieLeaf extends LeafContents {
  readonly key: Uint8Array;
}

/** A node to be visited, at the first `depth` nibbles of `key`. */
interface Visit {
  readonly node: StoredNode;
  readonly key: Uint8Array;
  readonly depth: number;
}

/**
 * All leaves of a trie in the order of their keys, which have `keyLength` bytes each. Calls `onDamage` for a node that
 * cannot be read, and continues with the others.
 */
export function trieLeaves(
  source: TrieSource,
  keyLength: number,
  onDamage: (error: unknown) => void,
): Generator<TrieLeaf, void> {
  return leavesOf(source, keyLength, onDamage, () => true);
}

/** Like trieLeaves, from the key `from` on. Throws when a node cannot be read. */
export function trieLeavesFrom(source: TrieSource, from: Uint8Array): Generator<TrieLeaf, void> {
  const isAhead = (_: StoredNode, key: Uint8Array, depth: number): boolean => {
    const divergence = divergenceDepth(key, from, 0);
    return divergence >= depth || nibbleAt(key, divergence) > nibbleAt(from, divergence);
  };
  return leavesOf(source, from.length, raise, isAhead);
}

/** Like trieLeaves, but visits only the nodes, and so only the leaves, that the version of the root wrote. */
export function newTrieLeaves(
  source: TrieSource,
  keyLength: number,
  onDamage: (error: unknown) => void,
): Generator<TrieLeaf, void> {
  const { version } = source.root;
  return leavesOf(source, keyLength, onDamage, (node) => node.isEmbedded || node.version === version);
}

/** The leaves at and below a node at the first `depth` nibbles of `key`. Throws when a node cannot be read. */
export function leavesBelow(source: NodeSource, visit: Visit): Generator<TrieLeaf, void> {
  return leavesFrom(source, [visit], raise, () => true);
}

function raise(error: unknown): never {
  throw error;
}

function leavesOf(
  source: TrieSource,
  keyLength: number,
  onDamage: (error: unknown) => void,
  isWanted: IsWanted,
): Generator<TrieLeaf, void> {
  const { root } = source;
  const node = rootNode(root.hash, root.version);
  const visits = isEmptyTrie(root) ? [] : [{ node, key: new Uint8Array(keyLength), depth: 0 }];
  return leavesFrom(source, visits, onDamage, isWanted);
}

type IsWanted = (node: StoredNode, key: Uint8Array, depth: number) => boolean;

function* leavesFrom(
  source: NodeSource,
  visits: Visit[],
  onDamage: (error: unknown) => void,
  isWanted: IsWanted,
): Generator<TrieLeaf, void> {
  while (visits.length > 0) {
    const visit = expectDefined(visits.pop(), "a node to visit");
    if (!isWanted(visit.node, visit.key, visit.depth)) continue;
    let read: ReadNode;
    try {
      read = readNode(source, visit.node, visit.key, visit.depth);
    } catch (error) {
      onDamage(error);
      continue;
    }
    const leaf = visitNode(visit, read, visits);
    if (leaf !== undefined && isWanted(visit.node, leaf.key, 2 * leaf.key.length)) yield leaf;
  }
}

/** Returns the leaf when the node is one; otherwise pushes its children onto the visits, the first on top. */
function visitNode({ node, key, depth }: Visit, read: ReadNode, visits: Visit[]): TrieLeaf | undefined {
  const { record, rlp } = read;
  if (isBranchNode(record.bytes, rlp)) {
    for (let nibble = 15; nibble >= 0; nibble--) {
      const child = childOf(node, read, nibble);
      if (child !== undefined)
        visits.push({ node: child, key: withNibble(key, depth, nibble), depth: depth + 1 });
    }
    return undefined;
  }
  const path = Uint8Array.from(key);
  const until = readPath(record.bytes, rlp, path, depth);
  if (isLeafNode(record.bytes, rlp)) return { key: path, ...leafContents(node, read) };
  visits.push({ node: extensionChild(record, secondItem(record.bytes, rlp)), key: path, depth: until });
  return undefined;
}
