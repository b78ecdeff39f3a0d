import { withNibble } from "./nibbles.ts";
import {
  BRANCH,
  BranchFrame,
  EXTENSION,
  extensionChild,
  type PlacedRecord,
  rlpStart,
  type StoredNode,
} from "./nodeRecord.ts";
import { isBranchNode, isLeafNode, readPath, secondItem } from "./nodeRlp.ts";
import { pageTop } from "./pageReader.ts";

/** Which page it is: the version that wrote it, and where it begins. */
export interface PageIdentity {
  readonly version: number;
  readonly path: Uint8Array;
  readonly depth: number;
}

export interface PageVisitor {
  /** A node with a record in this page; the first `depth` nibbles of `key` lead to it. */
  node?(record: PlacedRecord, key: Uint8Array, depth: number): void;
  /** The key of a leaf in this page, be it a node of its own or embedded in one. */
  leaf?(key: Uint8Array): void;
}

/** Visits all nodes that one page holds, parents first. All keys of the trie have `keyLength` bytes. */
export function walkPage(
  page: Uint8Array,
  { version, path, depth }: PageIdentity,
  keyLength: number,
  visitor: PageVisitor,
): void {
  const key = new Uint8Array(keyLength);
  key.set(path);
  const offset = pageTop(page);
  visitRecord({ bytes: page, start: offset, version, pageDepth: depth, offset }, key, depth, visitor);
}

function visitRecord(record: PlacedRecord, key: Uint8Array, depth: number, visitor: PageVisitor): void {
  visitor.node?.(record, key, depth);
  const { bytes, start } = record;
  const rlp = rlpStart(bytes, start);
  if (bytes[start] === BRANCH) {
    const frame = new BranchFrame();
    frame.open(record);
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = frame.child(nibble);
      if (child !== undefined) visitChild(record, child, withNibble(key, depth, nibble), depth + 1, visitor);
    }
    return;
  }
  const path = Uint8Array.from(key);
  const until = readPath(bytes, rlp, path, depth);
  if (bytes[start] !== EXTENSION) visitor.leaf?.(path);
  else visitChild(record, extensionChild(record, secondItem(bytes, rlp)), path, until, visitor);
}

function visitChild(
  parent: PlacedRecord,
  child: StoredNode,
  key: Uint8Array,
  depth: number,
  visitor: PageVisitor,
): void {
  if (child.isEmbedded) {
    visitEmbedded(child, key, depth, visitor);
    return;
  }
  if (child.version !== parent.version || child.pageDepth !== parent.pageDepth) return;
  visitRecord({ ...parent, start: child.offset, offset: child.offset }, key, depth, visitor);
}

function visitEmbedded(node: StoredNode, key: Uint8Array, depth: number, visitor: PageVisitor): void {
  if (visitor.leaf === undefined) return;
  const { referenceBytes: bytes, referenceStart: at } = node;
  if (isBranchNode(bytes, at)) {
    const frame = new BranchFrame();
    frame.openRlp(bytes, at);
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = frame.child(nibble);
      if (child !== undefined) visitEmbedded(child, withNibble(key, depth, nibble), depth + 1, visitor);
    }
    return;
  }
  const path = Uint8Array.from(key);
  const until = readPath(bytes, at, path, depth);
  if (isLeafNode(bytes, at)) visitor.leaf(path);
  else visitEmbedded(extensionChildOf(node), path, until, visitor);
}

function extensionChildOf({ referenceBytes, referenceStart }: StoredNode): StoredNode {
  const record = { bytes: referenceBytes, start: referenceStart, version: 0, pageDepth: 0, offset: 0 };
  return extensionChild(record, secondItem(referenceBytes, referenceStart));
}
