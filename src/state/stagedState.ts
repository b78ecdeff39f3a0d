import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes } from "../primitives/hex.ts";
import { atOnce, type Steps } from "../primitives/steps.ts";
import type { Batch } from "../storage/batch.ts";
import type { Account } from "../types/account.ts";
import { encodeAccountLeaf, encodeSlotValue } from "./accountLeaf.ts";
import { ByteArena } from "./byteArena.ts";
import { encodeFlatAccount, type FlatAccount } from "./flatAccount.ts";
import type { FlatColumn, OverwrittenEntries } from "./flatColumn.ts";
import type { AccountChange, StateChanges } from "./stateChanges.ts";
import type { StateRecord } from "./stateRecord.ts";
import {
  ACCOUNT_TRIE,
  type AccountLeafChange,
  type SlotLeafChange,
  writeStateInSteps,
} from "./stateWriter.ts";
import type { NewPage } from "./trie/headNodes.ts";
import type { NodeReader } from "./trie/pageReader.ts";
import { findChange, sortChanges } from "./trie/sortChanges.ts";
import { NO_STORAGE, type StoragePointer, VERSION_LIMIT } from "./trie/storedNode.ts";
import { EMPTY_TRIE, isEmptyTrie, type TrieRoot } from "./trie/trieRoot.ts";
import { type TrieChange, updateTrieInSteps } from "./trie/updateTrie.ts";

/** The state that a stage builds on, and the readers for it. */
interface StageBase {
  readonly entries: StagedEntries;
  readonly reader: NodeReader;
  readonly record: StateRecord;
  readonly epoch: number;
}

/** Reads the entries of the state that a stage builds on. */
export interface StagedEntries {
  account(address: Address): FlatAccount | undefined;
  slot(owner: FlatAccount, slot: Uint8Array): Uint8Array;
  /** Called when the staged state is written to a batch (see FlatColumn). */
  hold(overwritten: OverwrittenEntries): void;
}

/**
 * Derives the state after block `number` from its base and `changes`. Writes nothing. Must be abandoned once the base
 * is no longer the head's state: later steps would read another state.
 */
export function* stageInSteps(base: StageBase, changes: StateChanges, number: number): Steps<Staged> {
  assert(number < VERSION_LIMIT, "the number of a block fits 32 bits");
  const staged = new Staged(base, changes, number);
  yield* staged.derive(changes.accounts);
  return staged;
}

/** Work per step: less than a millisecond when the entries are in memory. */
const STEP_ACCOUNTS = 64;
const STEP_SLOTS = 128;

/**
 * A StagedState (worldState.ts): a derived state that is not committed yet. Cleared storage keeps its trie (old blocks
 * need it) and its flat slots (they are unreachable once the account refers to another trie, and valid again after a
 * rewind); the account's next slots go to a trie with a new id.
 */
export class Staged implements OverwrittenEntries {
  readonly number: bigint;
  readonly base: StageBase;
  private derived: StateRecord | undefined;
  private readonly version: number;
  private readonly code: StateChanges["code"];
  readonly pages: NewPage[] = [];
  private readonly accounts: AccountLeafChange[] = [];
  /** Changed slots by storage trie. */
  private readonly storages = new Map<number, SlotLeafChange[]>();
  private readonly arena = new ByteArena();
  private nextTrieId: number;

  constructor(base: StageBase, changes: StateChanges, number: number) {
    this.base = base;
    this.version = number;
    this.number = BigInt(number);
    this.nextTrieId = base.record.nextTrieId;
    this.code = changes.code;
  }

  /** Must finish before any other member is used. */
  *derive(accounts: StateChanges["accounts"]): Steps<void> {
    const { record } = this.base;
    for (const [index, change] of accounts.entries()) {
      if (index > 0 && index % STEP_ACCOUNTS === 0) yield;
      const before = this.base.entries.account(change.address);
      const storage =
        change.account === undefined || change.slots.length === 0
          ? storageToKeep(change, before)
          : yield* this.stageStorage(change, before);
      const leaf = this.leafOf(change, before, storage);
      if (leaf !== undefined) this.accounts.push(leaf);
    }
    const root = yield* this.updateTrie(ACCOUNT_TRIE, record.root, this.accounts);
    this.derived = { root, nextTrieId: this.nextTrieId };
  }

  get record(): StateRecord {
    return expectDefined(this.derived, "the root of a staged state");
  }

  get root(): Hash {
    return this.record.root.hash;
  }

  writeTo(batch: Batch): void {
    atOnce(this.writeInSteps(batch));
  }

  *writeInSteps(batch: Batch): Steps<void> {
    const { version, record, pages, accounts, storages, code, arena } = this;
    const { epoch, entries } = this.base;
    yield* writeStateInSteps(batch, { version, epoch, record, pages, accounts, storages, code }, arena);
    // This comes last, because reads need the previous values from memory only once the batch is being written.
    entries.hold(this);
  }

  /** Caches the new entries, which reads do not see before the column is released. */
  *cacheInSteps(flat: FlatColumn): Steps<void> {
    for (const [index, { address, after }] of this.accounts.entries()) {
      if (index % STEP_SLOTS === 0) yield;
      flat.keepAccount(address, after);
    }
    for (const [trieId, slots] of this.storages)
      for (const [index, { slot, after }] of slots.entries()) {
        if (index > 0 && index % STEP_SLOTS === 0) yield;
        flat.keepSlot(trieId, slot, after);
      }
  }

  accountBefore(addressHash: Hash): { readonly before: FlatAccount | undefined } | undefined {
    return findChange(this.accounts, addressHash);
  }

  slotBefore(trieId: number, slotHash: Hash): Uint8Array | undefined {
    return findChange(this.storages.get(trieId) ?? [], slotHash)?.before;
  }

  /** The change to the account's leaf, with its storage staged; undefined when nothing changes. */
  private leafOf(
    { address, account }: AccountChange,
    before: FlatAccount | undefined,
    { root, storage }: StagedStorage,
  ): AccountLeafChange | undefined {
    if (account === undefined) {
      if (before === undefined) return undefined;
      const key = keccak256(address);
      return { key, address, before, after: EMPTY_BYTES, value: undefined, existed: true };
    }
    if (before !== undefined && isSame(before, account, storage)) return undefined;
    const { nonce, balance, codeHash } = account;
    const flat: FlatAccount = { account: { nonce, balance, storageRoot: root.hash, codeHash }, storage };
    return {
      key: keccak256(address),
      address,
      before,
      after: encodeFlatAccount(flat),
      value: encodeAccountLeaf(flat.account, this.arena),
      existed: before !== undefined,
      storage,
    };
  }

  private *stageStorage(change: AccountChange, before: FlatAccount | undefined): Steps<StagedStorage> {
    const owner = ownerOf(change, before);
    const unchanged = storageToKeep(change, before);
    const leaves: SlotLeafChange[] = [];
    for (const [index, { slot, value: after }] of change.slots.entries()) {
      if (index > 0 && index % STEP_SLOTS === 0) yield;
      const old = owner === undefined ? EMPTY_BYTES : this.base.entries.slot(owner, slot);
      if (equalBytes(old, after)) continue;
      const value = after.length === 0 ? undefined : encodeSlotValue(after);
      leaves.push({ key: keccak256(slot), slot, before: old, after, value, existed: old.length > 0 });
    }
    if (leaves.length === 0) return unchanged;
    const trieId = owner?.storage.trieId ?? this.nextTrieId++;
    this.storages.set(trieId, leaves);
    const root = yield* this.updateTrie(trieId, unchanged.root, leaves);
    return isEmptyTrie(root) ? STORAGE_EMPTY : { root, storage: { trieId, version: root.version } };
  }

  /** Sorts the leaves, as updateTrie and findChange require. */
  private *updateTrie(trieId: number, root: TrieRoot, leaves: TrieChange[]): Steps<TrieRoot> {
    yield* sortChanges(leaves);
    const sink = (key: Uint8Array, page: Uint8Array) => this.pages.push({ key, page });
    const { version, arena } = this;
    return yield* updateTrieInSteps({ trieId, version, reader: this.base.reader, sink, arena }, root, leaves);
  }
}

interface StagedStorage {
  readonly root: TrieRoot;
  readonly storage: StoragePointer;
}

const STORAGE_EMPTY: StagedStorage = { root: EMPTY_TRIE, storage: NO_STORAGE };

/** The account with its slots before a change; undefined when it has none, or when the change clears them. */
function ownerOf(
  { storageCleared }: AccountChange,
  before: FlatAccount | undefined,
): FlatAccount | undefined {
  return storageCleared || before?.storage.trieId === 0 ? undefined : before;
}

/** The storage of an account before its slots are written. */
function storageToKeep(change: AccountChange, before: FlatAccount | undefined): StagedStorage {
  const owner = ownerOf(change, before);
  return owner === undefined ? STORAGE_EMPTY : storageOf(owner);
}

/** The storage trie of an account; empty when it has none. */
export function storageOf({ account, storage }: FlatAccount): StagedStorage {
  return { root: { hash: account.storageRoot, version: storage.version }, storage };
}

function isSame(before: FlatAccount, account: Account, storage: StoragePointer): boolean {
  return (
    before.account.nonce === account.nonce &&
    before.account.balance === account.balance &&
    equalBytes(before.account.codeHash, account.codeHash) &&
    before.storage.trieId === storage.trieId &&
    before.storage.version === storage.version
  );
}
