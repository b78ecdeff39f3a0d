import { asHash, type Hash } from "../primitives/hash.ts";
import { missing } from "../storage/checksum.ts";
import type { Database } from "../storage/database.ts";
import type { Account } from "../types/account.ts";
import { decodeAccount, decodeSlotValue } from "./accountLeaf.ts";
import { readPreimage } from "./preimages.ts";
import { readStateRecord } from "./stateRecord.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { PageReader } from "./trie/pageReader.ts";
import { trieLeavesFrom } from "./trie/trieLeaves.ts";

/** An account of a whole state. */
export interface AccountOfState {
  /** keccak256 of its address. */
  readonly hash: Hash;
  /** Undefined when only the hash is known. */
  readonly address: Uint8Array | undefined;
  readonly account: Account;
}

/** A slot that is not empty. */
export interface SlotOfState {
  /** keccak256 of the slot's 32 bytes. */
  readonly hash: Hash;
  /** Undefined when only the hash is known. */
  readonly slot: Uint8Array | undefined;
  /** The slot's value without leading zeros. */
  readonly value: Uint8Array;
}

const PAGE_CACHE_BYTES = 32 * 1024 * 1024;
const FIRST_KEY = new Uint8Array(32);

/**
 * All accounts after block `number` in the order of their hashes, each with its slots in the order of theirs, which must be
 * read before the next account is. Every node is verified against its hash. Throws DamagedData, also when that state is not
 * stored.
 */
export function* stateLeaves(
  database: Database,
  number: number,
): Generator<AccountOfState & { readonly slots: Iterable<SlotOfState> }, void> {
  const record = readStateRecord(database, number);
  if (record === undefined) throw missing(`the state record of block ${number}`);
  const reader = new PageReader(database, PAGE_CACHE_BYTES);
  for (const leaf of trieLeavesFrom({ reader, trieId: ACCOUNT_TRIE, root: record.root }, FIRST_KEY)) {
    const account = decodeAccount(leaf.value);
    const trieId = leaf.storage?.trieId ?? 0;
    const root = { hash: account.storageRoot, version: leaf.storage?.version ?? 0 };
    const slots = trieId === 0 ? [] : slotsOf(database, trieLeavesFrom({ reader, trieId, root }, FIRST_KEY));
    yield { hash: asHash(leaf.key), address: readPreimage(database, leaf.key), account, slots };
  }
}

function* slotsOf(
  database: Database,
  leaves: Iterable<{ readonly key: Uint8Array; readonly value: Uint8Array }>,
): Generator<SlotOfState, void> {
  for (const { key, value } of leaves)
    yield { hash: asHash(key), slot: readPreimage(database, key), value: decodeSlotValue(value) };
}
