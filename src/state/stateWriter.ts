import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { concatBytes } from "../primitives/hex.ts";
import type { Steps } from "../primitives/steps.ts";
import type { Batch } from "../storage/batch.ts";
import { checksumOf, SEAL_BYTES, sealEntry, writeUint32 } from "../storage/checksum.ts";
import {
  accountKey,
  codeKey,
  deletedLeavesKey,
  STATE_HEAD_KEY,
  slotKey,
  stateRecordKey,
} from "../storage/stateKeys.ts";
import type { ByteArena } from "./byteArena.ts";
import type { FlatAccount } from "./flatAccount.ts";
import { putPreimage } from "./preimages.ts";
import type { StateChanges } from "./stateChanges.ts";
import { encodeStateHead, encodeStateRecord, type StateRecord } from "./stateRecord.ts";
import type { NewPage } from "./trie/headNodes.ts";
import type { TrieChange } from "./trie/updateTrie.ts";

/** The id of the account trie; storage tries count from 1. */
export const ACCOUNT_TRIE = 0;

export interface AccountLeafChange extends TrieChange {
  readonly key: Hash;
  readonly address: Address;
  readonly before: FlatAccount | undefined;
  /** The new flat entry; empty when the account is deleted. */
  readonly after: Uint8Array;
}

export interface SlotLeafChange extends TrieChange {
  readonly key: Hash;
  readonly slot: Uint8Array;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/** The writes of a new state. */
interface StateWrites {
  /** Number of the block. */
  readonly version: number;
  readonly epoch: number;
  readonly record: StateRecord;
  /** New nodes of all tries. */
  readonly pages: readonly NewPage[];
  readonly accounts: readonly AccountLeafChange[];
  /** Changed slots by storage trie. */
  readonly storages: ReadonlyMap<number, readonly SlotLeafChange[]>;
  readonly code: StateChanges["code"];
}

/** Work per step: less than a millisecond when the entries are in memory. */
const STEP_WRITES = 128;

/** Writes a state to the batch: trie nodes, flat entries, preimages, code, and the record of the block. */
export function* writeStateInSteps(
  batch: Batch,
  { version, epoch, record, pages, accounts, storages, code }: StateWrites,
  arena: ByteArena,
): Steps<void> {
  for (const { key, page } of pages) batch.put(key, page);
  writeDeletedLeaves(batch, version, ACCOUNT_TRIE, accounts);
  for (const [index, { key, address, after, existed }] of accounts.entries()) {
    if (index % STEP_WRITES === 0) yield;
    writeEntry(batch, accountKey(key), after, arena);
    if (!existed) putPreimage(batch, key, address);
  }
  for (const [trieId, slots] of storages) {
    yield;
    writeDeletedLeaves(batch, version, trieId, slots);
    for (const [index, { key, slot, after, existed }] of slots.entries()) {
      if (index > 0 && index % STEP_WRITES === 0) yield;
      writeEntry(batch, slotKey(trieId, key), after, arena);
      if (!existed) putPreimage(batch, key, slot);
    }
  }
  for (const { codeHash, code: bytes } of code) batch.put(codeKey(codeHash), bytes);
  batch.put(stateRecordKey(version), encodeStateRecord(version, record));
  batch.put(STATE_HEAD_KEY, encodeStateHead({ number: version, epoch }));
}

function writeEntry(batch: Batch, key: Uint8Array, value: Uint8Array, arena: ByteArena): void {
  if (value.length === 0) {
    batch.delete(key);
    return;
  }
  const sealed = arena.allocate(value.length + SEAL_BYTES);
  sealed.set(value);
  writeUint32(sealed, value.length, checksumOf(key, value));
  batch.put(key, sealed);
}

/** Lists the deleted leaves, so that a rewind knows which entries to restore. */
function writeDeletedLeaves(
  batch: Batch,
  version: number,
  trieId: number,
  leaves: readonly TrieChange[],
): void {
  const deleted = leaves.filter(({ value }) => value === undefined);
  if (deleted.length === 0) return;
  const key = deletedLeavesKey(version, trieId);
  batch.put(key, sealEntry(key, concatBytes(...deleted.map((leaf) => leaf.key))));
}
