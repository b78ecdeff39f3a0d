import { type Address, asAddress } from "../primitives/address.ts";
import { asHash, type Hash, keccak256 } from "../primitives/hash.ts";
import { missing } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { readHistoryStart } from "../storage/historyStart.ts";
import { decodeAccount, decodeSlotValue } from "./accountLeaf.ts";
import { StateBranch } from "./branch.ts";
import { CodeReader } from "./codeReader.ts";
import { KeptNodes } from "./keptNodes.ts";
import { readPreimage } from "./preimages.ts";
import { type AccountProof, proveAccount } from "./proof.ts";
import type { StateReader } from "./stateReader.ts";
import { readStateHead, readStateRecord, type StateRecord } from "./stateRecord.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { changedLeaves } from "./trie/changedLeaves.ts";
import { findLeaf } from "./trie/findLeaf.ts";
import { type NodeReader, PageReader } from "./trie/pageReader.ts";
import { trieLeavesFrom } from "./trie/trieLeaves.ts";
import type { TrieRoot } from "./trie/trieRoot.ts";
import { TrieState } from "./trieState.ts";

interface ListedAccount {
  readonly hash: Hash;
  /** Undefined when only the hash is known. */
  readonly address: Address | undefined;
}

export interface ListedSlot {
  readonly hash: Hash;
  /** Undefined when only the hash is known. */
  readonly slot: Hash | undefined;
  readonly value: Uint8Array;
}

export interface HistoryLimits {
  /** Trie pages kept in memory. */
  readonly pageCacheBytes: number;
  readonly codeCacheBytes: number;
}

export const DEFAULT_HISTORY_LIMITS: HistoryLimits = {
  pageCacheBytes: 16 * 1024 * 1024,
  codeCacheBytes: 8 * 1024 * 1024,
};

/**
 * The states of all stored blocks, read from the tries. Throws DamagedData when the database has no state at all.
 *
 * It reads states from the database alone, so a worker thread can have its own and needs no message from the writing thread:
 * entries of a block never change, and the epoch in the record of the newest state reveals a rewind. It verifies every node
 * and all code against its hash. A reader whose state is removed meanwhile throws StateRemoved for what it can no longer
 * find.
 */
export class StateHistory {
  private readonly database: Database;
  private readonly codes: CodeReader;
  private readonly pages: PageReader;
  private epoch = 0;

  constructor(
    database: Database,
    limits = DEFAULT_HISTORY_LIMITS,
    codes = new CodeReader(database, limits.codeCacheBytes),
  ) {
    this.database = database;
    this.codes = codes;
    this.pages = new PageReader(database, limits.pageCacheBytes);
  }

  /** State after block `number`; undefined when it is not stored (yet). */
  at(number: bigint): StateReader | undefined {
    const root = this.rootAt(number);
    return root === undefined ? undefined : new TrieState(this.nodesAt(number), root, this.codes);
  }

  /**
   * Simulated states on top of the one after block `number`, in at most `limitBytes` of memory; undefined when it is not
   * stored (yet).
   */
  branch(number: bigint, limitBytes?: number): StateBranch | undefined {
    const record = this.recordAt(number);
    return (
      record &&
      new StateBranch({ number, record, reader: this.nodesAt(number), codes: this.codes }, limitBytes)
    );
  }

  /** Merkle proofs at block `number`; undefined when that state is not stored (yet). */
  prove(number: bigint, address: Address, slots: readonly Uint8Array[]): AccountProof | undefined {
    const root = this.rootAt(number);
    return root === undefined ? undefined : proveAccount(this.nodesAt(number), root, address, slots);
  }

  /**
   * The accounts after block `number` in the order of their address hashes, from `from` on; undefined when it is not stored
   * (yet).
   */
  accountsFrom(number: bigint, from: Hash): Iterable<ListedAccount> | undefined {
    const root = this.rootAt(number);
    return root === undefined ? undefined : accountsOf(this.database, this.nodesAt(number), root, from);
  }

  /**
   * The accounts that differ between the states after two blocks, those that only one of them has included, in the order of
   * their address hashes; undefined when either is not stored (yet). The work is that of the changes, not of the states.
   */
  accountsChangedBetween(from: bigint, to: bigint): Iterable<ListedAccount> | undefined {
    const [before, after] = [this.rootAt(from), this.rootAt(to)];
    if (before === undefined || after === undefined) return undefined;
    const versions = {
      before: { reader: this.nodesAt(from), trieId: ACCOUNT_TRIE, root: before },
      after: { reader: this.nodesAt(to), trieId: ACCOUNT_TRIE, root: after },
    };
    return listed(this.database, changedLeaves(versions, HASH_BYTES));
  }

  /** The non-empty slots of an account in the order of their hashes, from `from` on; undefined when it is not stored (yet). */
  slotsFrom(number: bigint, address: Address, from: Hash): Iterable<ListedSlot> | undefined {
    const root = this.rootAt(number);
    return root === undefined
      ? undefined
      : slotsOf(this.database, this.nodesAt(number), root, { address, from });
  }

  private recordAt(number: bigint): StateRecord | undefined {
    const head = readStateHead(this.database);
    if (head === undefined) throw missing("the record of the newest state");
    if (number < 0n || number > BigInt(head.number)) return undefined;
    if (head.epoch !== this.epoch) {
      this.pages.forget();
      this.epoch = head.epoch;
    }
    const record = readStateRecord(this.database, Number(number));
    if (record !== undefined) return record;
    if (number < readHistoryStart(this.database).states) return undefined;
    throw missing(`the state record of block ${number}`);
  }

  private rootAt(number: bigint): TrieRoot | undefined {
    return this.recordAt(number)?.root;
  }

  private nodesAt(number: bigint): NodeReader {
    return new KeptNodes(this.pages, this.database, number);
  }
}

function* accountsOf(
  database: Database,
  reader: NodeReader,
  root: TrieRoot,
  from: Hash,
): Generator<ListedAccount, void> {
  for (const { key } of trieLeavesFrom({ reader, trieId: ACCOUNT_TRIE, root }, from))
    yield listedAccount(database, key);
}

function* listed(database: Database, hashes: Iterable<Uint8Array>): Generator<ListedAccount, void> {
  for (const hash of hashes) yield listedAccount(database, hash);
}

function listedAccount(database: Database, hash: Uint8Array): ListedAccount {
  const address = readPreimage(database, hash);
  return { hash: asHash(hash), address: address && asAddress(address) };
}

const HASH_BYTES = 32;

function* slotsOf(
  database: Database,
  reader: NodeReader,
  root: TrieRoot,
  { address, from }: { readonly address: Address; readonly from: Hash },
): Generator<ListedSlot, void> {
  const leaf = findLeaf({ reader, trieId: ACCOUNT_TRIE, root }, keccak256(address));
  if (leaf?.storage === undefined || leaf.storage.trieId === 0) return;
  const { trieId, version } = leaf.storage;
  const storage = { hash: decodeAccount(leaf.value).storageRoot, version };
  for (const { key, value } of trieLeavesFrom({ reader, trieId, root: storage }, from)) {
    const slot = readPreimage(database, key);
    yield { hash: asHash(key), slot: slot && asHash(slot), value: decodeSlotValue(value) };
  }
}
