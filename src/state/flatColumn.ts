import type { Address } from "../primitives/address.ts";
import { type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, toHex } from "../primitives/hex.ts";
import { damaged, openEntry, writeUint32 } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import { accountKey, slotKey } from "../storage/stateKeys.ts";
import { ByteCache } from "./byteCache.ts";
import { decodeFlatAccount, encodeFlatAccount, type FlatAccount } from "./flatAccount.ts";

export interface FlatLimits {
  /** Memory for accounts of the head, some 60 bytes each. */
  readonly accountCacheBytes: number;
  /** Memory for slots of the head, some 80 bytes each. */
  readonly slotCacheBytes: number;
}

/** Checks whether the head's tries have a leaf. */
export interface HeadTrie {
  hasAccount(addressHash: Hash): boolean;
  hasSlot(owner: FlatAccount, slotHash: Hash): boolean;
}

/** The previous values of the entries that a batch in flight overwrites. */
export interface OverwrittenEntries {
  /** The previous account, wrapped because it may not have existed; undefined when the batch does not write it. */
  accountBefore(addressHash: Hash): { readonly before: FlatAccount | undefined } | undefined;
  slotBefore(trieId: number, slotHash: Hash): Uint8Array | undefined;
}

/**
 * The latest state, one entry per account and per slot, cached in memory up to the limits. A checksum protects each entry;
 * the trie confirms that a missing entry does not exist, because an entry could be lost without a trace.
 *
 * The column is consistent at any moment: between the write of a batch and its adoption the disk is already ahead, and the
 * caches are, bit by bit, so reads use the previous values that the batch keeps in memory.
 */
export class FlatColumn {
  private readonly database: Database;
  private readonly trie: HeadTrie;
  private readonly accounts: ByteCache;
  private readonly slots: ByteCache;
  private readonly slotCacheKey = new Uint8Array(40);
  private overwritten: OverwrittenEntries | undefined;

  constructor(database: Database, trie: HeadTrie, limits: FlatLimits) {
    this.database = database;
    this.trie = trie;
    this.accounts = new ByteCache(limits.accountCacheBytes);
    this.slots = new ByteCache(limits.slotCacheBytes);
  }

  account(address: Address): FlatAccount | undefined {
    const held = this.overwritten?.accountBefore(keccak256(address));
    if (held !== undefined) return held.before;
    const found = this.accounts.find(address);
    if (found !== undefined)
      return found.length === 0 ? undefined : decodeFlatAccount(found.bytes, found.start);
    const flat = this.readAccount(address, keccak256(address));
    this.keepAccount(address, flat === undefined ? EMPTY_BYTES : encodeFlatAccount(flat));
    return flat;
  }

  slot(owner: FlatAccount, slot: Uint8Array): Uint8Array {
    const { trieId } = owner.storage;
    if (trieId === 0) return EMPTY_BYTES;
    const held = this.overwritten?.slotBefore(trieId, keccak256(slot));
    if (held !== undefined) return held;
    const found = this.slots.find(this.cacheKeyOf(trieId, slot));
    if (found !== undefined)
      return found.length === 0
        ? EMPTY_BYTES
        : Uint8Array.prototype.slice.call(found.bytes, found.start, found.start + found.length);
    const value = this.readSlot(owner, slot, keccak256(slot));
    this.keepSlot(trieId, slot, value);
    return value;
  }

  /**
   * Makes reads use these values until the batch is adopted, because the disk and the caches may have newer ones from now on.
   */
  hold(overwritten: OverwrittenEntries): void {
    this.overwritten = overwritten;
  }

  release(): void {
    this.overwritten = undefined;
  }

  /** Caches an entry of the head, or of the batch in flight: an encoded account, or no bytes for one that does not exist. */
  keepAccount(address: Address, encoded: Uint8Array): void {
    this.accounts.put(address, { bytes: encoded, start: 0, length: encoded.length });
  }

  keepSlot(trieId: number, slot: Uint8Array, value: Uint8Array): void {
    this.slots.put(this.cacheKeyOf(trieId, slot), { bytes: value, start: 0, length: value.length });
  }

  forget(): void {
    this.overwritten = undefined;
    this.accounts.clear();
    this.slots.clear();
  }

  private readAccount(address: Address, addressHash: Hash): FlatAccount | undefined {
    const key = accountKey(addressHash);
    const sealed = this.database.get(key);
    const what = () => `the account ${toHex(address)} at the head`;
    if (sealed !== undefined) return decodeFlatAccount(openEntry(key, sealed, what));
    if (this.trie.hasAccount(addressHash))
      throw damaged(what, "the trie has it, but its flat entry is missing");
    return undefined;
  }

  private readSlot(owner: FlatAccount, slot: Uint8Array, slotHash: Hash): Uint8Array {
    const { trieId } = owner.storage;
    const key = slotKey(trieId, slotHash);
    const sealed = this.database.get(key);
    const what = () => `the slot ${toHex(slot)} of storage ${trieId} at the head`;
    if (sealed !== undefined) return openEntry(key, sealed, what);
    if (this.trie.hasSlot(owner, slotHash))
      throw damaged(what, "the trie has it, but its flat entry is missing");
    return EMPTY_BYTES;
  }

  /** Key in the cache: trie id as u64, then the slot. Reuses one array. */
  private cacheKeyOf(trieId: number, slot: Uint8Array): Uint8Array {
    const key = this.slotCacheKey;
    writeUint32(key, 0, Math.floor(trieId / 2 ** 32));
    writeUint32(key, 4, trieId % 2 ** 32);
    key.set(slot, 8);
    return key;
  }
}
