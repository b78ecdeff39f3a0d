import { readUint32 } from "../../storage/checksum.ts";
import { headerLength, itemEnd, payloadStart, writeHeader } from "./nodeRlp.ts";
import type { OpenNode } from "./openNode.ts";
import {
  BRANCH,
  BRANCH_HEADER_LENGTH,
  HASH_LENGTH,
  LOCATOR_LENGTH,
  type PlacedRecord,
  readU16,
  rlpStart,
  SAME_PAGE,
  StoredNode,
  writeLocator,
  writeU16,
} from "./storedNode.ts";

/** Lengths in bytes: of the payload of the RLP list, of the part before the RLP, of the whole record. */
export interface BranchMeasure {
  readonly payload: number;
  readonly rlpOffset: number;
  readonly record: number;
}

/** The sixteen children of one branch, decoded for changes; there is one frame per depth, which is reused. */
export class BranchFrame {
  /** Cells of 32 bytes: a hash, or the RLP of an embedded child. */
  readonly references = new Uint8Array(16 * HASH_LENGTH);
  /** Bytes used of each cell; 0 for no child. */
  readonly lengths = new Uint8Array(16);
  readonly versions = new Uint32Array(16);
  readonly pageDepths = new Uint8Array(16);
  readonly offsets = new Uint16Array(16);
  leafMask = 0;
  /** New children: open until the branch closes, then built. */
  readonly fresh: (OpenNode | undefined)[] = new Array(16).fill(undefined);

  clear(): void {
    this.lengths.fill(0);
    this.fresh.fill(undefined);
    this.leafMask = 0;
  }

  /** Decodes a branch record; locations of children in its own page become explicit. */
  open(record: PlacedRecord): void {
    const { bytes, start } = record;
    this.fresh.fill(undefined);
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

  /** Decodes an embedded branch, whose children are embedded, too. */
  openRlp(bytes: Uint8Array, at: number): void {
    this.fresh.fill(undefined);
    this.leafMask = 0;
    let item = payloadStart(bytes, at);
    for (let nibble = 0; nibble < 16; nibble++) {
      if (bytes[item] === 0x80) {
        this.lengths[nibble] = 0;
        item++;
      } else item = this.openEmbedded(bytes, nibble, item);
    }
  }

  /** The stored child at `nibble`; its reference is a view into this frame. */
  child(nibble: number): StoredNode | undefined {
    const length = this.lengths[nibble] ?? 0;
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

  /** Copies a child that does not change. */
  setStored(nibble: number, node: StoredNode): void {
    const bytes = node.referenceBytes.subarray(
      node.referenceStart,
      node.referenceStart + node.referenceLength,
    );
    this.setReference(nibble, bytes, node.isLeaf);
    this.setPlace(nibble, node.version, node.pageDepth, node.offset);
  }

  /** Computes the length of the branch; all its children must have their references. */
  measure(): BranchMeasure {
    let payload = 1;
    let hashed = 0;
    for (let nibble = 0; nibble < 16; nibble++) {
      const length = this.lengths[nibble] ?? 0;
      if (length === HASH_LENGTH) hashed++;
      payload += length === HASH_LENGTH ? 1 + HASH_LENGTH : length === 0 ? 1 : length;
    }
    const rlpOffset = BRANCH_HEADER_LENGTH + hashed * LOCATOR_LENGTH;
    return { payload, rlpOffset, record: rlpOffset + headerLength(payload) + payload };
  }

  /** Writes the branch's record; returns the index after it. */
  write(bytes: Uint8Array, start: number, { payload }: BranchMeasure): number {
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
    return this.writeRlp(bytes, locator, payload);
  }

  private writeRlp(bytes: Uint8Array, start: number, payload: number): number {
    let at = writeHeader(bytes, start, payload, 0xc0);
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

  private openHashed(record: PlacedRecord, nibble: number, hashStart: number, locator: number): void {
    const { bytes } = record;
    const into = nibble * HASH_LENGTH;
    for (let i = 0; i < HASH_LENGTH; i++) this.references[into + i] = bytes[hashStart + i] ?? 0;
    this.lengths[nibble] = HASH_LENGTH;
    const pageDepth = bytes[locator + 4] ?? 0;
    const offset = readU16(bytes, locator + 5);
    if (pageDepth === SAME_PAGE)
      this.setPlace(nibble, record.version, record.pageDepth, record.offset - offset);
    else this.setPlace(nibble, readUint32(bytes, locator), pageDepth, offset);
  }

  private openEmbedded(bytes: Uint8Array, nibble: number, item: number): number {
    const end = itemEnd(bytes, item);
    for (let i = item; i < end; i++) this.references[nibble * HASH_LENGTH + i - item] = bytes[i] ?? 0;
    this.lengths[nibble] = end - item;
    this.setPlace(nibble, 0, 0, 0);
    return end;
  }
}
