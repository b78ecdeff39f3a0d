import { readUint32, writeUint32 } from "../../storage/checksum.ts";
import { itemEnd, payloadStart } from "./nodeRlp.ts";

/*
 * The record of a stored node: its kind, the locators of its hashed children, its RLP.
 *
 *   branch        1 | mask of hashed children u16 | mask of those that are leaves u16 | a locator each | RLP
 *   extension     2 | locator of the child (zero when the child is embedded) | RLP
 *   leaf          3 | RLP
 *   account leaf  4 | storage trie id u48 | version of its root u32 | RLP
 *
 * A locator says in which page a child is: the version that wrote it u32, the depth where the page begins u8, and
 * the child's offset in the page u16. A child in the same page as its parent has SAME_PAGE as depth and its distance
 * before the parent as offset, because a page's location is decided after its nodes are written. A child shorter than
 * a hash is embedded in the RLP and has no locator. The mask of leaves lets an update replace leaves unread.
 */

export const BRANCH = 1;
export const EXTENSION = 2;
export const LEAF = 3;
export const ACCOUNT_LEAF = 4;

/** Block numbers that fit the records: one block a second for 136 years. */
export const VERSION_LIMIT = 2 ** 32;
/** Page depth of a child that lies in the page of its parent. */
export const SAME_PAGE = 0xff;
/** Stands for the offset of a page's topmost node, which the page's trailer contains. */
export const PAGE_TOP = 0xffff;
export const LOCATOR_LENGTH = 7;
export const BRANCH_HEADER_LENGTH = 5;
export const HASH_LENGTH = 32;

/** The location of a node, and the reference to it in its parent. */
export class StoredNode {
  readonly kind = "stored";
  /** Contains the hash, or the RLP itself when that is shorter than a hash; may be memory that is soon reused. */
  readonly referenceBytes: Uint8Array;
  readonly referenceStart: number;
  readonly referenceLength: number;
  readonly version: number;
  readonly pageDepth: number;
  readonly offset: number;
  /** Whether the node is a leaf; also false when that is not known. */
  readonly isLeaf: boolean;

  constructor(
    reference: { readonly bytes: Uint8Array; readonly start: number; readonly length: number },
    place: { readonly version: number; readonly pageDepth: number; readonly offset: number },
    isLeaf: boolean,
  ) {
    this.referenceBytes = reference.bytes;
    this.referenceStart = reference.start;
    this.referenceLength = reference.length;
    this.version = place.version;
    this.pageDepth = place.pageDepth;
    this.offset = place.offset;
    this.isLeaf = isLeaf;
  }

  get isEmbedded(): boolean {
    return this.referenceLength < HASH_LENGTH;
  }

  /** A copy with a reference of its own, independent of the memory that it was read from. */
  detached(): StoredNode {
    const end = this.referenceStart + this.referenceLength;
    const bytes = Uint8Array.from(this.referenceBytes.subarray(this.referenceStart, end));
    return new StoredNode({ bytes, start: 0, length: bytes.length }, this, this.isLeaf);
  }
}

/** The root of a trie that is not empty: the topmost node of the page at depth 0. */
export function rootNode(hash: Uint8Array, version: number): StoredNode {
  return new StoredNode(
    { bytes: hash, start: 0, length: HASH_LENGTH },
    { version, pageDepth: 0, offset: PAGE_TOP },
    false,
  );
}

/** A verified node record in memory, with its own location, from which those of children in its page are derived. */
export interface PlacedRecord {
  readonly bytes: Uint8Array;
  /** Where the record begins in `bytes`. */
  readonly start: number;
  readonly version: number;
  readonly pageDepth: number;
  /** Where the record begins in its page. */
  readonly offset: number;
}

/** Index of a record's RLP. */
export function rlpStart(bytes: Uint8Array, start: number): number {
  switch (bytes[start]) {
    case BRANCH:
      return start + BRANCH_HEADER_LENGTH + LOCATOR_LENGTH * countBits(readU16(bytes, start + 1));
    case EXTENSION:
      return start + 1 + LOCATOR_LENGTH;
    case ACCOUNT_LEAF:
      return start + 11;
    default:
      return start + 1;
  }
}

/** The child at `nibble` of a branch; undefined when there is none. */
export function branchChild(record: PlacedRecord, nibble: number): StoredNode | undefined {
  const { bytes, start } = record;
  const hashedMask = readU16(bytes, start + 1);
  const leafMask = readU16(bytes, start + 3);
  let item = payloadStart(bytes, rlpStart(bytes, start));
  for (let i = 0; i < nibble; i++) item = itemEnd(bytes, item);
  if (bytes[item] === 0x80) return undefined;
  if (((hashedMask >> nibble) & 1) === 0) return embeddedNode(bytes, item);
  const locator = countBits(hashedMask & ((1 << nibble) - 1));
  return locatedNode(
    record,
    start + BRANCH_HEADER_LENGTH + locator * LOCATOR_LENGTH,
    item + 1,
    ((leafMask >> nibble) & 1) === 1,
  );
}

/** The child at `nibble` of an embedded branch, whose RLP begins at `rlp`. */
export function embeddedChild(bytes: Uint8Array, rlp: number, nibble: number): StoredNode | undefined {
  let item = payloadStart(bytes, rlp);
  for (let i = 0; i < nibble; i++) item = itemEnd(bytes, item);
  return bytes[item] === 0x80 ? undefined : embeddedNode(bytes, item);
}

/** The child of an extension. `item` is the index of the second item of its RLP. */
export function extensionChild(record: PlacedRecord, item: number): StoredNode {
  if (record.bytes[item] !== 0x80 + HASH_LENGTH) return embeddedNode(record.bytes, item);
  return locatedNode(record, record.start + 1, item + 1, false);
}

/** The node embedded in its parent's RLP at `item`. */
function embeddedNode(bytes: Uint8Array, item: number): StoredNode {
  return new StoredNode({ bytes, start: item, length: itemEnd(bytes, item) - item }, NOWHERE, false);
}

const NOWHERE = { version: 0, pageDepth: 0, offset: 0 };

function locatedNode(record: PlacedRecord, at: number, hashStart: number, isLeaf: boolean): StoredNode {
  const { bytes } = record;
  const reference = { bytes, start: hashStart, length: HASH_LENGTH };
  const pageDepth = bytes[at + 4] ?? 0;
  const offset = readU16(bytes, at + 5);
  if (pageDepth === SAME_PAGE)
    return new StoredNode(reference, placeOf(record, record.offset - offset), isLeaf);
  return new StoredNode(reference, { version: readUint32(bytes, at), pageDepth, offset }, isLeaf);
}

function placeOf(record: PlacedRecord, offset: number) {
  return { version: record.version, pageDepth: record.pageDepth, offset };
}

/** The pointer to storage in an account leaf. A `trieId` of 0 means that there is none. */
export function accountLeafStorage(bytes: Uint8Array, start: number): StoragePointer {
  return {
    trieId: readU16(bytes, start + 1) * 2 ** 32 + readUint32(bytes, start + 3),
    version: readUint32(bytes, start + 7),
  };
}

/** The id of an account's storage trie, and the version of its root. */
export interface StoragePointer {
  readonly trieId: number;
  readonly version: number;
}

export const NO_STORAGE: StoragePointer = { trieId: 0, version: 0 };

export function writeAccountLeafHeader(bytes: Uint8Array, start: number, storage: StoragePointer): number {
  bytes[start] = ACCOUNT_LEAF;
  writeU16(bytes, start + 1, Math.floor(storage.trieId / 2 ** 32));
  writeUint32(bytes, start + 3, storage.trieId % 2 ** 32);
  writeUint32(bytes, start + 7, storage.version);
  return start + 11;
}

/** Writes kind and locator of an extension. An embedded child has no location, which is written as zeros. */
export function writeExtensionHeader(bytes: Uint8Array, start: number, child: StoredNode): number {
  bytes[start] = EXTENSION;
  return writeLocator(bytes, start + 1, child.version, child.pageDepth, child.offset);
}

export function writeLocator(
  bytes: Uint8Array,
  start: number,
  version: number,
  pageDepth: number,
  offset: number,
): number {
  writeUint32(bytes, start, version);
  bytes[start + 4] = pageDepth;
  writeU16(bytes, start + 5, offset);
  return start + LOCATOR_LENGTH;
}

export function readU16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

export function writeU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >> 8;
  bytes[at + 1] = value & 0xff;
}

export function countBits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
