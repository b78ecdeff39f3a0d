import { encodeRlpIndex, encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import { MAX_BLOCK_ANNOUNCEMENTS, MAX_TRANSACTION_ANNOUNCEMENTS } from "./limits.ts";
import type { BlockAnnouncement, TransactionAnnouncement } from "./messages.ts";
import { hashesOf, hashOf, membersOf, scalarOf, stringOf, tupleOf } from "./wireReader.ts";
import { encodeHashes, encodeScalar } from "./wireWriter.ts";

/** Codec of the announcements of blocks and transactions (p2p.md#eth-messages). Readers throw RangeError. */

export function encodeBlockAnnouncements(blocks: readonly BlockAnnouncement[]): Uint8Array {
  return encodeRlpList(
    blocks.map(({ hash, number }) => encodeRlpList([encodeRlpString(hash), encodeScalar(number)])),
  );
}

export function readBlockAnnouncements(payload: Uint8Array): BlockAnnouncement[] {
  return membersOf(payload, MAX_BLOCK_ANNOUNCEMENTS).map((part) => {
    const [hash, number] = tupleOf(part, 2);
    return { hash: hashOf(hash), number: scalarOf(number, 8) };
  });
}

/** Encodes types as one string, sizes, hashes: the format since eth/68. */
export function encodeTransactionAnnouncements(
  announcements: readonly TransactionAnnouncement[],
): Uint8Array {
  return encodeRlpList([
    encodeRlpString(Uint8Array.from(announcements, ({ type }) => type)),
    encodeRlpList(announcements.map(({ size }) => encodeRlpIndex(size))),
    encodeHashes(announcements.map(({ hash }) => hash)),
  ]);
}

export function readTransactionAnnouncements(payload: Uint8Array): TransactionAnnouncement[] {
  const [types, sizes, hashes] = tupleOf(payload, 3);
  const typeBytes = stringOf(types);
  const sizeParts = membersOf(sizes ?? payload, MAX_TRANSACTION_ANNOUNCEMENTS);
  const hashList = hashesOf(hashes ?? payload, MAX_TRANSACTION_ANNOUNCEMENTS);
  if (typeBytes.length !== hashList.length || sizeParts.length !== hashList.length) {
    throw new RangeError("types, sizes and hashes differ in number");
  }
  return hashList.map((hash, index) => ({
    type: typeBytes[index] ?? 0,
    size: lenientSize(sizeParts[index]),
    hash,
  }));
}

/** Reads a size, the only field where leading zeros are accepted (p2p.md#eth-messages). */
function lenientSize(part: Uint8Array | undefined): number {
  const digits = stringOf(part);
  if (digits.length > 4) throw new RangeError("a size of more than 4 bytes");
  return digits.reduce((size, digit) => size * 256 + digit, 0);
}
