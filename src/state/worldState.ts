import type { Address } from "../primitives/address.ts";
import { assert } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { atOnce, type Steps } from "../primitives/steps.ts";
import type { Batch } from "../storage/batch.ts";
import { missing } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { CodeReader } from "./codeReader.ts";
import { FlatColumn, type FlatLimits, type HeadTrie } from "./flatColumn.ts";
import { JournaledOverlay, type Overlay } from "./overlay.ts";
import type { AccountProof } from "./proof.ts";
import { rebuildFlat } from "./rebuildFlat.ts";
import { rewindState } from "./rewind.ts";
import { Staged, stageInSteps, storageOf } from "./stagedState.ts";
import type { StateChanges } from "./stateChanges.ts";
import { DEFAULT_HISTORY_LIMITS, type HistoryLimits, StateHistory } from "./stateHistory.ts";
import type { StateReader } from "./stateReader.ts";
import { readStateHead, readStateRecord, type StateRecord } from "./stateRecord.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { findLeaf } from "./trie/findLeaf.ts";
import { HeadNodes } from "./trie/headNodes.ts";
import { EMPTY_TRIE } from "./trie/trieRoot.ts";

/*
 * The state of all accounts after every block. A block passes through this folder like this:
 *
 *      StateReader            the head's flat column, or any block's tries
 *          │
 *      Overlay                writes of a block in execution, in memory, with undo (overlay.ts)
 *          │ changes()
 *      stage()                new flat entries, new trie nodes, new root; writes nothing (stagedState.ts, trie/updateTrie.ts)
 *          │ writeTo(batch)
 *      the block's one batch  pages of nodes, flat entries, code, the block's state record, the state head
 *          │ once it is durable
 *      adopt()                the staged state is the head's, its entries are in the caches
 *
 * The state is stored twice. The flat column (flatColumn.ts) has the latest value of each account and slot under its
 * hash: one read. The tries have the values of every block: a node is stored in a page under the number of the block
 * that wrote it, the trie's id and the page's path, and a parent records the page of each child (trie/storedNode.ts).
 * So a block's nodes are written side by side, old ones are never touched, and every block stays readable (stateHistory.ts)
 * and provable (proof.ts).
 *
 * Each account's storage is a trie with its own id, which the account's leaf records. Cleared storage stays on disk;
 * the next slot of that account goes to a trie with a new id, so old slots are unreachable without being deleted.
 *
 * A rewind to block n (rewind.ts) deletes the pages above n and restores the flat entries of all leaves in those pages
 * and in the lists of deleted leaves.
 *
 * Invariants: the flat column equals the tries of the head (verifyState.ts compares them) · nodes, code and flat entries are
 * verified against their hash or checksum when they come from disk, and the trie confirms that an entry missing from
 * the flat column does not exist · the root in every state record was written by that block or an earlier one · readers
 * of the head see one block's state at any moment, also while the next batch is being written, while the head is
 * rewound (the batch is not read before it is announced), and while the flat column is rebuilt (reads use the tries).
 *
 * The chain decides the order of blocks and when to commit, and writes one batch at a time.
 */

/** A state root with its writes, until the block is committed or dropped. */
export interface StagedState {
  readonly root: Hash;
  readonly number: bigint;
  /** Adds trie nodes, flat entries, code and the state's commit entry to the block's one batch. */
  writeTo(batch: Batch): void;
  writeInSteps(batch: Batch): Steps<void>;
}

export interface WorldStateLimits extends FlatLimits, HistoryLimits {
  /** Trie nodes of the head kept in memory. */
  readonly nodeCacheBytes: number;
}

export const DEFAULT_WORLD_STATE_LIMITS: WorldStateLimits = {
  ...DEFAULT_HISTORY_LIMITS,
  // Cache of code: enough for one block to call 2,700 contracts of the greatest size repeatedly without a read from disk.
  codeCacheBytes: 64 * 1024 * 1024,
  nodeCacheBytes: 64 * 1024 * 1024,
  accountCacheBytes: 32 * 1024 * 1024,
  slotCacheBytes: 32 * 1024 * 1024,
};

const MOVED = "a state is staged only as long as its base is the head's";

/** The state before block 0. */
const EMPTY_STATE: StateRecord = { root: EMPTY_TRIE, nextTrieId: ACCOUNT_TRIE + 1 };

/** The state of the chain at every block: a flat column for the head, a versioned trie for all. */
export class WorldState {
  /** Sizes of the caches. */
  readonly limits: WorldStateLimits;
  /** State after the head block, from the flat column: the fastest read there is. Moves with the head. */
  readonly head: StateReader;
  private readonly database: Database;
  private readonly history;
  private readonly nodes: HeadNodes;
  private readonly flat: FlatColumn;
  /** Number of the head's block; undefined before block 0. */
  private number: number | undefined;
  private epoch = 0;
  private record: StateRecord = EMPTY_STATE;
  /** The state whose nodes are cached already, although it is not adopted yet. */
  private prepared: StagedState | undefined;
  /** The head's state from its tries, while the flat column is rebuilt. */
  private placeholder: StateReader | undefined;

  /** Opens the state of a chain. The head is the newest state in `database`; an empty database waits for block 0. */
  constructor(
    { database }: { readonly database: Database },
    limits: WorldStateLimits = DEFAULT_WORLD_STATE_LIMITS,
  ) {
    this.limits = limits;
    this.database = database;
    const codes = new CodeReader(database, limits.codeCacheBytes);
    this.history = new StateHistory(database, limits, codes);
    this.nodes = new HeadNodes(database, limits);
    this.flat = new FlatColumn(database, this.headTrie(), limits);
    this.head = this.headReader(codes);
    this.loadHead();
  }

  /** State after block `number`, from the trie, verified by hash on a cold read; undefined when not stored. */
  at(number: bigint): StateReader | undefined {
    return this.states?.at(number);
  }

  /** An empty overlay over the state after the head. Not valid once the head has moved. */
  overlay(): Overlay {
    return new JournaledOverlay(this.head);
  }

  /**
   * Derives the state root after `changes` to the head's state, for block `number`, the one after the head (genesis, 0n, in
   * an empty database). Writes nothing. There may be many staged states; at most one is adopted.
   */
  stage(changes: StateChanges, number: bigint): StagedState {
    return atOnce(this.stageChanges(changes, number));
  }

  /** Stages an overlay's changes in steps. Must be abandoned when the head moves meanwhile: its steps read the present head's state. */
  *stageInSteps(overlay: Pick<Overlay, "changesInSteps">, number: bigint): Steps<StagedState> {
    const { record } = this;
    const changes = yield* overlay.changesInSteps();
    assert(this.record === record, MOVED);
    return yield* this.stageChanges(changes, number);
  }

  private *stageChanges(changes: StateChanges, number: bigint): Steps<StagedState> {
    assert(number === BigInt((this.number ?? -1) + 1), "a state is staged for the block after the head");
    const { flat: entries, nodes: reader, record, epoch } = this;
    const steps = stageInSteps({ entries, reader, record, epoch }, changes, Number(number));
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      yield;
      assert(this.record === record, MOVED);
    }
  }

  /**
   * Does the slow part of `adopt` in advance, while the batch that `writeTo` filled is being written. Changes no reader's results;
   * the caller must adopt the state afterwards.
   */
  *prepareInSteps(staged: StagedState): Steps<void> {
    assert(staged instanceof Staged, "only what stage() made can be adopted");
    yield* this.nodes.adoptInSteps(staged.pages);
    yield* staged.cacheInSteps(this.flat);
    this.prepared = staged;
  }

  /** Makes a staged state the head's, once its batch is durable. */
  adopt(staged: StagedState): void {
    assert(staged instanceof Staged, "only what stage() made can be adopted");
    assert(staged.base.record === this.record, "a state is adopted on the head that it was staged for");
    if (this.prepared !== staged) atOnce(this.prepareInSteps(staged));
    this.prepared = undefined;
    this.flat.release();
    this.record = staged.record;
    this.number = Number(staged.number);
  }

  /** Merkle proofs at block `number` (eth_getProof); undefined when that state is not stored. */
  prove(number: bigint, address: Address, slots: readonly Uint8Array[]): AccountProof | undefined {
    return this.states?.prove(number, address, slots);
  }

  /**
   * Adds to `batch` the operations that make the state after block `number` the newest again. Reads must not see the
   * batch (Database.freeze) before `reload`, which the caller calls once it is durable.
   */
  async rewind(number: bigint, batch: Batch): Promise<void> {
    assert(
      this.number !== undefined && number >= 0n && number <= this.number,
      "a rewind leads to a stored state",
    );
    await rewindState(this.database, Number(number), batch);
  }

  /** Clears the caches after a durable write by others that made block `number` the head: a rewind, a bulk import. */
  reload(number: bigint): void {
    this.flat.forget();
    this.nodes.forget();
    this.prepared = undefined;
    this.loadHead();
    assert(this.number === Number(number), "this block is the head of the database");
  }

  /** Rebuilds the head's flat column from its tries, which serve reads meanwhile. Nothing may be committed before. */
  async rebuildHead(): Promise<void> {
    assert(this.number !== undefined, "there is a state to rebuild");
    this.placeholder = this.history.at(BigInt(this.number));
    try {
      await rebuildFlat(this.database, this.record.root);
    } finally {
      this.flat.forget();
      this.placeholder = undefined;
    }
  }

  /** The stored states; undefined before block 0. */
  private get states(): StateHistory | undefined {
    return this.number === undefined ? undefined : this.history;
  }

  private loadHead(): void {
    const head = readStateHead(this.database);
    if (head === undefined) return;
    const record = readStateRecord(this.database, head.number);
    if (record === undefined) throw missing(`the state record of block ${head.number}`);
    this.record = record;
    this.number = head.number;
    this.epoch = head.epoch;
  }

  private headReader(codes: CodeReader): StateReader {
    const { flat } = this;
    return {
      account: (address) =>
        this.placeholder === undefined ? flat.account(address)?.account : this.placeholder.account(address),
      storage: (address, slot) => {
        if (this.placeholder !== undefined) return this.placeholder.storage(address, slot);
        const owner = flat.account(address);
        return owner === undefined ? EMPTY_BYTES : flat.slot(owner, slot);
      },
      code: (codeHash) => codes.code(codeHash),
      codeSize: (codeHash) => codes.codeSize(codeHash),
    };
  }

  private headTrie(): HeadTrie {
    const reader = this.nodes;
    return {
      hasAccount: (addressHash) =>
        findLeaf({ reader, trieId: ACCOUNT_TRIE, root: this.record.root }, addressHash) !== undefined,
      hasSlot: (owner, slotHash) => {
        const { root, storage } = storageOf(owner);
        return findLeaf({ reader, trieId: storage.trieId, root }, slotHash) !== undefined;
      },
    };
  }
}
