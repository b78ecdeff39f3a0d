import { Batch } from "../storage/batch.ts";
import { sealEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { KEY_PREFIXES, prefixRange } from "../storage/keys.ts";
import { accountKey, parseSlotKey, slotKey } from "../storage/stateKeys.ts";
import { decodeAccount, decodeSlotValue } from "./accountLeaf.ts";
import { encodeFlatAccount } from "./flatAccount.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { findLeaf, type TrieSource } from "./trie/findLeaf.ts";
import { PageReader } from "./trie/pageReader.ts";
import { NO_STORAGE } from "./trie/storedNode.ts";
import { trieLeavesFrom } from "./trie/trieLeaves.ts";
import type { TrieRoot } from "./trie/trieRoot.ts";

const PAGE_CACHE_BYTES = 32 * 1024 * 1024;
const FIRST_KEY = new Uint8Array(32);
/** Entries per write. */
const PIECE_ENTRIES = 5000;

/**
 * Rebuilds the flat column from the tries of the head, verifying each node against its hash, and deletes entries that
 * have no leaf. An interruption is harmless, because every write is a correct entry. Nothing else may write meanwhile.
 * Throws DamagedData when the tries themselves are damaged.
 */
export async function rebuildFlat(database: Database, root: TrieRoot): Promise<void> {
  const reader = new PageReader(database, PAGE_CACHE_BYTES);
  const accounts: TrieSource = { reader, trieId: ACCOUNT_TRIE, root };
  const storages = new Map<number, TrieSource>();
  const writer = new PieceWriter(database);
  for (const leaf of trieLeavesFrom(accounts, FIRST_KEY)) {
    const account = decodeAccount(leaf.value);
    const storage = leaf.storage ?? NO_STORAGE;
    const key = accountKey(leaf.key);
    writer.batch.put(key, sealEntry(key, encodeFlatAccount({ account, storage })));
    await writer.step();
    const { trieId, version } = storage;
    if (trieId === 0) continue;
    const source: TrieSource = { reader, trieId, root: { hash: account.storageRoot, version } };
    storages.set(trieId, source);
    await writeSlots(source, writer);
  }
  for await (const [key] of database.range(prefixRange(KEY_PREFIXES.account))) {
    if (findLeaf(accounts, key.subarray(1)) === undefined) writer.batch.delete(key);
    await writer.step();
  }
  for await (const [key] of database.range(prefixRange(KEY_PREFIXES.slot))) {
    const { trieId, slotHash } = parseSlotKey(key);
    const source = storages.get(trieId);
    // Slots of storage that no account refers to any more are unreachable, and valid again after a rewind.
    if (source !== undefined && findLeaf(source, slotHash) === undefined) writer.batch.delete(key);
    await writer.step();
  }
  await writer.flush();
}

async function writeSlots(source: TrieSource, writer: PieceWriter): Promise<void> {
  for (const { key: slotHash, value } of trieLeavesFrom(source, FIRST_KEY)) {
    const key = slotKey(source.trieId, slotHash);
    writer.batch.put(key, sealEntry(key, decodeSlotValue(value)));
    await writer.step();
  }
}

/** Writes the entries in batches of PIECE_ENTRIES, so that the event loop is not blocked. */
class PieceWriter {
  batch: Batch = new Batch();
  private readonly database: Database;
  private steps = 0;

  constructor(database: Database) {
    this.database = database;
  }

  async step(): Promise<void> {
    if (++this.steps % PIECE_ENTRIES === 0) await this.flush();
  }

  async flush(): Promise<void> {
    const { batch } = this;
    this.batch = new Batch();
    await this.database.write(batch);
  }
}
