import { assert } from "../primitives/assert.ts";
import { type Hash, keccak256 } from "../primitives/hash.ts";
import { compareBytes, concatBytes, EMPTY_BYTES, equalBytes, toKey } from "../primitives/hex.ts";
import { sealEntry } from "../storage/checksum.ts";
import type { Batch } from "../storage/database.ts";
import {
  accountKey,
  codeKey,
  deletedLeavesKey,
  STATE_HEAD_KEY,
  slotKey,
  stateRecordKey,
} from "../storage/stateKeys.ts";
import { type Account, encodeAccount } from "../types/account.ts";
import { encodeSlotValue } from "./accountLeaf.ts";
import { encodeFlatAccount, type FlatAccount } from "./flatAccount.ts";
import { type FlatColumn, type FlatEntries, slotName } from "./flatColumn.ts";
import type { AccountChange, StateChanges } from "./overlay.ts";
import { encodeStateHead, encodeStateRecord, type StateRecord } from "./stateRecord.ts";
import { NO_STORAGE, type StoragePointer, VERSION_LIMIT } from "./trie/nodeRecord.ts";
import type { NodeReader } from "./trie/pageReader.ts";
import { EMPTY_TRIE, isEmptyTrie, type TrieRoot } from "./trie/trieRoot.ts";
import { type TrieChange, updateTrie } from "./trie/updateTrie.ts";
import type { StagedState } from "./worldState.ts";

/** The id of the account trie; storage tries count from 1. */
export const ACCOUNT_TRIE = 0;

/** Where a stage begins: the state of the head, and the means to read it. */
export interface StageBase {
  readonly flat: FlatColumn;
  readonly reader: NodeReader;
  readonly record: StateRecord;
  readonly epoch: number;
}

/** A new page of a trie. */
export interface NewPage {
  readonly trieId: number;
  readonly key: Uint8Array;
  readonly page: Uint8Array;
}

/** Derives all that `changes` make of the head's state, as the state after block `number`. Writes nothing. */
export function stageChanges(base: StageBase, changes: StateChanges, number: number): Staged {
  assert(number < VERSION_LIMIT, "the number of a block fits 32 bits");
  const staged = new Staged(base, number);
  const leaves: TrieChange[] = [];
  for (const change of changes.accounts) {
    const leaf = staged.stageAccount(change);
    if (leaf !== undefined) leaves.push(leaf);
  }
  staged.finish(leaves);
  for (const { codeHash, code } of changes.code) staged.putCode(codeHash, code);
  return staged;
}

/**
 * A state that is derived but not yet anyone's: what its commit writes, and what its adoption takes over. Storage that
 * is cleared keeps its trie (old blocks need it) and its flat slots (they are unreachable once the account names
 * another trie, and right again after a rewind); the account's next slots go to a trie with a new id.
 */
export class Staged implements StagedState {
  readonly number: bigint;
  readonly base: StageBase;
  readonly after: FlatEntries;
  readonly pages: NewPage[] = [];
  private readonly version: number;
  private readonly accountsBefore = new Map<string, FlatAccount | undefined>();
  private readonly accountsAfter = new Map<string, FlatAccount | undefined>();
  private readonly slotsBefore = new Map<string, Uint8Array>();
  private readonly slotsAfter = new Map<string, Uint8Array>();
  private readonly puts: { readonly key: Uint8Array; readonly value: Uint8Array }[] = [];
  private readonly deletes: Uint8Array[] = [];
  private accountRoot: TrieRoot;
  private nextTrieId: number;

  constructor(base: StageBase, number: number) {
    this.base = base;
    this.version = number;
    this.number = BigInt(number);
    this.accountRoot = base.record.root;
    this.nextTrieId = base.record.nextTrieId;
    this.after = { accounts: this.accountsAfter, slots: this.slotsAfter };
  }

  get root(): Hash {
    return this.accountRoot.hash;
  }

  get record(): StateRecord {
    return { root: this.accountRoot, nextTrieId: this.nextTrieId };
  }

  writeTo(batch: Batch): void {
    const { flat, epoch } = this.base;
    flat.hold({ accounts: this.accountsBefore, slots: this.slotsBefore });
    for (const { key, page } of this.pages) batch.put(key, page);
    for (const key of this.deletes) batch.delete(key);
    for (const { key, value } of this.puts) batch.put(key, value);
    batch.put(stateRecordKey(this.version), encodeStateRecord(this.version, this.record));
    batch.put(STATE_HEAD_KEY, encodeStateHead({ number: this.version, epoch }));
  }

  putCode(codeHash: Hash, code: Uint8Array): void {
    this.puts.push({ key: codeKey(codeHash), value: code });
  }

  finish(leaves: TrieChange[]): void {
    this.accountRoot = this.updateTrie(ACCOUNT_TRIE, this.accountRoot, leaves);
  }

  /** Stages an account with its storage; answers the change of its leaf, if there is one. */
  stageAccount(change: AccountChange): TrieChange | undefined {
    const { address, account } = change;
    const name = toKey(address);
    const before = this.base.flat.accountNamed(name, address);
    const key = keccak256(address);
    if (account === undefined) {
      if (before === undefined) return undefined;
      this.noteAccount(name, before, undefined);
      this.deletes.push(accountKey(key));
      return { key, value: undefined, existed: true };
    }
    const { root, storage } = this.stageStorage(change, before);
    if (before !== undefined && isSame(before, account, storage)) return undefined;
    const { nonce, balance, codeHash } = account;
    const after: FlatAccount = { account: { nonce, balance, storageRoot: root.hash, codeHash }, storage };
    this.noteAccount(name, before, after);
    this.putSealed(accountKey(key), encodeFlatAccount(after));
    return { key, value: encodeAccount(after.account), existed: before !== undefined, storage };
  }

  private stageStorage(change: AccountChange, before: FlatAccount | undefined): StagedStorage {
    const owner = change.storageCleared || before?.storage.trieId === 0 ? undefined : before;
    if (change.slots.length === 0) return owner === undefined ? STORAGE_EMPTY : storageOf(owner);
    const trieId = owner?.storage.trieId ?? this.nextTrieId;
    const leaves: TrieChange[] = [];
    for (const { slot, value } of change.slots) {
      const name = slotName(trieId, slot);
      const old = owner === undefined ? EMPTY_BYTES : this.base.flat.slotNamed(name, owner, slot);
      if (equalBytes(old, value)) continue;
      const key = keccak256(slot);
      this.slotsBefore.set(name, old);
      this.slotsAfter.set(name, value);
      if (value.length === 0) this.deletes.push(slotKey(trieId, key));
      else this.putSealed(slotKey(trieId, key), value);
      leaves.push({
        key,
        value: value.length === 0 ? undefined : encodeSlotValue(value),
        existed: old.length > 0,
      });
    }
    if (leaves.length === 0) return owner === undefined ? STORAGE_EMPTY : storageOf(owner);
    if (trieId === this.nextTrieId) this.nextTrieId++;
    const root = this.updateTrie(trieId, owner === undefined ? EMPTY_TRIE : storageOf(owner).root, leaves);
    return isEmptyTrie(root) ? STORAGE_EMPTY : { root, storage: { trieId, version: root.version } };
  }

  private updateTrie(trieId: number, root: TrieRoot, leaves: TrieChange[]): TrieRoot {
    leaves.sort((a, b) => compareBytes(a.key, b.key));
    const deleted = leaves.filter(({ value }) => value === undefined).map(({ key }) => key);
    if (deleted.length > 0) this.putSealed(deletedLeavesKey(this.version, trieId), concatBytes(...deleted));
    const sink = (key: Uint8Array, page: Uint8Array) => this.pages.push({ trieId, key, page });
    return updateTrie({ trieId, version: this.version, reader: this.base.reader, sink }, root, leaves);
  }

  private noteAccount(name: string, before: FlatAccount | undefined, after: FlatAccount | undefined): void {
    assert(!this.accountsAfter.has(name), "an account changes once in a block's dirty set");
    this.accountsBefore.set(name, before);
    this.accountsAfter.set(name, after);
  }

  private putSealed(key: Uint8Array, value: Uint8Array): void {
    this.puts.push({ key, value: sealEntry(key, value) });
  }
}

interface StagedStorage {
  readonly root: TrieRoot;
  readonly storage: StoragePointer;
}

const STORAGE_EMPTY: StagedStorage = { root: EMPTY_TRIE, storage: NO_STORAGE };

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
