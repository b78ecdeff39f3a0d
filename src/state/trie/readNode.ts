import { itemEnd, payloadStart, secondItem } from "./nodeRlp.ts";
import type { NodeReader } from "./pageReader.ts";
import {
  ACCOUNT_LEAF,
  accountLeafStorage,
  branchChild,
  embeddedChild,
  type PlacedRecord,
  rlpStart,
  type StoragePointer,
  type StoredNode,
} from "./storedNode.ts";

/** Reads the nodes of one trie. */
export interface NodeSource {
  readonly reader: NodeReader;
  readonly trieId: number;
}

/** The contents of a leaf. */
export interface LeafContents {
  /** The value, as a view that must not be changed. */
  readonly value: Uint8Array;
  /** The pointer to the account's storage; undefined for leaves of storage tries. */
  readonly storage: StoragePointer | undefined;
}

/** A node in memory, and the index of its RLP. */
export interface ReadNode {
  readonly record: PlacedRecord;
  readonly rlp: number;
}

/** Reads a node; an embedded one is in memory already, as bare RLP. */
export function readNode(
  { reader, trieId }: NodeSource,
  node: StoredNode,
  key: Uint8Array,
  depth: number,
): ReadNode {
  if (!node.isEmbedded) {
    const record = reader.read(trieId, key, depth, node);
    return { record, rlp: rlpStart(record.bytes, record.start) };
  }
  const { referenceBytes: bytes, referenceStart: start } = node;
  return { record: { bytes, start, version: 0, pageDepth: 0, offset: 0 }, rlp: start };
}

/** The child at `nibble` of a branch that was read as `node`. */
export function childOf(node: StoredNode, { record, rlp }: ReadNode, nibble: number): StoredNode | undefined {
  return node.isEmbedded ? embeddedChild(record.bytes, rlp, nibble) : branchChild(record, nibble);
}

/** The contents of a leaf that was read as `node`. */
export function leafContents(node: StoredNode, { record: { bytes, start }, rlp }: ReadNode): LeafContents {
  const item = secondItem(bytes, rlp);
  const isAccount = !node.isEmbedded && bytes[start] === ACCOUNT_LEAF;
  return {
    value: bytes.subarray(payloadStart(bytes, item), itemEnd(bytes, item)),
    storage: isAccount ? accountLeafStorage(bytes, start) : undefined,
  };
}
