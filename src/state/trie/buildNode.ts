import type { BranchFrame, BranchMeasure } from "./branchFrame.ts";
import { headerLength, pathLength, stringLength, writeHeader, writePath, writeString } from "./nodeRlp.ts";
import type { BuiltNode, ExtensionNode, LeafNode } from "./openNode.ts";
import type { PageStack } from "./pageStack.ts";
import { HASH_LENGTH, LEAF, writeAccountLeafHeader, writeExtensionHeader } from "./storedNode.ts";

/** Upper bound of a record's bytes apart from the RLP of its node. */
const RECORD_HEADER_LIMIT = 16;

/** Encodes a leaf whose path begins at `depth`. A node shorter than a hash is its own reference, except at the root. */
export function buildLeaf(stack: PageStack, leaf: LeafNode, depth: number): BuiltNode {
  const end = leaf.key.length * 2;
  const payload = pathLength(end - depth) + stringLength(leaf.value);
  const length = headerLength(payload) + payload;
  if (length < HASH_LENGTH && depth > 0) {
    const rlp = new Uint8Array(length);
    writeLeafRlp(rlp, 0, payload, leaf, depth);
    return embedded(rlp, stack.length);
  }
  stack.reserve(length + RECORD_HEADER_LIMIT);
  const start = stack.length;
  let rlp = start + 1;
  if (leaf.storage === undefined) stack.bytes[start] = LEAF;
  else rlp = writeAccountLeafHeader(stack.bytes, start, leaf.storage);
  stack.length = writeLeafRlp(stack.bytes, rlp, payload, leaf, depth);
  return hashed(stack, { start, record: start, rlp }, true);
}

function writeLeafRlp(
  bytes: Uint8Array,
  start: number,
  payload: number,
  leaf: LeafNode,
  depth: number,
): number {
  const path = writeHeader(bytes, start, payload, 0xc0);
  const value = writePath(bytes, path, leaf.key, depth, leaf.key.length * 2, 0x20);
  return writeString(bytes, value, leaf.value);
}

/** Encodes an extension whose path begins at `depth`. */
export function buildExtension(stack: PageStack, node: ExtensionNode, depth: number): BuiltNode {
  const { until, branch } = node;
  const childLength = branch.isEmbedded ? branch.referenceLength : 1 + HASH_LENGTH;
  const payload = pathLength(until - depth) + childLength;
  const length = headerLength(payload) + payload;
  if (length < HASH_LENGTH && depth > 0) {
    const rlp = new Uint8Array(length);
    writeExtensionRlp(rlp, 0, payload, node, depth);
    return embedded(rlp, stack.length);
  }
  stack.reserve(length + RECORD_HEADER_LIMIT);
  const start = stack.length;
  const rlp = writeExtensionHeader(stack.bytes, start, branch);
  stack.length = writeExtensionRlp(stack.bytes, rlp, payload, node, depth);
  return hashed(stack, { start, record: start, rlp }, false);
}

function writeExtensionRlp(
  bytes: Uint8Array,
  start: number,
  payload: number,
  { key, until, branch }: ExtensionNode,
  depth: number,
): number {
  const path = writeHeader(bytes, start, payload, 0xc0);
  let child = writePath(bytes, path, key, depth, until, 0);
  if (!branch.isEmbedded) bytes[child++] = 0x80 + HASH_LENGTH;
  const { referenceBytes, referenceStart, referenceLength } = branch;
  bytes.set(referenceBytes.subarray(referenceStart, referenceStart + referenceLength), child);
  return child + referenceLength;
}

/** Encodes the branch in `frame`, whose children have locations; those in its own page begin at `base`. */
export function buildBranch(
  stack: PageStack,
  frame: BranchFrame,
  depth: number,
  base: number,
  measure: BranchMeasure,
): BuiltNode {
  stack.reserve(measure.record);
  const record = stack.length;
  const rlp = record + measure.rlpOffset;
  const end = frame.write(stack.bytes, record, measure);
  if (end - rlp < HASH_LENGTH && depth > 0) return embedded(stack.bytes.slice(rlp, end), stack.length);
  stack.length = end;
  return hashed(stack, { start: base, record, rlp }, false);
}

function embedded(rlp: Uint8Array, at: number): BuiltNode {
  return { kind: "built", reference: rlp, isLeaf: false, start: at, record: at, end: at };
}

function hashed(
  stack: PageStack,
  { start, record, rlp }: { readonly start: number; readonly record: number; readonly rlp: number },
  isLeaf: boolean,
): BuiltNode {
  const reference = stack.hash(rlp, stack.length);
  return { kind: "built", reference, isLeaf, start, record, end: stack.length };
}
