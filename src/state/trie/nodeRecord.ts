import { present } from "../../primitives/assert.ts";
import { headerLength, itemEnd, payloadStart, writeHeader } from "./nodeRlp.ts";

/*
 * A node as it is stored: what kind it is, where its hashed children are, then its RLP.
 *
 *   branch        1 | mask of hashed children u16 | mask of those that are leaves u16 | a locator each | RLP
 *   extension     2 | locator of the child (zero when the child is embedded) | RLP
 *   leaf          3 | RLP
 *   account leaf  4 | storage trie id u48 | version of its root u32 | RLP
 *
 * A locator says in which page a child is: the version that wrote it u32, the depth where the page begins u8, and
 * the child's offset in the page u16. A child in the very page of its parent has SAME_PAGE for a depth and its
 * distance before the parent for an offset, because a page's place is decided after its nodes are written.
 * A child shorter than a hash is embedded in the RLP and has no locator. A change to a branch needs no look at a
 * leaf below it that is replaced, hence the second mask.
 */

export const BRANCH = 1;
export const EXTENSION = 2;
export const LEAF = 3;
export const ACCOUNT_LEAF = 4;

/** Block numbers that fit the records: one block a second for 136 years. */
export const VERSION_LIMIT = 2 ** 32;
/** Page depth of a child that lies in the page of its parent. */
export const SAME_PAGE = 0xff;
/** Offset of a page's topmost node where it is not known: the page itself says where that is. */
export const PAGE_TOP = 0xffff;
const LOCATOR_LENGTH = 7;
const BRANCH_HEADER_LENGTH = 5;
const HASH_LENGTH = 32;

/** Where a node lies, and the reference by which its parent vouches for it. */
export class StoredNode {
  readonly kind = "stored";
  /** Holds the hash, or the RLP itself when that is shorter than a hash; may be memory that is soon reused. */
  readonly referenceBytes: Uint8Array;
  readonly referenceStart: number;
  readonly referenceLength: number;
  readonly version: number;
  readonly pageDepth: number;
  readonly offset: number;
  /** False also when it is not known. */
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

  /** The same, over a reference of its own that outlives the memory it was read from. */
  detached(): StoredNode {
    const bytes = this.referenceBytes.slice(this.referenceStart, this.referenceStart + this.referenceLength);
    return new StoredNode({ bytes, start: 0, length: bytes.length }, this, this.isLeaf);
  }
}

/** The root of a trie that is not empty: its page begins at depth 0 and it lies on top of it. */
export function rootNode(hash: Uint8Array, version: number): StoredNode {
  return new StoredNode(
    { bytes: hash, start: 0, length: HASH_LENGTH },
    { version, pageDepth: 0, offset: PAGE_TOP },
    false,
  );
}

/** A verified node record in memory, with its own place, from which places of children in its page are derived. */
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

/** The child at `nibble` of a branch that is itself embedded, whose RLP begins at `rlp`. */
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
export function embeddedNode(bytes: Uint8Array, item: number): StoredNode {
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
  return new StoredNode(reference, { version: readU32(bytes, at), pageDepth, offset }, isLeaf);
}

function placeOf(record: PlacedRecord, offset: number) {
  return { version: record.version, pageDepth: record.pageDepth, offset };
}

/** The storage trie that an account leaf names. `trieId` 0 means that there is none. */
export function accountLeafStorage(bytes: Uint8Array, start: number): StoragePointer {
  return {
    trieId: readU16(bytes, start + 1) * 2 ** 32 + readU32(bytes, start + 3),
    version: readU32(bytes, start + 7),
  };
}

/** Which trie holds an account's storage, and the version of its root. */
export interface StoragePointer {
  readonly trieId: number;
  readonly version: number;
}

export const NO_STORAGE: StoragePointer = { trieId: 0, version: 0 };

export function writeAccountLeafHeader(bytes: Uint8Array, start: number, storage: StoragePointer): number {
  bytes[start] = ACCOUNT_LEAF;
  writeU16(bytes, start + 1, Math.floor(storage.trieId / 2 ** 32));
  writeU32(bytes, start + 3, storage.trieId % 2 ** 32);
  writeU32(bytes, start + 7, storage.version);
  return start + 11;
}

/** Writes kind and locator of an extension. An embedded child has no place, which is written as zeros. */
export function writeExtensionHeader(bytes: Uint8Array, start: number, child: StoredNode): number {
  bytes[start] = EXTENSION;
  return writeLocator(bytes, start + 1, child.version, child.pageDepth, child.offset);
}

/** The sixteen children of one branch laid open for change; one such frame per depth is used again and again. */
export class BranchFrame {
  /** Cells of 32 bytes: a hash, or the RLP of an embedded child. */
  readonly references = new Uint8Array(16 * HASH_LENGTH);
  /** Bytes used of each cell; 0 for no child. */
  readonly lengths = new Uint8Array(16);
  readonly versions = new Uint32Array(16);
  readonly pageDepths = new Uint8Array(16);
  readonly offsets = new Uint16Array(16);
  leafMask = 0;

  clear(): void {
    this.lengths.fill(0);
    this.leafMask = 0;
  }

  /** Lays open a branch record; places of children in its own page become explicit. */
  open(record: PlacedRecord): void {
    const { bytes, start } = record;
    this.leafMask = readU16(bytes, start + 3);
    let locator = start + BRANCH_HEADER_LENGTH;
    let item = payloadStart(bytes, rlpStart(bytes, start));
    for (let nibble = 0; nibble < 16; nibble++) {
      if (bytes[item] === 0x80) {
        this.lengths[nibble] = 0;
        item++;
      } else if (bytes[item] === 0x80 + HASH_LENGTH) {
        this.openHashed(record, nibble, item + 1, locator);
        item += 1 + HASH_LENGTH;
        locator += LOCATOR_LENGTH;
      } else item = this.openEmbedded(bytes, nibble, item);
    }
  }

  /** Lays open a branch that is itself embedded, whose children must be too. */
  openRlp(bytes: Uint8Array, at: number): void {
    this.leafMask = 0;
    let item = payloadStart(bytes, at);
    for (let nibble = 0; nibble < 16; nibble++) {
      if (bytes[item] === 0x80) {
        this.lengths[nibble] = 0;
        item++;
      } else item = this.openEmbedded(bytes, nibble, item);
    }
  }

  child(nibble: number): StoredNode | undefined {
    const length = present(this.lengths[nibble], "a nibble");
    if (length === 0) return undefined;
    const reference = { bytes: this.references, start: nibble * HASH_LENGTH, length };
    const place = {
      version: this.versions[nibble] ?? 0,
      pageDepth: this.pageDepths[nibble] ?? 0,
      offset: this.offsets[nibble] ?? 0,
    };
    return new StoredNode(reference, place, ((this.leafMask >> nibble) & 1) === 1);
  }

  remove(nibble: number): void {
    this.lengths[nibble] = 0;
    this.leafMask &= ~(1 << nibble);
  }

  setReference(nibble: number, reference: Uint8Array, isLeaf: boolean): void {
    this.references.set(reference, nibble * HASH_LENGTH);
    this.lengths[nibble] = reference.length;
    if (isLeaf) this.leafMask |= 1 << nibble;
    else this.leafMask &= ~(1 << nibble);
  }

  setPlace(nibble: number, version: number, pageDepth: number, offset: number): void {
    this.versions[nibble] = version;
    this.pageDepths[nibble] = pageDepth;
    this.offsets[nibble] = offset;
  }

  /** Copies a child that stays as it is. */
  setStored(nibble: number, node: StoredNode): void {
    const bytes = node.referenceBytes.subarray(
      node.referenceStart,
      node.referenceStart + node.referenceLength,
    );
    this.setReference(nibble, bytes, node.isLeaf);
    this.setPlace(nibble, node.version, node.pageDepth, node.offset);
  }

  /** Length of the record that write() would produce. */
  get recordLength(): number {
    const payload = this.payloadLength;
    let hashed = 0;
    for (const length of this.lengths) if (length === HASH_LENGTH) hashed++;
    return BRANCH_HEADER_LENGTH + hashed * LOCATOR_LENGTH + headerLength(payload) + payload;
  }

  /** Writes the branch's record; answers the index behind it. Its RLP begins at rlpStart(bytes, start). */
  write(bytes: Uint8Array, start: number): number {
    let hashedMask = 0;
    let locator = start + BRANCH_HEADER_LENGTH;
    for (let nibble = 0; nibble < 16; nibble++) {
      if (this.lengths[nibble] !== HASH_LENGTH) continue;
      hashedMask |= 1 << nibble;
      const offset = this.offsets[nibble] ?? 0;
      locator = writeLocator(
        bytes,
        locator,
        this.versions[nibble] ?? 0,
        this.pageDepths[nibble] ?? 0,
        offset,
      );
    }
    bytes[start] = BRANCH;
    writeU16(bytes, start + 1, hashedMask);
    writeU16(bytes, start + 3, this.leafMask & hashedMask);
    return this.writeRlp(bytes, locator);
  }

  private writeRlp(bytes: Uint8Array, start: number): number {
    let at = writeHeader(bytes, start, this.payloadLength, 0xc0);
    for (let nibble = 0; nibble < 16; nibble++) {
      const length = this.lengths[nibble] ?? 0;
      if (length === 0) bytes[at++] = 0x80;
      else {
        if (length === HASH_LENGTH) bytes[at++] = 0x80 + HASH_LENGTH;
        const from = nibble * HASH_LENGTH;
        for (let i = 0; i < length; i++) bytes[at++] = this.references[from + i] ?? 0;
      }
    }
    // No key is a prefix of another (all have one length), so a branch never carries a value of its own.
    bytes[at++] = 0x80;
    return at;
  }

  private get payloadLength(): number {
    let length = 1;
    for (let nibble = 0; nibble < 16; nibble++) {
      const used = this.lengths[nibble] ?? 0;
      length += used === HASH_LENGTH ? 1 + HASH_LENGTH : used === 0 ? 1 : used;
    }
    return length;
  }

  private openHashed(record: PlacedRecord, nibble: number, hashStart: number, locator: number): void {
    const { bytes } = record;
    const into = nibble * HASH_LENGTH;
    for (let i = 0; i < HASH_LENGTH; i++) this.references[into + i] = bytes[hashStart + i] ?? 0;
    this.lengths[nibble] = HASH_LENGTH;
    const pageDepth = bytes[locator + 4] ?? 0;
    const offset = readU16(bytes, locator + 5);
    if (pageDepth === SAME_PAGE)
      this.setPlace(nibble, record.version, record.pageDepth, record.offset - offset);
    else this.setPlace(nibble, readU32(bytes, locator), pageDepth, offset);
  }

  private openEmbedded(bytes: Uint8Array, nibble: number, item: number): number {
    const end = itemEnd(bytes, item);
    for (let i = item; i < end; i++) this.references[nibble * HASH_LENGTH + i - item] = bytes[i] ?? 0;
    this.lengths[nibble] = end - item;
    this.setPlace(nibble, 0, 0, 0);
    return end;
  }
}

function writeLocator(
  bytes: Uint8Array,
  start: number,
  version: number,
  pageDepth: number,
  offset: number,
): number {
  writeU32(bytes, start, version);
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

function readU32(bytes: Uint8Array, at: number): number {
  return readU16(bytes, at) * 65536 + readU16(bytes, at + 2);
}

function writeU32(bytes: Uint8Array, at: number, value: number): void {
  writeU16(bytes, at, value >>> 16);
  writeU16(bytes, at + 2, value & 0xffff);
}

function countBits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
