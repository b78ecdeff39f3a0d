import type { Address } from "../primitives/address.ts";
import { keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, toHex, toKey } from "../primitives/hex.ts";
import { damaged, openEntry } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { accountKey, slotKey } from "../storage/stateKeys.ts";
import { decodeFlatAccount, type FlatAccount } from "./flatAccount.ts";
import { createGenerations } from "./generations.ts";

export interface FlatLimits {
  /** Accounts kept in memory, some 300 bytes each. */
  readonly cachedAccounts: number;
  /** Slots kept in memory, some 300 bytes each. */
  readonly cachedSlots: number;
}

/** Whether the trie of the head has a leaf. */
export interface HeadTrie {
  hasAccount(addressHash: Uint8Array): boolean;
  hasSlot(owner: FlatAccount, slotHash: Uint8Array): boolean;
}

/** Accounts and slots by the names under which the cache knows them. */
export interface FlatEntries {
  readonly accounts: ReadonlyMap<string, FlatAccount | undefined>;
  readonly slots: ReadonlyMap<string, Uint8Array>;
}

/**
 * The latest state, one entry per account and per slot, kept in memory as far as the limits go. A checksum vouches for
 * each entry; for an entry's absence the trie does, because an entry can get lost without a trace.
 *
 * The column has one reading at any moment: between the write of a batch and its adoption the disk is already ahead,
 * so what the batch overwrites is held here meanwhile.
 */
export class FlatColumn {
  private readonly database: Database;
  private readonly trie: HeadTrie;
  private readonly accounts;
  private readonly slots;
  private overwritten: FlatEntries | undefined;

  constructor(database: Database, trie: HeadTrie, limits: FlatLimits) {
    this.database = database;
    this.trie = trie;
    this.accounts = createGenerations<string, CachedAccount>(limits.cachedAccounts, () => 1);
    this.slots = createGenerations<string, Uint8Array>(limits.cachedSlots, () => 1);
  }

  account(address: Address): FlatAccount | undefined {
    return this.accountNamed(toKey(address), address);
  }

  /** As account, where the hex text of the address is known already. */
  accountNamed(name: string, address: Address): FlatAccount | undefined {
    const known = this.accounts.get(name);
    if (known !== undefined) return known.flat;
    const held = this.overwritten?.accounts;
    const flat = held?.has(name) === true ? held.get(name) : this.readAccount(address);
    this.accounts.set(name, { flat });
    return flat;
  }

  slot(owner: FlatAccount, slot: Uint8Array): Uint8Array {
    const { trieId } = owner.storage;
    return trieId === 0 ? EMPTY_BYTES : this.slotNamed(slotName(trieId, slot), owner, slot);
  }

  /** As slot, where the name of the slot is known already. */
  slotNamed(name: string, owner: FlatAccount, slot: Uint8Array): Uint8Array {
    const known = this.slots.get(name);
    if (known !== undefined) return known;
    const value = this.overwritten?.slots.get(name) ?? this.readSlot(owner, slot);
    this.slots.set(name, value);
    return value;
  }

  /** From now on the disk may hold later values than these, which stay true until adopt. */
  hold(overwritten: FlatEntries): void {
    this.overwritten = overwritten;
  }

  adopt(entries: FlatEntries): void {
    this.overwritten = undefined;
    for (const [name, flat] of entries.accounts) this.accounts.set(name, { flat });
    for (const [name, value] of entries.slots) this.slots.set(name, value);
  }

  forget(): void {
    this.overwritten = undefined;
    this.accounts.clear();
    this.slots.clear();
  }

  private readAccount(address: Address): FlatAccount | undefined {
    const addressHash = keccak256(address);
    const key = accountKey(addressHash);
    const sealed = this.database.get(key);
    const what = () => `the account ${toHex(address)} at the head`;
    if (sealed !== undefined) return decodeFlatAccount(openEntry(key, sealed, what));
    if (this.trie.hasAccount(addressHash)) throw damaged(what, "it is in the trie, but its entry is missing");
    return undefined;
  }

  private readSlot(owner: FlatAccount, slot: Uint8Array): Uint8Array {
    const { trieId } = owner.storage;
    const slotHash = keccak256(slot);
    const key = slotKey(trieId, slotHash);
    const sealed = this.database.get(key);
    const what = () => `the slot ${toHex(slot)} of storage ${trieId} at the head`;
    if (sealed !== undefined) return openEntry(key, sealed, what);
    if (this.trie.hasSlot(owner, slotHash))
      throw damaged(what, "it is in the trie, but its entry is missing");
    return EMPTY_BYTES;
  }
}

/** A wrapper, so that an account known to be absent is told from one not known. */
interface CachedAccount {
  readonly flat: FlatAccount | undefined;
}

export function slotName(trieId: number, slot: Uint8Array): string {
  return `${toKey(slot)}${trieId}`;
}
