import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, type Hash, keccak256 } from "../primitives/hash.ts";
import { compareBytes, equalBytes, toHex } from "../primitives/hex.ts";
import { Batch } from "../storage/batch.ts";
import { sealEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { accountKey, codeKey, STATE_HEAD_KEY, slotKey, stateRecordKey } from "../storage/stateKeys.ts";
import { encodeAccountLeaf, encodeSlotValue } from "./accountLeaf.ts";
import { ByteArena } from "./byteArena.ts";
import { encodeFlatAccount } from "./flatAccount.ts";
import { putPreimage } from "./preimages.ts";
import type { AccountOfState, SlotOfState } from "./stateLeaves.ts";
import { encodeStateHead, encodeStateRecord, type StateRecord } from "./stateRecord.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { NO_STORAGE } from "./trie/storedNode.ts";
import { TrieGrower } from "./trie/trieGrower.ts";
import { EMPTY_TRIE } from "./trie/trieRoot.ts";

/** The given leaves are not a valid state: out of order, a root that does not match, missing code. */
export class StateMismatch extends Error {
  override name = "StateMismatch";
}

/** Bytes of entries per write. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** An account whose slots are being added. */
interface OpenAccount extends AccountOfState {
  /** Undefined until its first slot. */
  storage: { readonly trieId: number; readonly trie: TrieGrower } | undefined;
  newestSlot: Hash | undefined;
}

/**
 * Writes a whole state into a database without one, from its leaves in the order of stateLeaves, in bounded memory: the
 * tries grow from left to right, and entries are written in pieces. Every storage trie must have the root that its
 * account names, and code must come before its account.
 *
 * The pages get `version`, the number below the block of that state: so they belong to no block's commit record, a start
 * need not verify the whole state, and no rewind removes them.
 */
export class StateLoader {
  accounts = 0;
  slots = 0;
  codes = 0;
  private readonly database: Database;
  private readonly version: number;
  private readonly arena = new ByteArena();
  private readonly tree: TrieGrower;
  /** Hashes of the code in the batch, which the database does not have yet. */
  private readonly newCodes = new Set<string>();
  private batch: Batch = new Batch();
  private nextTrieId = ACCOUNT_TRIE + 1;
  private open: OpenAccount | undefined;

  constructor(database: Database, version: number) {
    this.database = database;
    this.version = version;
    this.tree = this.grow(ACCOUNT_TRIE);
  }

  addCode(code: Uint8Array): void {
    const codeHash = keccak256(code);
    this.batch.put(codeKey(codeHash), Uint8Array.from(code));
    this.newCodes.add(toKey(codeHash));
    this.codes++;
  }

  /** Begins an account; its slots follow. Throws StateMismatch. */
  addAccount(next: AccountOfState): void {
    const before = this.open?.hash;
    if (before !== undefined && compareBytes(before, next.hash) >= 0)
      throw new StateMismatch("the accounts are not in the order of their hashes");
    this.closeAccount();
    if (!this.hasCode(next.account.codeHash))
      throw new StateMismatch(`the contract code ${toHex(next.account.codeHash)} is missing`);
    this.open = { ...next, storage: undefined, newestSlot: undefined };
    this.accounts++;
  }

  /** Adds a slot of the account begun last. Throws StateMismatch. */
  addSlot({ hash, slot, value }: SlotOfState): void {
    const owner = this.open;
    if (owner === undefined) throw new StateMismatch("a slot comes before any account");
    if (owner.newestSlot !== undefined && compareBytes(owner.newestSlot, hash) >= 0)
      throw new StateMismatch(
        `the slots of account ${toHex(owner.hash)} are not in the order of their hashes`,
      );
    owner.newestSlot = hash;
    owner.storage ??= { trieId: this.nextTrieId, trie: this.grow(this.nextTrieId++) };
    owner.storage.trie.add({ key: hash, value: encodeSlotValue(Uint8Array.from(value)) });
    const key = slotKey(owner.storage.trieId, hash);
    this.batch.put(key, sealEntry(key, value));
    if (slot !== undefined) putPreimage(this.batch, hash, slot);
    this.slots++;
  }

  /** Writes the gathered entries, once they are enough for one write. */
  async flushIfFull(): Promise<void> {
    if (this.batch.byteLength >= PIECE_BYTES) await this.flush();
  }

  /** Ends the state and writes the rest; returns its record, which putState makes the newest. Throws StateMismatch. */
  async finish(): Promise<StateRecord> {
    this.closeAccount();
    const root = this.tree.finish();
    await this.flush();
    return { root, nextTrieId: this.nextTrieId };
  }

  private async flush(): Promise<void> {
    const { batch } = this;
    this.batch = new Batch();
    await this.database.write(batch);
    this.newCodes.clear();
  }

  private closeAccount(): void {
    const closed = this.open;
    if (closed === undefined) return;
    const { hash, address, account, storage } = closed;
    const root = storage === undefined ? EMPTY_TRIE : storage.trie.finish();
    if (!equalBytes(root.hash, account.storageRoot))
      throw new StateMismatch(
        `the storage of account ${toHex(hash)} has the root ${toHex(root.hash)}, its account names ${toHex(account.storageRoot)}`,
      );
    const pointer = storage === undefined ? NO_STORAGE : { trieId: storage.trieId, version: root.version };
    this.tree.add({ key: hash, value: encodeAccountLeaf(account, this.arena), storage: pointer });
    const key = accountKey(hash);
    this.batch.put(key, sealEntry(key, encodeFlatAccount({ account, storage: pointer })));
    if (address !== undefined) putPreimage(this.batch, hash, address);
  }

  private hasCode(codeHash: Hash): boolean {
    if (equalBytes(codeHash, EMPTY_CODE_HASH) || this.newCodes.has(toKey(codeHash))) return true;
    return this.database.get(codeKey(codeHash)) !== undefined;
  }

  private grow(trieId: number): TrieGrower {
    const { version, arena } = this;
    return new TrieGrower({ trieId, version, arena, sink: (key, page) => this.batch.put(key, page) });
  }
}

/** Makes a loaded state the newest, that of block `number`. */
export function putState(batch: Batch, number: number, record: StateRecord): void {
  batch.put(stateRecordKey(number), encodeStateRecord(number, record));
  batch.put(STATE_HEAD_KEY, encodeStateHead({ number, epoch: 0 }));
}
