import { assert } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import { atOnce } from "../primitives/steps.ts";
import type { CodeReader } from "./codeReader.ts";
import { type StagedEntries, stageInSteps } from "./stagedState.ts";
import type { StateChanges } from "./stateChanges.ts";
import type { StateReader } from "./stateReader.ts";
import type { StateRecord } from "./stateRecord.ts";
import { type NodeReader, PageReader, type PageSource } from "./trie/pageReader.ts";
import type { StoredNode } from "./trie/storedNode.ts";
import { TrieState } from "./trieState.ts";

/** The states of a branch take more memory than the limit. */
export class BranchTooLarge extends Error {
  override name = "BranchTooLarge";
}

/** A stored state and the readers for it. */
interface BranchBase {
  readonly number: bigint;
  readonly record: StateRecord;
  readonly reader: NodeReader;
  readonly codes: CodeReader;
}

const BRANCH_LIMIT_BYTES = 128 * 1024 * 1024;
/** Size of the page cache: the nodes of a cached page are verified only once. */
const PAGE_CACHE_BYTES = 4 * 1024 * 1024;
/** Approximate memory of a page apart from its bytes. */
const PAGE_OVERHEAD_BYTES = 300;

/**
 * Simulated states of consecutive blocks on top of a stored one. They exist in memory only.
 *
 * The version of a page is its block's number, as in the database: a version above the base's number always belongs to
 * the branch, since the base refers to no newer page, whatever blocks the chain has after it.
 */
export class StateBranch implements NodeReader {
  private newest: TrieState;
  private readonly base: BranchBase;
  private readonly own = new Map<string, Uint8Array>();
  private readonly ownPages: PageReader;
  private readonly newCode = new Map<string, Uint8Array>();
  private record: StateRecord;
  private number: number;
  private leftBytes: number;

  constructor(base: BranchBase, limitBytes = BRANCH_LIMIT_BYTES) {
    this.base = base;
    this.record = base.record;
    this.number = Number(base.number);
    this.leftBytes = limitBytes;
    const pages: PageSource = { get: (key) => this.own.get(toKey(key)) };
    this.ownPages = new PageReader(pages, PAGE_CACHE_BYTES);
    this.newest = this.stateOf(base.record);
  }

  /** The newest simulated state, or the stored one before the first. */
  get head(): StateReader {
    return this.newest;
  }

  /** Applies `changes` to the head and makes the result the new head; returns its root. Throws BranchTooLarge. */
  extend(changes: StateChanges): Hash {
    const entries = entriesOf(this.newest);
    const base = { entries, reader: this, record: this.record, epoch: 0 };
    const staged = atOnce(stageInSteps(base, changes, ++this.number));
    for (const { key, page } of staged.pages) {
      this.spend(page.length + PAGE_OVERHEAD_BYTES);
      this.own.set(toKey(key), page);
    }
    for (const { codeHash, code } of changes.code) {
      this.spend(code.length);
      this.newCode.set(toKey(codeHash), code);
    }
    this.record = staged.record;
    this.newest = this.stateOf(staged.record);
    return staged.root;
  }

  read(trieId: number, key: Uint8Array, depth: number, node: StoredNode) {
    const reader = node.version > this.base.number ? this.ownPages : this.base.reader;
    return reader.read(trieId, key, depth, node);
  }

  private stateOf({ root }: StateRecord): TrieState {
    const { codes } = this.base;
    return new TrieState(this, root, {
      code: (codeHash) => this.newCode.get(toKey(codeHash)) ?? codes.code(codeHash),
      codeSize: (codeHash) => this.newCode.get(toKey(codeHash))?.length ?? codes.codeSize(codeHash),
    });
  }

  private spend(bytes: number): void {
    this.leftBytes -= bytes;
    if (this.leftBytes < 0) throw new BranchTooLarge("the simulated states take too much memory");
  }
}

function entriesOf(state: TrieState): StagedEntries {
  return {
    account: (address) => state.owner(address),
    slot: (owner, slot) => state.slot(owner, slot),
    hold: () => assert(false, "the states of a branch are never written"),
  };
}
