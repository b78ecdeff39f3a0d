import { equalBytes, toHex } from "../../primitives/hex.ts";
import { damaged, missing, openEntry } from "../checksum.ts";
import { type CommitRecord, RunningTally, readCommitRecord, readHead, type Tally } from "../commitRecord.ts";
import type { Database, DatabaseReads } from "../database.ts";
import { isWithin, readHistoryStart } from "../historyStart.ts";
import {
  blockNumberKey,
  bodyKey,
  headerKey,
  KEY_PREFIXES,
  numberRange,
  receiptsKey,
  transactionKey,
} from "../keys.ts";
import { readStateBase } from "../stateBase.ts";
import { parseTrieKey, trieKeysFrom } from "../stateKeys.ts";
import { readTransactions } from "./bodyStore.ts";
import { chunksOf } from "./chunks.ts";
import { type HeaderRecord, isHeaderAlone, readHeader } from "./headerStore.ts";

/** Limits of what a start verifies, from the head back. The newest block is always verified, whatever its size. */
interface VerifyLimits {
  readonly blocks: number;
  /** Most entries read in total; a block of 12,000 transfers has some 15,000. */
  readonly entries: number;
}

const VERIFY_LIMITS: VerifyLimits = { blocks: 16, entries: 40_000 };

/**
 * Verifies the newest blocks, from the head down: commit record, header, body, receipts, index entries and trie pages,
 * each against its checksum and together against the counts in the commit record; that each block is the parent of the
 * next; and that nothing is stored above the head. Throws DamagedData with the first mismatch.
 */
export async function verifyNewest(database: Database, limits: VerifyLimits = VERIFY_LIMITS): Promise<void> {
  const head = readHead(database);
  if (head === undefined) return;
  await refuseBlocksAbove(database, head.number);
  const start = readHistoryStart(database);
  let expected = head.hash;
  let entries = 0;
  for (let number = head.number; number >= 0n; number--) {
    if (head.number - number >= BigInt(limits.blocks) || entries > limits.entries) return;
    const header = readHeader(database, number);
    if (header === undefined) throw missing(`block ${number}`);
    if (!equalBytes(header.hash, expected))
      throw damaged(
        `block ${number}`,
        `the chain above it names ${toHex(expected)}, but ${toHex(header.hash)} is stored`,
      );
    // Below the block of a snapshot, and where old blocks are removed, only headers exist.
    if (isHeaderAlone(header) || !isWithin(start, number)) return;
    entries += await verifyCommit(database, header);
    expected = header.header.parentHash;
  }
}

/**
 * Verifies one block and what was committed with it; returns the number of entries that were read. `trieTally` is the tally
 * of the block's trie pages; they are searched for unless it is given.
 */
export async function verifyCommit(
  database: DatabaseReads,
  header: HeaderRecord,
  trieTally: (version: number) => Promise<Tally> = (version) => tallyTrie(database, version),
): Promise<number> {
  const { number, stateRoot } = header.header;
  const record = readCommitRecord(database, number);
  if (record === undefined) throw missing(`the commit record of block ${number}`);
  if (!equalBytes(record.hash, header.hash) || !equalBytes(record.stateRoot, stateRoot))
    throw damaged(`the commit record of block ${number}`, "it names another block or state root");
  compare(record, "block", await tallyBlock(database, header));
  await verifyTrie(database, record, trieTally);
  return record.block.count + record.trie.count;
}

/** Pages up to the start of the states move into the base while this reads them (state/removal/stateRemoval.ts). */
async function verifyTrie(
  database: DatabaseReads,
  record: CommitRecord,
  trieTally: (version: number) => Promise<Tally>,
): Promise<void> {
  if (isRemovable(database, record.number)) return;
  const found = await trieTally(Number(record.number));
  if (!isRemovable(database, record.number)) compare(record, "trie", found);
}

function isRemovable(database: DatabaseReads, number: bigint): boolean {
  return number <= readHistoryStart(database).states && readStateBase(database) !== undefined;
}

function compare(record: CommitRecord, part: "block" | "trie", found: Tally): void {
  const { count, checksum } = record[part];
  if (found.count === count && found.checksum === checksum) return;
  const what = part === "block" ? "the header, body, receipts or index" : "the state trie";
  throw damaged(
    `${what} of block ${record.number}`,
    `its commit record counts ${count} entries with checksum ${checksum}, ` +
      `but ${found.count} with checksum ${found.checksum} are stored`,
  );
}

async function tallyBlock(database: DatabaseReads, header: HeaderRecord): Promise<Tally> {
  const { number } = header.header;
  const keys = [headerKey(number), blockNumberKey(header.hash)];
  for (let chunk = 0; chunk < chunksOf(header.transactionCount); chunk++)
    keys.push(bodyKey(number, chunk), receiptsKey(number, chunk));
  for (const { hash } of readTransactions(database, number, header.transactionCount))
    keys.push(transactionKey(hash));
  const tally = new RunningTally();
  for (const key of keys) {
    const sealed = database.get(key);
    if (sealed === undefined) throw missing(`an entry of block ${number} (key ${toHex(key)})`);
    openEntry(key, sealed, () => `an entry of block ${number} (key ${toHex(key)})`);
    tally.add(sealed);
  }
  return tally;
}

/**
 * Tallies of the trie pages of many blocks, from the newest down: one pass over all pages, because a search for those of
 * each block takes longer than the rest of its verification, above all when most blocks have none. Must be closed.
 */
export class TrieTallies {
  private readonly pages: AsyncIterator<readonly [Uint8Array, Uint8Array]>;
  /** The newest page whose block was not requested yet. */
  private page: readonly [key: Uint8Array, sealed: Uint8Array] | undefined;

  constructor(database: Database) {
    this.pages = database.range({ ...trieKeysFrom(0), reverse: true })[Symbol.asyncIterator]();
  }

  /** The pages of a block below all that were requested before. Throws DamagedData when one is damaged. */
  async of(version: number): Promise<Tally> {
    const tally = new RunningTally();
    let damage: unknown;
    for (;;) {
      this.page ??= (await this.pages.next()).value;
      if (this.page === undefined) break;
      const [key, sealed] = this.page;
      const found = parseTrieKey(key).version;
      if (found < version) break;
      this.page = undefined;
      if (found > version) continue;
      try {
        openPage(version, key, sealed);
        tally.add(sealed);
      } catch (error) {
        damage ??= error;
      }
    }
    if (damage !== undefined) throw damage;
    return tally;
  }

  async close(): Promise<void> {
    await this.pages.return?.();
  }
}

function openPage(version: number, key: Uint8Array, sealed: Uint8Array): void {
  openEntry(key, sealed, () => `a trie page of block ${version} (key ${toHex(key)})`);
}

async function tallyTrie(database: DatabaseReads, version: number): Promise<Tally> {
  const tally = new RunningTally();
  const range = { from: trieKeysFrom(version).from, until: trieKeysFrom(version + 1).from };
  for await (const [key, sealed] of database.range(range)) {
    openPage(version, key, sealed);
    tally.add(sealed);
  }
  return tally;
}

async function refuseBlocksAbove(database: Database, head: bigint): Promise<void> {
  for (const prefix of [KEY_PREFIXES.commit, KEY_PREFIXES.header] as const)
    for await (const _ of database.range({ ...numberRange(prefix, { from: head + 1n }), limit: 1 }))
      throw damaged("the head pointer", `it names block ${head}, but later blocks are stored`);
}
