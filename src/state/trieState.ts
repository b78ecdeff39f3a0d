import type { Address } from "../primitives/address.ts";
import { BoundedCache } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import type { Account } from "../types/account.ts";
import { decodeAccount, decodeSlotValue } from "./accountLeaf.ts";
import type { CodeReader } from "./codeReader.ts";
import type { FlatAccount } from "./flatAccount.ts";
import type { StateReader } from "./stateReader.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { findLeaf } from "./trie/findLeaf.ts";
import type { NodeReader } from "./trie/pageReader.ts";
import { NO_STORAGE } from "./trie/storedNode.ts";
import type { TrieRoot } from "./trie/trieRoot.ts";

/** Number of accounts that a reader caches, so that reads of their slots do not look up the account again. */
const KEPT_ACCOUNTS = 1000;

/** One state, read from its tries. */
export class TrieState implements StateReader {
  private readonly codes: Pick<CodeReader, "code" | "codeSize">;
  private readonly reader: NodeReader;
  private readonly root: TrieRoot;
  private readonly accounts = new BoundedCache<string, { readonly found: FlatAccount | undefined }>(
    KEPT_ACCOUNTS,
  );

  constructor(reader: NodeReader, root: TrieRoot, codes: Pick<CodeReader, "code" | "codeSize">) {
    this.reader = reader;
    this.root = root;
    this.codes = codes;
  }

  account(address: Address): Account | undefined {
    return this.owner(address)?.account;
  }

  storage(address: Address, slot: Uint8Array): Uint8Array {
    const owner = this.owner(address);
    return owner === undefined ? EMPTY_BYTES : this.slot(owner, slot);
  }

  code(codeHash: Hash): Uint8Array {
    return this.codes.code(codeHash);
  }

  codeSize(codeHash: Hash): number {
    return this.codes.codeSize(codeHash);
  }

  /** The account with the pointer to its storage. */
  owner(address: Address): FlatAccount | undefined {
    const name = toKey(address);
    const known = this.accounts.get(name);
    if (known !== undefined) return known.found;
    const { reader, root } = this;
    const leaf = findLeaf({ reader, trieId: ACCOUNT_TRIE, root }, keccak256(address));
    const found = leaf && { account: decodeAccount(leaf.value), storage: leaf.storage ?? NO_STORAGE };
    this.accounts.set(name, { found }, 1);
    return found;
  }

  slot({ account, storage }: FlatAccount, slot: Uint8Array): Uint8Array {
    if (storage.trieId === 0) return EMPTY_BYTES;
    const root = { hash: account.storageRoot, version: storage.version };
    const leaf = findLeaf({ reader: this.reader, trieId: storage.trieId, root }, keccak256(slot));
    return leaf === undefined ? EMPTY_BYTES : decodeSlotValue(leaf.value);
  }
}
