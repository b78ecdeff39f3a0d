import { AssertionFailed, assertNever } from "../../primitives/assert.ts";
import { asHash, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, type Hash, keccak256 } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../../primitives/quantity.ts";
import type { AccountOfState, SlotOfState } from "../../state/stateLeaves.ts";
import { RecordReader, RecordWriter } from "../../storage/blocks/byteRecord.ts";
import { type Frame, SnapshotFileError } from "./snapshotFile.ts";

/** Chain and block of a snapshot. The block hash here proves nothing: only the operator's counts. */
export interface SnapshotBegin {
  readonly genesisHash: Hash;
  readonly chainId: bigint;
  readonly number: bigint;
  readonly hash: Hash;
  /** Number of the first header; those from it to the snapshot's block follow. */
  readonly firstHeader: bigint;
}

export function encodeBegin({ genesisHash, chainId, number, hash, firstHeader }: SnapshotBegin): Uint8Array {
  const writer = new RecordWriter(100);
  writer.fixed(genesisHash);
  writer.sized(bigintToBytes(chainId));
  writer.number(Number(number));
  writer.fixed(hash);
  writer.number(Number(firstHeader));
  return writer.finish();
}

export function decodeBegin(frame: Frame): SnapshotBegin {
  return reading(frame, (reader) => ({
    genesisHash: asHash(reader.fixed(32)),
    chainId: bytesToBigint(reader.sized()),
    number: naturalOf(reader),
    hash: asHash(reader.fixed(32)),
    firstHeader: naturalOf(reader),
  }));
}

/** Encodes byte strings one after another: headers, receipts. */
export function encodeItems(items: readonly Uint8Array[]): Uint8Array {
  const writer = new RecordWriter(4096);
  for (const item of items) writer.sized(item);
  return writer.finish();
}

export function decodeItems(frame: Frame): readonly Uint8Array[] {
  return reading(frame, (reader) => {
    const items: Uint8Array[] = [];
    while (!reader.isAtEnd) items.push(reader.sized());
    return items;
  });
}

/** A part of the state. An account is followed by its slots, and preceded by its code unless that came earlier. */
export type StateItem =
  | { readonly kind: "code"; readonly code: Uint8Array }
  | ({ readonly kind: "account" } & AccountOfState)
  | ({ readonly kind: "slot" } & SlotOfState);

const CODE = 0;
const ACCOUNT = 1;
const SLOT = 2;
/** Bits of an account's or slot's first byte, next to the kind in the lowest two. */
const IS_KNOWN = 4;
const HAS_CODE = 8;
const HAS_STORAGE = 16;

/**
 * Writes kind and flags in one byte, then for code: its bytes; for an account: its address, or its hash when only that is
 * known, nonce, balance, and code hash and storage root if it has any; for a slot: its 32 bytes or its hash, and its value.
 */
export function writeStateItem(writer: RecordWriter, item: StateItem): void {
  switch (item.kind) {
    case "code":
      writer.byte(CODE);
      writer.sized(item.code);
      return;
    case "account": {
      const { nonce, balance, codeHash, storageRoot } = item.account;
      const hasCode = !equalBytes(codeHash, EMPTY_CODE_HASH);
      const hasStorage = !equalBytes(storageRoot, EMPTY_TRIE_ROOT);
      writer.byte(
        ACCOUNT |
          (item.address === undefined ? 0 : IS_KNOWN) |
          (hasCode ? HAS_CODE : 0) |
          (hasStorage ? HAS_STORAGE : 0),
      );
      writer.fixed(item.address ?? item.hash);
      writer.sized(bigintToBytes(nonce));
      writer.sized(bigintToBytes(balance));
      if (hasCode) writer.fixed(codeHash);
      if (hasStorage) writer.fixed(storageRoot);
      return;
    }
    case "slot":
      writer.byte(SLOT | (item.slot === undefined ? 0 : IS_KNOWN));
      writer.fixed(item.slot ?? item.hash);
      writer.sized(item.value);
      return;
    default:
      assertNever(item);
  }
}

/** The items of a frame, one after another; their bytes are views of it. Throws SnapshotFileError. */
export function* readStateItems(frame: Frame): Generator<StateItem, void> {
  const reader = new RecordReader(frame.payload);
  while (!reader.isAtEnd) yield decoded(frame, () => readStateItem(reader));
}

function readStateItem(reader: RecordReader): StateItem {
  const flags = reader.byte();
  switch (flags & 3) {
    case CODE:
      return { kind: "code", code: reader.sized() };
    case ACCOUNT:
      return { kind: "account", ...readAccount(reader, flags) };
    case SLOT: {
      const { hash, preimage } = readKey(reader, (flags & IS_KNOWN) !== 0 ? 32 : undefined);
      return { kind: "slot", hash, slot: preimage, value: bounded(reader.sized(), 32) };
    }
    default:
      throw new AssertionFailed("there is no such kind of item");
  }
}

function readAccount(reader: RecordReader, flags: number): AccountOfState {
  const { hash, preimage } = readKey(reader, (flags & IS_KNOWN) !== 0 ? 20 : undefined);
  const nonce = bytesToBigint(bounded(reader.sized(), 8));
  const balance = bytesToBigint(bounded(reader.sized(), 32));
  const codeHash = (flags & HAS_CODE) !== 0 ? hashOf(reader) : EMPTY_CODE_HASH;
  const storageRoot = (flags & HAS_STORAGE) !== 0 ? hashOf(reader) : EMPTY_TRIE_ROOT;
  return { hash, address: preimage, account: { nonce, balance, codeHash, storageRoot } };
}

/** Reads a preimage of that length, or a hash. */
function readKey(
  reader: RecordReader,
  length: number | undefined,
): { readonly hash: Hash; readonly preimage: Uint8Array | undefined } {
  if (length === undefined) return { hash: hashOf(reader), preimage: undefined };
  const preimage = Uint8Array.from(reader.fixed(length));
  return { hash: keccak256(preimage), preimage };
}

/** Reads a hash as a copy, because it is kept longer than its frame. */
function hashOf(reader: RecordReader): Hash {
  return asHash(Uint8Array.from(reader.fixed(32)));
}

function bounded(bytes: Uint8Array, limit: number): Uint8Array {
  if (bytes.length > limit) throw new AssertionFailed(`a field has more than ${limit} bytes`);
  return bytes;
}

function naturalOf(reader: RecordReader): bigint {
  const value = reader.number();
  if (!Number.isSafeInteger(value)) throw new AssertionFailed("a number is too large");
  return BigInt(value);
}

/** The totals in the last frame, to be compared with what was read. */
interface SnapshotEnd {
  readonly accounts: number;
  readonly slots: number;
  readonly codes: number;
}

export function encodeEnd({ accounts, slots, codes }: SnapshotEnd): Uint8Array {
  const writer = new RecordWriter(32);
  for (const count of [accounts, slots, codes]) writer.number(count);
  return writer.finish();
}

export function decodeEnd(frame: Frame): SnapshotEnd {
  return reading(frame, (reader) => ({
    accounts: reader.number(),
    slots: reader.number(),
    codes: reader.number(),
  }));
}

function reading<T>(frame: Frame, read: (reader: RecordReader) => T): T {
  return decoded(frame, () => read(new RecordReader(frame.payload)));
}

/** Decodes a frame. Its checksum was right, so a field that does not fit was written like this by another program. */
function decoded<T>(frame: Frame, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AssertionFailed || error instanceof RangeError)) throw error;
    throw new SnapshotFileError(
      `the part that begins at byte ${frame.position} is malformed: ${error.message}`,
    );
  }
}
