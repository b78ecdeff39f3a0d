import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import type { StoredEntry } from "./entry.ts";

/** A sender's account at the head. */
export interface SenderAccount {
  readonly nonce: bigint;
  readonly balanceWei: bigint;
  readonly isContract: boolean;
}

/**
 * One sender's transactions, in nonce order: `pending` is the unbroken run from the account's nonce, and `queued` the
 * rest beyond a gap. The first queued nonce is always greater than the end of the run, so filling the gap promotes the
 * following entries.
 */
export class SenderQueue {
  readonly sender: Address;
  /** Hex of the sender, under which the pool keeps the queue. */
  readonly key: string;
  /** The sender's account at the head that `generation` counts. */
  account: SenderAccount;
  generation: number;
  readonly #pending: StoredEntry[] = [];
  #queued: StoredEntry[] = [];
  /** Nonce of the first pending entry, if there is one: the first unused on chain. */
  #firstNonce: bigint;

  constructor(sender: Address, key: string, account: SenderAccount, generation: number) {
    this.sender = sender;
    this.key = key;
    this.account = account;
    this.generation = generation;
    this.#firstNonce = account.nonce;
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  get queuedCount(): number {
    return this.#queued.length;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0 && this.#queued.length === 0;
  }

  get firstNonce(): bigint {
    return this.#firstNonce;
  }

  /** The end of the unbroken run: the sender's next nonce. */
  get nextNonce(): bigint {
    return this.#firstNonce + BigInt(this.#pending.length);
  }

  /** The entry with the highest nonce, whose removal leaves no gap. */
  get last(): StoredEntry | undefined {
    return this.#queued.at(-1) ?? this.#pending.at(-1);
  }

  /** The entry before the last one, in nonce order. */
  get lastButOne(): StoredEntry | undefined {
    const { length } = this.#queued;
    if (length >= 2) return this.#queued[length - 2];
    return this.#pending.at(length === 1 ? -1 : -2);
  }

  /** All entries by rising nonce. */
  *entries(): Iterable<StoredEntry> {
    yield* this.#pending;
    yield* this.#queued;
  }

  pendingAt(nonce: bigint): StoredEntry | undefined {
    return this.#pending[Number(nonce - this.#firstNonce)];
  }

  get(nonce: bigint): StoredEntry | undefined {
    const pending = this.pendingAt(nonce);
    if (pending !== undefined) return pending;
    const queued = this.#queued[this.#queuedFrom(nonce)];
    return queued?.transaction.nonce === nonce ? queued : undefined;
  }

  /** Inserts an entry; returns the one of the same nonce that it replaced. */
  put(entry: StoredEntry): StoredEntry | undefined {
    const { nonce } = entry.transaction;
    assert(nonce >= this.#firstNonce, "used nonces are rejected at admission");
    const at = Number(nonce - this.#firstNonce);
    if (at < this.#pending.length) return this.#pending.splice(at, 1, entry)[0];
    if (at === this.#pending.length) {
      this.#pending.push(entry);
      this.#promote();
      return undefined;
    }
    const queuedAt = this.#queuedFrom(nonce);
    const isSameNonce = this.#queued[queuedAt]?.transaction.nonce === nonce;
    return this.#queued.splice(queuedAt, isSameNonce ? 1 : 0, entry)[0];
  }

  /** Removes an entry; pending ones behind it become queued. */
  remove(entry: StoredEntry): void {
    const { nonce } = entry.transaction;
    if (this.pendingAt(nonce) === entry) {
      const followers = this.#pending.splice(Number(nonce - this.#firstNonce)).slice(1);
      if (followers.length > 0) this.#queued = followers.concat(this.#queued);
      return;
    }
    const [removed] = this.#queued.splice(this.#queuedFrom(nonce), 1);
    assert(removed === entry, "an entry is removed from its own queue");
  }

  /**
   * Follows the account's nonce, forwards after a block and backwards after a rewind; returns the entries with used
   * nonces.
   */
  moveTo(nonce: bigint): readonly StoredEntry[] {
    const step = nonce - this.#firstNonce;
    if (step === 0n) return [];
    this.#firstNonce = nonce;
    if (step < 0n) {
      this.#queued = this.#pending.splice(0).concat(this.#queued);
      return [];
    }
    const used = this.#pending.splice(0, Number(step));
    if (this.#queued.length === 0) return used;
    const usedToo = this.#queued.splice(0, this.#queuedFrom(nonce));
    this.#promote();
    return used.concat(usedToo);
  }

  /** Index of the first queued entry whose nonce is not below `nonce`. */
  #queuedFrom(nonce: bigint): number {
    let low = 0;
    let high = this.#queued.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (expectDefined(this.#queued[middle], "an entry within bounds").transaction.nonce < nonce)
        low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Appends queued entries that the run has reached to it. */
  #promote(): void {
    let end = this.nextNonce;
    let promoted = 0;
    for (const entry of this.#queued) {
      if (entry.transaction.nonce !== end) break;
      this.#pending.push(entry);
      promoted++;
      end++;
    }
    if (promoted > 0) this.#queued.splice(0, promoted);
  }
}
