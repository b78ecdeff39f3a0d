import { readUint32, sealEntry, writeUint32 } from "../../storage/checksum.ts";
import { itemEnd } from "./nodeRlp.ts";
import {
  BRANCH,
  BRANCH_HEADER_LENGTH,
  countBits,
  EXTENSION,
  LOCATOR_LENGTH,
  type PlacedRecord,
  readU16,
  rlpStart,
  SAME_PAGE,
  writeLocator,
} from "./storedNode.ts";

/*
 * The base has one entry for each node of one state's tries, under the node's trie and path (baseNodeKey in stateKeys.ts). It takes the
 * place of the pages that the versions up to the base's wrote (state/removal/stateRemoval.ts):
 *
 *   record of the node as in a page (storedNode.ts), but with the whole location of each child | version u32
 *
 * A node is found in the base by its path, and verified against the hash in its parent, as every node is.
 */

const VERSION_BYTES = 4;

/** The sealed entry of a node that was read from its page. */
export function encodeBaseNode(key: Uint8Array, { bytes, start, ...place }: PlacedRecord): Uint8Array {
  const end = itemEnd(bytes, rlpStart(bytes, start));
  const value = new Uint8Array(end - start + VERSION_BYTES);
  value.set(bytes.subarray(start, end));
  writeUint32(value, end - start, place.version);
  const kind = value[0];
  if (kind === BRANCH) {
    const count = countBits(readU16(value, 1));
    for (let child = 0; child < count; child++)
      completeLocator(value, BRANCH_HEADER_LENGTH + child * LOCATOR_LENGTH, place);
  }
  if (kind === EXTENSION) completeLocator(value, 1, place);
  return sealEntry(key, value);
}

/** Writes the full location of a child that lies in the page of its parent. */
function completeLocator(bytes: Uint8Array, at: number, parent: Omit<PlacedRecord, "bytes" | "start">): void {
  if (bytes[at + 4] !== SAME_PAGE) return;
  writeLocator(bytes, at, parent.version, parent.pageDepth, parent.offset - readU16(bytes, at + 5));
}

/** The version that wrote the node of an entry without its checksum. */
export function baseNodeVersion(entry: Uint8Array): number {
  return readUint32(entry, entry.length - VERSION_BYTES);
}
