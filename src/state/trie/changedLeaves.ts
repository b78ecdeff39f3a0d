import { assertNever } from "../../primitives/assert.ts";
import { compareBytes, equalBytes } from "../../primitives/hex.ts";
import type { TrieSource } from "./findLeaf.ts";
import { nibbleAt, withNibble } from "./nibbles.ts";
import { isBranchNode, isLeafNode, readPath, secondItem } from "./nodeRlp.ts";
import { childOf, leafContents, type NodeSource, type ReadNode, readNode } from "./readNode.ts";
import { extensionChild, rootNode, type StoredNode } from "./storedNode.ts";
import { leavesBelow } from "./trieLeaves.ts";
import { isEmptyTrie, type TrieRoot } from "./trieRoot.ts";

/** Two versions of one trie. */
interface TrieVersions {
  readonly before: TrieSource;
  readonly after: TrieSource;
}

/**
 * The keys, of `keyLength` bytes, whose leaves differ between two versions of a trie, in their order: added, changed and
 * removed ones. Skips subtries with equal hashes, so the work is that of the change, whatever the size of the trie.
 */
export function* changedLeaves(
  { before, after }: TrieVersions,
  keyLength: number,
): Generator<Uint8Array, void> {
  const waiting: Pair[] = [
    { before: rootSide(before.root, keyLength), after: rootSide(after.root, keyLength), depth: 0 },
  ];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    if (isSame(pair.before, pair.after)) continue;
    const old = openSide(before, pair.before);
    const young = openSide(after, pair.after);
    if (old === undefined || young === undefined || old.kind === "leaf" || young.kind === "leaf") {
      yield* differing(leavesOf(before, old), leavesOf(after, young));
      continue;
    }
    for (let nibble = 15; nibble >= 0; nibble--) {
      const next = {
        before: childSide(old, pair.depth, nibble),
        after: childSide(young, pair.depth, nibble),
      };
      if (next.before !== undefined || next.after !== undefined)
        waiting.push({ ...next, depth: pair.depth + 1 });
    }
  }
}

/** What two versions of a trie have at the same first `depth` nibbles. */
interface Pair {
  readonly before: Side | undefined;
  readonly after: Side | undefined;
  readonly depth: number;
}

type Side = UnreadNode | OpenExtension;

/** A node at the first `depth` nibbles of `key`. */
interface UnreadNode {
  readonly kind: "unread";
  readonly node: StoredNode;
  readonly key: Uint8Array;
  readonly depth: number;
}

/** A place inside an extension, whose child is at the first `until` nibbles of `key`. */
interface OpenExtension {
  readonly kind: "extension";
  readonly key: Uint8Array;
  readonly until: number;
  readonly child: StoredNode;
}

interface OpenBranch {
  readonly kind: "branch";
  readonly node: StoredNode;
  readonly key: Uint8Array;
  readonly depth: number;
  readonly read: ReadNode;
}

interface OpenLeaf {
  readonly kind: "leaf";
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

function rootSide(root: TrieRoot, keyLength: number): Side | undefined {
  if (isEmptyTrie(root)) return undefined;
  return {
    kind: "unread",
    node: rootNode(root.hash, root.version),
    key: new Uint8Array(keyLength),
    depth: 0,
  };
}

/** Whether both sides are the same subtrie, as far as their references tell. */
function isSame(before: Side | undefined, after: Side | undefined): boolean {
  return (
    before?.kind === "unread" &&
    after?.kind === "unread" &&
    equalBytes(referenceOf(before.node), referenceOf(after.node))
  );
}

function referenceOf({ referenceBytes, referenceStart, referenceLength }: StoredNode): Uint8Array {
  return referenceBytes.subarray(referenceStart, referenceStart + referenceLength);
}

function openSide(
  source: NodeSource,
  side: Side | undefined,
): OpenBranch | OpenExtension | OpenLeaf | undefined {
  if (side?.kind !== "unread") return side;
  const { node, key, depth } = side;
  const read = readNode(source, node, key, depth);
  const { bytes } = read.record;
  if (isBranchNode(bytes, read.rlp)) return { kind: "branch", node, key, depth, read };
  const path = Uint8Array.from(key);
  const until = readPath(bytes, read.rlp, path, depth);
  if (isLeafNode(bytes, read.rlp)) return { kind: "leaf", key: path, value: leafContents(node, read).value };
  return {
    kind: "extension",
    key: path,
    until,
    child: extensionChild(read.record, secondItem(bytes, read.rlp)),
  };
}

/** The part of a node at the first `depth` nibbles that continues with `nibble`. */
function childSide(side: OpenBranch | OpenExtension, depth: number, nibble: number): Side | undefined {
  if (side.kind === "branch") {
    const node = childOf(side.node, side.read, nibble);
    return node && { kind: "unread", node, key: withNibble(side.key, depth, nibble), depth: depth + 1 };
  }
  if (nibbleAt(side.key, depth) !== nibble) return undefined;
  const { key, until, child } = side;
  return depth + 1 < until ? side : { kind: "unread", node: child, key, depth: until };
}

interface Leaf {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** The leaves below an open node, in the order of their keys. */
function leavesOf(
  source: NodeSource,
  side: OpenBranch | OpenExtension | OpenLeaf | undefined,
): Iterable<Leaf> {
  if (side === undefined) return [];
  switch (side.kind) {
    case "leaf":
      return [side];
    case "branch":
      return leavesBelow(source, side);
    case "extension":
      return leavesBelow(source, { node: side.child, key: side.key, depth: side.until });
    default:
      return assertNever(side);
  }
}

/** Merges two lists of leaves in the order of their keys; gives the keys whose leaves differ. */
function* differing(before: Iterable<Leaf>, after: Iterable<Leaf>): Generator<Uint8Array, void> {
  const olds = before[Symbol.iterator]();
  const news = after[Symbol.iterator]();
  let old = nextOf(olds);
  let young = nextOf(news);
  while (old !== undefined && young !== undefined) {
    const order = compareBytes(old.key, young.key);
    if (order !== 0) yield order < 0 ? old.key : young.key;
    else if (!equalBytes(old.value, young.value)) yield young.key;
    if (order <= 0) old = nextOf(olds);
    if (order >= 0) young = nextOf(news);
  }
  for (; old !== undefined; old = nextOf(olds)) yield old.key;
  for (; young !== undefined; young = nextOf(news)) yield young.key;
}

function nextOf(leaves: Iterator<Leaf>): Leaf | undefined {
  const next = leaves.next();
  return next.done === true ? undefined : next.value;
}
