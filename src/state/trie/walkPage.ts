import { setNibble } from "./nibbles.ts";
import { isBranchNode, isLeafNode, readPath, secondItem } from "./nodeRlp.ts";
import { pageTop } from "./pageReader.ts";
import {
  BRANCH,
  BRANCH_HEADER_LENGTH,
  EXTENSION,
  embeddedChild,
  extensionChild,
  LOCATOR_LENGTH,
  type PlacedRecord,
  readU16,
  rlpStart,
  SAME_PAGE,
  type StoredNode,
} from "./storedNode.ts";

/** Identifies a page: the version that wrote it, and the path of its topmost node. */
interface PageIdentity {
  readonly version: number;
  readonly path: Uint8Array;
  readonly depth: number;
}

interface PageVisitor {
  /** A branch or extension with a record in this page; the first `depth` nibbles of `key` lead to it. */
  inner?(record: PlacedRecord, key: Uint8Array, depth: number): void;
  /** The key of a leaf in this page, either a node of its own or embedded in one. */
  leaf?(key: Uint8Array): void;
}

/**
 * Visits all nodes of one page, parents first. All keys of the trie have `keyLength` bytes. The key array is reused:
 * the visitor must copy a key that it keeps.
 */
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
  const { bytes, start } = record;
  if (bytes[start] === BRANCH) {
    visitor.inner?.(record, key, depth);
    visitBranch(record, key, depth, visitor);
    return;
  }
  const isExtension = bytes[start] === EXTENSION;
  if (isExtension) visitor.inner?.(record, key, depth);
  const rlp = rlpStart(bytes, start);
  const until = readPath(bytes, rlp, key, depth);
  if (!isExtension) {
    visitor.leaf?.(key);
    return;
  }
  // The branch below an extension has a page of its own, unless it is embedded.
  const child = extensionChild(record, secondItem(bytes, rlp));
  if (child.isEmbedded && visitor.leaf !== undefined) visitEmbedded(child, key, until, visitor.leaf);
}

function visitBranch(record: PlacedRecord, key: Uint8Array, depth: number, visitor: PageVisitor): void {
  const { bytes, start, version, pageDepth } = record;
  const hashedMask = readU16(bytes, start + 1);
  const leafMask = readU16(bytes, start + 3);
  let locator = start + BRANCH_HEADER_LENGTH;
  for (let nibble = 0; nibble < 16; nibble++) {
    if (((hashedMask >> nibble) & 1) === 0) {
      if (visitor.leaf !== undefined) visitEmbeddedChild(record, key, depth, nibble, visitor.leaf);
      continue;
    }
    const isWanted = visitor.leaf !== undefined || ((leafMask >> nibble) & 1) === 0;
    if (bytes[locator + 4] === SAME_PAGE && isWanted) {
      const offset = record.offset - readU16(bytes, locator + 5);
      setNibble(key, depth, nibble);
      visitRecord({ bytes, start: offset, version, pageDepth, offset }, key, depth + 1, visitor);
    }
    locator += LOCATOR_LENGTH;
  }
}

function visitEmbeddedChild(
  { bytes, start }: PlacedRecord,
  key: Uint8Array,
  depth: number,
  nibble: number,
  leaf: (key: Uint8Array) => void,
): void {
  const child = embeddedChild(bytes, rlpStart(bytes, start), nibble);
  if (child === undefined) return;
  setNibble(key, depth, nibble);
  visitEmbedded(child, key, depth + 1, leaf);
}

function visitEmbedded(
  node: StoredNode,
  key: Uint8Array,
  depth: number,
  leaf: (key: Uint8Array) => void,
): void {
  const { referenceBytes: bytes, referenceStart: at } = node;
  if (isBranchNode(bytes, at)) {
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = embeddedChild(bytes, at, nibble);
      if (child === undefined) continue;
      setNibble(key, depth, nibble);
      visitEmbedded(child, key, depth + 1, leaf);
    }
    return;
  }
  const until = readPath(bytes, at, key, depth);
  if (isLeafNode(bytes, at)) leaf(key);
  else visitEmbedded(embeddedExtensionChild(bytes, at), key, until, leaf);
}

function embeddedExtensionChild(bytes: Uint8Array, at: number): StoredNode {
  const record = { bytes, start: at, version: 0, pageDepth: 0, offset: 0 };
  return extensionChild(record, secondItem(bytes, at));
}
