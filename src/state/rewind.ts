import { expectDefined } from "../primitives/assert.ts";
import { bytesOfKey, toKey } from "../primitives/byteKey.ts";
import type { Batch } from "../storage/batch.ts";
import { missing, openEntry, sealEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import {
  accountKey,
  parseTrieKey,
  STATE_HEAD_KEY,
  slotKey,
  stateRecordKeysFrom,
  trieKeysFrom,
} from "../storage/stateKeys.ts";
import { decodeAccount, decodeSlotValue } from "./accountLeaf.ts";
import { encodeFlatAccount } from "./flatAccount.ts";
import { encodeStateHead, readStateHead, readStateRecord, type StateRecord } from "./stateRecord.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { findLeaf, type TrieSource } from "./trie/findLeaf.ts";
import { PageReader } from "./trie/pageReader.ts";
import { NO_STORAGE } from "./trie/storedNode.ts";
import { walkPage } from "./trie/walkPage.ts";

const KEY_LENGTH = 32;
const PAGE_CACHE_BYTES = 16 * 1024 * 1024;

/** Keys of leaves that were written or deleted, by trie. */
type ChangedLeaves = Map<number, Set<string>>;

/**
 * Adds to `batch` the operations that make the state after block `number` the newest again:
 *
 *   1. Deletes all pages that later blocks wrote. With the lists of deleted leaves, they contain every account and slot
 *      that later blocks changed.
 *   2. Restores the flat entry of each such account from the trie at `number`.
 *   3. Restores each such slot, when its storage trie existed at `number`; deletes the slots of a newer trie, because
 *      its id will be reused. A storage trie is never written without its account's leaf, so step 2 has found its root.
 *
 * Flat slots of storage that was cleared later still exist, and are reachable again once the account refers to their
 * trie. The keys of all changed entries are held in memory: a long rewind takes several steps.
 */
export async function rewindState(database: Database, number: number, batch: Batch): Promise<void> {
  const record = readStateRecord(database, number);
  if (record === undefined) throw missing(`the state record of block ${number}`);
  // Each of them waits for the disk's thread, which is most of the time of a short rewind.
  const [changed] = await Promise.all([
    deletePages(database, number, batch),
    deleteRecords(database, number, batch),
  ]);
  const storages = restoreAccounts(database, record, changed.get(ACCOUNT_TRIE) ?? new Set(), batch);
  for (const [trieId, keys] of changed) {
    if (trieId === ACCOUNT_TRIE) continue;
    if (trieId >= record.nextTrieId) for (const key of keys) batch.delete(slotKey(trieId, bytesOfKey(key)));
    else restoreSlots(expectDefined(storages.get(trieId), `the account of storage ${trieId}`), keys, batch);
  }
  const epoch = (readStateHead(database)?.epoch ?? 0) + 1;
  batch.put(STATE_HEAD_KEY, encodeStateHead({ number, epoch }));
}

async function deleteRecords(database: Database, number: number, batch: Batch): Promise<void> {
  for await (const [key] of database.range(stateRecordKeysFrom(number + 1))) batch.delete(key);
}

async function deletePages(database: Database, number: number, batch: Batch): Promise<ChangedLeaves> {
  const changed: ChangedLeaves = new Map();
  for await (const [key, sealed] of database.range(trieKeysFrom(number + 1))) {
    batch.delete(key);
    const { version, trieId, page } = parseTrieKey(key);
    const keys = changed.get(trieId) ?? new Set();
    changed.set(trieId, keys);
    const bytes = openEntry(key, sealed, () => `a trie page of block ${version}`);
    if (page !== undefined) {
      walkPage(bytes, { ...page, version }, KEY_LENGTH, { leaf: (leafKey) => keys.add(toKey(leafKey)) });
      continue;
    }
    for (let at = 0; at < bytes.length; at += KEY_LENGTH)
      keys.add(toKey(bytes.subarray(at, at + KEY_LENGTH)));
  }
  return changed;
}

/** Restores the accounts with these keys; returns the storage tries that they had. */
function restoreAccounts(
  database: Database,
  { root }: StateRecord,
  keys: ReadonlySet<string>,
  batch: Batch,
): Map<number, TrieSource> {
  const reader = new PageReader(database, PAGE_CACHE_BYTES);
  const storages = new Map<number, TrieSource>();
  for (const text of keys) {
    const addressHash = bytesOfKey(text);
    const leaf = findLeaf({ reader, trieId: ACCOUNT_TRIE, root }, addressHash);
    const key = accountKey(addressHash);
    if (leaf === undefined) {
      batch.delete(key);
      continue;
    }
    const account = decodeAccount(leaf.value);
    const storage = leaf.storage ?? NO_STORAGE;
    batch.put(key, sealEntry(key, encodeFlatAccount({ account, storage })));
    const { trieId, version } = storage;
    storages.set(trieId, { reader, trieId, root: { hash: account.storageRoot, version } });
  }
  return storages;
}

function restoreSlots(source: TrieSource, keys: ReadonlySet<string>, batch: Batch): void {
  for (const text of keys) {
    const slotHash = bytesOfKey(text);
    const leaf = findLeaf(source, slotHash);
    const key = slotKey(source.trieId, slotHash);
    if (leaf === undefined) batch.delete(key);
    else batch.put(key, sealEntry(key, decodeSlotValue(leaf.value)));
  }
}
