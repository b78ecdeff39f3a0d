import { asHash } from "../primitives/hash.ts";
import { damaged, missing, openEntry, readUint32, sealEntry, writeUint32 } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { readHistoryStart } from "../storage/historyStart.ts";
import { STATE_HEAD_KEY, stateRecordKey } from "../storage/stateKeys.ts";
import type { TrieRoot } from "./trie/trieRoot.ts";

/** The root of a block's state. A block that changed nothing has the root that an older block wrote. */
export interface StateRecord {
  readonly root: TrieRoot;
  /** Id of the next new storage trie; existing ones have smaller ids. Id 0 is the account trie's. */
  readonly nextTrieId: number;
}

const RECORD_LENGTH = 32 + 4 + 8;
const TWO_TO_32 = 2 ** 32;

export function encodeStateRecord(number: number, { root, nextTrieId }: StateRecord): Uint8Array {
  const bytes = new Uint8Array(RECORD_LENGTH);
  bytes.set(root.hash);
  writeUint32(bytes, 32, root.version);
  writeNumber(bytes, 36, nextTrieId);
  return sealEntry(stateRecordKey(number), bytes);
}

/** Undefined when no state is stored for the number. */
export function readStateRecord(database: Database, number: number): StateRecord | undefined {
  const key = stateRecordKey(number);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  const what = `the state record of block ${number}`;
  const bytes = openEntry(key, sealed, what);
  if (bytes.length !== RECORD_LENGTH) throw damaged(what, "its length is wrong");
  return {
    root: { hash: asHash(bytes.slice(0, 32)), version: readUint32(bytes, 32) },
    nextTrieId: readNumber(bytes, 36),
  };
}

/** Number of the newest state, and the count of rewinds so far: versions may mean something else after each. */
interface StateHead {
  readonly number: number;
  readonly epoch: number;
}

export function encodeStateHead({ number, epoch }: StateHead): Uint8Array {
  const bytes = new Uint8Array(16);
  writeNumber(bytes, 0, number);
  writeNumber(bytes, 8, epoch);
  return sealEntry(STATE_HEAD_KEY, bytes);
}

/**
 * Reads the record of the newest state. Undefined in a database without any state; throws DamagedData when only this record
 * is missing. If any state exists, the first one does: that of genesis, of a snapshot, or the first one that
 * `--state-history` has kept.
 */
export function readStateHead(database: Database): StateHead | undefined {
  const sealed = database.get(STATE_HEAD_KEY);
  const what = "the record of the newest state";
  if (sealed === undefined) {
    const first = Number(readHistoryStart(database).states);
    if (database.get(stateRecordKey(first)) !== undefined) throw missing(what);
    return undefined;
  }
  const bytes = openEntry(STATE_HEAD_KEY, sealed, what);
  if (bytes.length !== 16) throw damaged(what, "its length is wrong");
  return { number: readNumber(bytes, 0), epoch: readNumber(bytes, 8) };
}

function writeNumber(bytes: Uint8Array, at: number, value: number): void {
  writeUint32(bytes, at, Math.floor(value / TWO_TO_32));
  writeUint32(bytes, at + 4, value % TWO_TO_32);
}

function readNumber(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) * TWO_TO_32 + readUint32(bytes, at + 4);
}
