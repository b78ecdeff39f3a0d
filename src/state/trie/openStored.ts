import { assert } from "../../primitives/assert.ts";
import type { BranchFrame } from "./branchFrame.ts";
import { isBranchNode, isLeafNode, readPath, secondItem } from "./nodeRlp.ts";
import type { ExtensionNode, LeafNode } from "./openNode.ts";
import { leafContents, type NodeSource, readNode } from "./readNode.ts";
import { BRANCH, extensionChild, type StoredNode } from "./storedNode.ts";

/** Decodes a stored branch into `frame`; false when the node is not a branch. */
export function openBranch(
  source: NodeSource,
  frame: BranchFrame,
  node: StoredNode,
  key: Uint8Array,
  depth: number,
): boolean {
  const { record, rlp } = readNode(source, node, key, depth);
  if (node.isEmbedded) {
    if (!isBranchNode(record.bytes, rlp)) return false;
    frame.openRlp(record.bytes, rlp);
    return true;
  }
  if (record.bytes[record.start] !== BRANCH) return false;
  frame.open(record);
  return true;
}

/** Decodes a stored node so that its path can change; returns a branch as an extension of length zero over it. */
export function takeApart(
  source: NodeSource,
  node: StoredNode,
  key: Uint8Array,
  depth: number,
): LeafNode | ExtensionNode {
  const { record, rlp } = readNode(source, node, key, depth);
  if (isBranchNode(record.bytes, rlp))
    return { kind: "extension", key, until: depth, branch: node.detached() };
  if (isLeafNode(record.bytes, rlp)) return readLeaf(source, node, key, depth);
  const path = Uint8Array.from(key);
  const until = readPath(record.bytes, rlp, path, depth);
  const branch = extensionChild(record, secondItem(record.bytes, rlp)).detached();
  return { kind: "extension", key: path, until, branch };
}

export function readLeaf(source: NodeSource, node: StoredNode, key: Uint8Array, depth: number): LeafNode {
  const read = readNode(source, node, key, depth);
  const path = Uint8Array.from(key);
  const end = readPath(read.record.bytes, read.rlp, path, depth);
  assert(end === key.length * 2, "a leaf ends where its key ends");
  const { value, storage } = leafContents(node, read);
  return { kind: "leaf", key: path, value: Uint8Array.from(value), storage };
}
