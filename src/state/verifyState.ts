import { equalBytes, toHex } from "../primitives/hex.ts";
import { damaged, missing, openEntry } from "../storage/checksum.ts";
import { DamagedData, type Database } from "../storage/database.ts";
import { readHistoryStart, WHOLE_HISTORY } from "../storage/historyStart.ts";
import { KEY_PREFIXES, prefixRange } from "../storage/keys.ts";
import { readStateBase } from "../storage/stateBase.ts";
import { accountKey, parseSlotKey, parseTrieKey, slotKey, trieKeysFrom } from "../storage/stateKeys.ts";
import { decodeAccount, decodeSlotValue } from "./accountLeaf.ts";
import { CodeReader } from "./codeReader.ts";
import { encodeFlatAccount } from "./flatAccount.ts";
import { readStateHead, readStateRecord } from "./stateRecord.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { PageReader } from "./trie/pageReader.ts";
import { NO_STORAGE } from "./trie/storedNode.ts";
import { newTrieLeaves, type TrieLeaf, trieLeaves } from "./trie/trieLeaves.ts";
import type { TrieRoot } from "./trie/trieRoot.ts";

interface StateCheck {
  readonly accounts: number;
  readonly slots: number;
  /** Number of trie pages, of all blocks. */
  readonly pages: number;
  /** Blocks whose new nodes were checked. */
  readonly blocks: number;
  /** Descriptions of the damages, at most DAMAGE_LIMIT. */
  readonly damages: readonly string[];
}

/** Counts so far, while a check runs. */
type StateCheckProgress = Omit<StateCheck, "damages">;

const KEY_LENGTH = 32;
const PAGE_CACHE_BYTES = 32 * 1024 * 1024;
const CODE_CACHE_BYTES = 1024 * 1024;
/** Most damages that a check lists. */
const DAMAGE_LIMIT = 100;
/** Number of pages, leaves, flat entries and blocks between two calls of `onProgress`. */
const PROGRESS_ENTRIES = 10_000;

/**
 * Checks the states of all blocks, and the flat column against the state of the head:
 *
 *   1. Every page and every list of deleted leaves has its checksum.
 *   2. Every node that a block wrote exists and has its hash. Older nodes that it refers to belong to an older block
 *      and are checked with that. Where older states were removed, the first one is checked whole.
 *   3. Every leaf of the head has its flat entry, and every flat entry its leaf; contract code has its hash. Flat slots
 *      of cleared storage, which no account refers to any more, only need a valid checksum.
 */
export async function checkState(
  database: Database,
  onProgress: (progress: StateCheckProgress) => void | Promise<void> = () => undefined,
): Promise<StateCheck> {
  const check = new Checker(database, onProgress);
  await check.run();
  const { accounts, slots, pages, blocks, damages } = check;
  return { accounts, slots, pages, blocks, damages };
}

class Checker {
  accounts = 0;
  slots = 0;
  pages = 0;
  blocks = 0;
  readonly damages: string[] = [];
  private readonly database: Database;
  private readonly onProgress: (progress: StateCheckProgress) => void | Promise<void>;
  private readonly reader: PageReader;
  private readonly codes: CodeReader;
  /** Number of leaves in each storage trie that an account of the head refers to. */
  private readonly slotsOf = new Map<number, number>();
  private steps = 0;

  constructor(database: Database, onProgress: (progress: StateCheckProgress) => void | Promise<void>) {
    this.database = database;
    this.onProgress = onProgress;
    this.reader = new PageReader(database, PAGE_CACHE_BYTES);
    this.codes = new CodeReader(database, CODE_CACHE_BYTES);
  }

  async run(): Promise<void> {
    await this.checkPages();
    const root = await this.checkBlocks();
    if (root === undefined) return;
    const source = { reader: this.reader, trieId: ACCOUNT_TRIE, root };
    for (const leaf of trieLeaves(source, KEY_LENGTH, this.note)) {
      this.attempt(() => this.checkAccount(leaf));
      await this.checkStorage(leaf);
      await this.step();
    }
    await this.checkFlatAccounts();
    await this.checkFlatSlots();
  }

  /** Checks what each block wrote; returns the root of the newest. */
  private async checkBlocks(): Promise<TrieRoot | undefined> {
    const head = this.attempt(() => readStateHead(this.database));
    if (head === undefined) return undefined;
    let root: TrieRoot | undefined;
    const { states } = this.attempt(() => readHistoryStart(this.database)) ?? WHOLE_HISTORY;
    const first = Number(states);
    const isPruned = this.attempt(() => readStateBase(this.database)) !== undefined;
    for (let number = first; number <= head.number; number++) {
      root = this.attempt(() => this.recordOf(number).root);
      if (root !== undefined && isPruned && number === first) await this.checkWholeState(root);
      // The state of an imported snapshot has an older version (stateLoader.ts), and all its nodes are new.
      else if (root !== undefined && (root.version === number || number === first))
        await this.checkNewNodes(root);
      this.blocks++;
      await this.step();
    }
    return root;
  }

  /** The first state whose predecessors were removed is made of nodes of many versions. */
  private async checkWholeState(root: TrieRoot): Promise<void> {
    const { reader } = this;
    for (const leaf of trieLeaves({ reader, trieId: ACCOUNT_TRIE, root }, KEY_LENGTH, this.note)) {
      await this.step();
      const { trieId, version } = leaf.storage ?? NO_STORAGE;
      if (trieId === 0) continue;
      const storage = { hash: decodeAccount(leaf.value).storageRoot, version };
      for (const _ of trieLeaves({ reader, trieId, root: storage }, KEY_LENGTH, this.note)) await this.step();
    }
  }

  private async checkNewNodes(root: TrieRoot): Promise<void> {
    const { reader } = this;
    for (const leaf of newTrieLeaves({ reader, trieId: ACCOUNT_TRIE, root }, KEY_LENGTH, this.note)) {
      await this.step();
      const { trieId, version } = leaf.storage ?? NO_STORAGE;
      if (trieId === 0 || version !== root.version) continue;
      const storage = { hash: decodeAccount(leaf.value).storageRoot, version };
      for (const _ of newTrieLeaves({ reader, trieId, root: storage }, KEY_LENGTH, this.note))
        await this.step();
    }
  }

  private recordOf(number: number) {
    const record = readStateRecord(this.database, number);
    if (record === undefined) throw missing(`the state record of block ${number}`);
    return record;
  }

  private async checkPages(): Promise<void> {
    for await (const [key, sealed] of this.database.range(trieKeysFrom(0))) {
      const { version, trieId } = parseTrieKey(key);
      this.attempt(() => openEntry(key, sealed, `a page of trie ${trieId} of block ${version}`));
      this.pages++;
      await this.step();
    }
  }

  private checkAccount(leaf: TrieLeaf): void {
    const key = accountKey(leaf.key);
    const what = `the account with the address hash ${toHex(leaf.key)} at the head`;
    this.accounts++;
    const account = decodeAccount(leaf.value);
    const expected = encodeFlatAccount({ account, storage: leaf.storage ?? NO_STORAGE });
    const sealed = this.database.get(key);
    if (sealed === undefined) throw missing(what);
    if (!equalBytes(openEntry(key, sealed, what), expected))
      throw damaged(what, "it differs from its leaf in the trie");
    this.codes.code(account.codeHash);
  }

  private async checkStorage(leaf: TrieLeaf): Promise<void> {
    const { trieId, version } = leaf.storage ?? NO_STORAGE;
    if (trieId === 0) return;
    const root = { hash: decodeAccount(leaf.value).storageRoot, version };
    let count = 0;
    for (const slot of trieLeaves({ reader: this.reader, trieId, root }, KEY_LENGTH, this.note)) {
      this.attempt(() => this.checkSlot(trieId, slot));
      count++;
      await this.step();
    }
    this.slotsOf.set(trieId, count);
  }

  private checkSlot(trieId: number, leaf: TrieLeaf): void {
    this.slots++;
    const key = slotKey(trieId, leaf.key);
    const what = `the slot with the hash ${toHex(leaf.key)} of storage ${trieId} at the head`;
    const sealed = this.database.get(key);
    if (sealed === undefined) throw missing(what);
    if (!equalBytes(openEntry(key, sealed, what), decodeSlotValue(leaf.value)))
      throw damaged(what, "it differs from its leaf in the trie");
  }

  /** Every leaf is known to have its entry by now, so only surplus entries can remain. */
  private async checkFlatAccounts(): Promise<void> {
    let count = 0;
    for await (const _ of this.database.range(prefixRange(KEY_PREFIXES.account))) {
      count++;
      await this.step();
    }
    if (count > this.accounts) this.add(`${count - this.accounts} accounts at the head are in no trie`);
  }

  private async checkFlatSlots(): Promise<void> {
    const counts = new Map<number, number>();
    for await (const [key, sealed] of this.database.range(prefixRange(KEY_PREFIXES.slot))) {
      const { trieId, slotHash } = parseSlotKey(key);
      this.attempt(() =>
        openEntry(key, sealed, `the slot with the hash ${toHex(slotHash)} of storage ${trieId}`),
      );
      if (this.slotsOf.has(trieId)) counts.set(trieId, (counts.get(trieId) ?? 0) + 1);
      await this.step();
    }
    for (const [trieId, count] of counts) {
      const extra = count - (this.slotsOf.get(trieId) ?? 0);
      if (extra > 0) this.add(`${extra} slots of storage ${trieId} at the head are in no trie`);
    }
  }

  /** Returns the result of `part`, or undefined after recording its damage. */
  private attempt<T>(part: () => T): T | undefined {
    try {
      return part();
    } catch (error) {
      this.note(error);
      return undefined;
    }
  }

  private readonly note = (error: unknown): void => {
    if (!(error instanceof DamagedData)) throw error;
    this.add(error.message);
  };

  private add(damage: string): void {
    if (this.damages.length < DAMAGE_LIMIT) this.damages.push(damage);
  }

  private async step(): Promise<void> {
    if (++this.steps % PROGRESS_ENTRIES !== 0) return;
    const { accounts, slots, pages, blocks } = this;
    await this.onProgress({ accounts, slots, pages, blocks });
  }
}
