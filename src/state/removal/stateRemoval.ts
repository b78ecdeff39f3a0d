import { expectDefined } from "../../primitives/assert.ts";
import { openEntry } from "../../storage/checksum.ts";
import type { Database } from "../../storage/database.ts";
import { readHistoryStart } from "../../storage/historyStart.ts";
import { NO_BASE, putStateBase, readStateBase } from "../../storage/stateBase.ts";
import {
  deletedLeavesKey,
  parseTrieKey,
  stateRecordKeysBefore,
  trieKeysBetween,
} from "../../storage/stateKeys.ts";
import { decodeAccount } from "../accountLeaf.ts";
import { readStateRecord } from "../stateRecord.ts";
import { ACCOUNT_TRIE } from "../stateWriter.ts";
import { withNibble } from "../trie/nibbles.ts";
import { isBranchNode, isLeafNode, readPath, secondItem } from "../trie/nodeRlp.ts";
import { PageReader } from "../trie/pageReader.ts";
import { childOf, leafContents, readNode } from "../trie/readNode.ts";
import { extensionChild, NO_STORAGE, rootNode, type StoredNode } from "../trie/storedNode.ts";
import { isEmptyTrie, type TrieRoot } from "../trie/trieRoot.ts";
import { BaseNodes } from "./baseNodes.ts";
import { removePages } from "./pageRemoval.ts";
import { type RemovalStep, RemovalWriter, type StateRemovalLimits } from "./removalWriter.ts";

const KEY_LENGTH = 32;
const PAGE_CACHE_BYTES = 16 * 1024 * 1024;

const LIMITS: StateRemovalLimits = {
  bytes: 512 * 1024,
  operations: 4096,
  compactedBytes: 64 * 1024 * 1024,
};

/**
 * Removes the states before the start of the states' history, in steps between which the caller may pause. What makes a
 * state readable moves from the pages of the versions up to the start into the base (trie/baseNode.ts):
 *
 *   start of the states moved on, durably (chain/keepHistory.ts): to T; the base is that of S
 *   1. the records of the states before T are deleted: nobody begins to read those states any more
 *   2. the nodes of the state T that later versions than S wrote go into the base, parents first
 *   3. the nodes of the base that have no place in the tries of T are deleted
 *   4. the base is that of T
 *   5. the pages of versions up to T are deleted
 *
 * Until 4, nodes of versions after S are read from their pages. In 2 and 3 only nodes that T does not have are overwritten
 * and deleted. A reader that still reads an older state finds a node missing, never a wrong one, because each node is
 * verified against its hash.
 *
 * Each step can be repeated: what a kill leaves half done is done again from 1 on, with the same result. Only leaves that
 * were deleted after S can leave stale nodes, so 3 searches around each of those (BaseNodes.deleteStale): it needs neither
 * the older state nor a list of its nodes. A storage trie goes with the leaf of its account, before that is overwritten or
 * deleted.
 */
export async function* removeStates(
  database: Database,
  limits: StateRemovalLimits = LIMITS,
): AsyncGenerator<RemovalStep, void> {
  const start = Number(readHistoryStart(database).states);
  const base = readStateBase(database) ?? NO_BASE;
  if (start > base) yield* new StateRemoval(database, { base, start }, limits).run();
  if (start > 0) yield* removePages(database, start, limits);
}

/** The versions whose nodes move into the base: after `base`, up to `start`. */
interface RemovalRange {
  readonly base: number;
  readonly start: number;
}

class StateRemoval {
  private readonly database: Database;
  private readonly range: RemovalRange;
  private readonly writer: RemovalWriter;
  private readonly reader: PageReader;
  private readonly root: TrieRoot;
  private readonly nodes: BaseNodes;
  /** Roots of storage tries from which leaves were deleted, as they are in the new base; undefined for those that are gone. */
  private readonly shrunk = new Map<number, TrieRoot | undefined>();

  constructor(database: Database, range: RemovalRange, limits: StateRemovalLimits) {
    this.database = database;
    this.range = range;
    this.writer = new RemovalWriter(database, limits);
    this.reader = new PageReader(database, PAGE_CACHE_BYTES);
    this.root = expectDefined(readStateRecord(database, range.start), "the state at the start").root;
    this.nodes = new BaseNodes({ database, writer: this.writer, reader: this.reader, root: this.root });
  }

  async *run(): AsyncGenerator<RemovalStep, void> {
    yield* this.deleteRecords();
    for await (const { trieId } of this.deletedLeaves()) this.shrunk.set(trieId, undefined);
    yield* this.moveTrie(ACCOUNT_TRIE, this.root);
    for await (const { trieId, keys } of this.deletedLeaves()) {
      const root = trieId === ACCOUNT_TRIE ? this.root : this.shrunk.get(trieId);
      for (const key of keys) yield* this.nodes.deleteStale(trieId, root, key);
    }
    yield* this.writer.write((batch) => putStateBase(batch, this.range.start));
  }

  private async *deleteRecords(): AsyncGenerator<RemovalStep, void> {
    for await (const [key] of this.database.range(stateRecordKeysBefore(this.range.start))) {
      yield* this.writer.delete(key);
    }
    // The deletion of the records is durable before anything is overwritten.
    yield* this.writer.write();
  }

  /** Puts the nodes of a trie that are not in the base there, and those of the storage of its accounts. */
  private async *moveTrie(trieId: number, root: TrieRoot): AsyncGenerator<RemovalStep, void> {
    if (isEmptyTrie(root)) return;
    const visits: Visit[] = [
      { node: rootNode(root.hash, root.version), key: new Uint8Array(KEY_LENGTH), depth: 0 },
    ];
    for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
      const { node, key, depth } = visit;
      if (node.isEmbedded || node.version <= this.range.base) continue;
      const read = readNode({ reader: this.reader, trieId }, node, key, depth);
      yield* this.nodes.put({ trieId, key, depth }, read.record);
      const { record, rlp } = read;
      if (isBranchNode(record.bytes, rlp)) {
        for (let nibble = 15; nibble >= 0; nibble--) {
          const child = childOf(node, read, nibble);
          if (child !== undefined)
            visits.push({ node: child, key: withNibble(key, depth, nibble), depth: depth + 1 });
        }
        continue;
      }
      const path = Uint8Array.from(key);
      const until = readPath(record.bytes, rlp, path, depth);
      if (isLeafNode(record.bytes, rlp)) yield* this.moveStorage(leafContents(node, read));
      else {
        const child = extensionChild(record, secondItem(record.bytes, rlp));
        visits.push({ node: child, key: path, depth: until });
      }
    }
  }

  private async *moveStorage({
    value,
    storage = NO_STORAGE,
  }: ReturnType<typeof leafContents>): AsyncGenerator<RemovalStep, void> {
    const { trieId, version } = storage;
    if (trieId === 0 || version <= this.range.base) return;
    const root = { hash: decodeAccount(value).storageRoot, version };
    if (this.shrunk.has(trieId)) this.shrunk.set(trieId, root);
    yield* this.moveTrie(trieId, root);
  }

  /** The lists of deleted leaves of the versions that move, with their tries. */
  private async *deletedLeaves(): AsyncGenerator<
    { readonly trieId: number; readonly keys: Uint8Array[] },
    void
  > {
    // Before the first removal has ended, no stale nodes can exist.
    if (this.range.base === NO_BASE) return;
    for (let version = this.range.base + 1; version <= this.range.start; version++) {
      let { from, until } = trieKeysBetween(version, version + 1);
      for (;;) {
        const next = await firstKey(this.database, { from, until });
        if (next === undefined) break;
        const { trieId } = parseTrieKey(next);
        const key = deletedLeavesKey(version, trieId);
        const sealed = this.database.get(key);
        if (sealed !== undefined) {
          const bytes = openEntry(key, sealed, () => `a list of deleted leaves of block ${version}`);
          const keys: Uint8Array[] = [];
          for (let at = 0; at < bytes.length; at += KEY_LENGTH)
            keys.push(bytes.subarray(at, at + KEY_LENGTH));
          yield { trieId, keys };
        }
        // The list is the last entry of a trie.
        from = Uint8Array.of(...key, 0);
      }
    }
  }
}

interface Visit {
  readonly node: StoredNode;
  readonly key: Uint8Array;
  readonly depth: number;
}

async function firstKey(
  database: Database,
  keys: { readonly from: Uint8Array; readonly until: Uint8Array },
): Promise<Uint8Array | undefined> {
  for await (const [key] of database.range({ ...keys, limit: 1 })) return key;
  return undefined;
}
