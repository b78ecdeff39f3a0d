import { keccak256 } from "../primitives/hash.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { isHeaderAlone, readHeader } from "./blocks/headerStore.ts";
import { TrieTallies, verifyCommit } from "./blocks/verifyNewest.ts";
import { openEntry } from "./checksum.ts";
import { type HeadPointer, readHead, type Tally } from "./commitRecord.ts";
import { DamagedData, type Database } from "./database.ts";
import { type HistoryStart, isWithin, readHistoryStart, WHOLE_HISTORY } from "./historyStart.ts";
import { KEY_PREFIXES, type KeyPrefix, prefixRange } from "./keys.ts";

/**
 * Walks the whole database and reports each damage: every entry against its checksum (code against its hash), then each
 * block from the head to genesis against its commit record and its parent. For `ibex database check`, after
 * findLevelDamage (levelFiles.ts) has verified the files, because LevelDB may end the process on damaged ones.
 */
export async function* findDamage(database: Database): AsyncGenerator<string> {
  yield* findDamagedEntries(database);
  yield* findDamagedBlocks(database);
}

/** The first half of findDamage. */
export async function* findDamagedEntries(database: Database): AsyncGenerator<string> {
  for (const [name, prefix] of Object.entries(KEY_PREFIXES)) yield* damagedEntriesOf(database, name, prefix);
}

async function* damagedEntriesOf(
  database: Database,
  name: string,
  prefix: KeyPrefix,
): AsyncGenerator<string> {
  for await (const [key, value] of database.range(prefixRange(prefix))) {
    if (prefix === KEY_PREFIXES.code) {
      if (!equalBytes(keccak256(value), key.subarray(1)))
        yield `The code ${toHex(key.subarray(1))} has another hash.`;
    } else {
      yield* damageIn(
        async () => void openEntry(key, value, () => `the ${name} entry with key ${toHex(key)}`),
      );
    }
  }
}

/** The second half of findDamage; calls `onBlock` after each block. */
export async function* findDamagedBlocks(
  database: Database,
  onBlock: () => void = () => undefined,
): AsyncGenerator<string> {
  let head: ReturnType<typeof readHead>;
  yield* damageIn(async () => {
    head = readHead(database);
  });
  if (head === undefined) return;
  let start: HistoryStart = WHOLE_HISTORY;
  yield* damageIn(async () => {
    start = readHistoryStart(database);
  });
  const tries = new TrieTallies(database);
  try {
    yield* damagedBlocksTo(database, { head, start, tries, onBlock });
  } finally {
    await tries.close();
  }
}

interface BlockWalk {
  readonly head: HeadPointer;
  readonly start: HistoryStart;
  readonly tries: TrieTallies;
  readonly onBlock: () => void;
}

async function* damagedBlocksTo(
  database: Database,
  { head, start, tries, onBlock }: BlockWalk,
): AsyncGenerator<string> {
  const trieTally = (version: number): Promise<Tally> => tries.of(version);
  let expected: Uint8Array | undefined = head.hash;
  for (let number = head.number; number >= 0n; number--) {
    if (number > 0n && number < start.headers) {
      // Nothing is stored between the genesis block and the headers that came with a snapshot.
      number = 0n;
      expected = undefined;
    }
    let header: ReturnType<typeof readHeader>;
    yield* damageIn(async () => {
      header = readHeader(database, number);
      if (header === undefined || isHeaderAlone(header) || !isWithin(start, number)) return;
      await verifyCommit(database, header, trieTally);
    });
    if (header === undefined) yield `Block ${number} is missing or unreadable.`;
    else if (isHeaderAlone(header) && number >= start.blocks) yield `Block ${number} lacks its body.`;
    else if (expected !== undefined && !equalBytes(header.hash, expected))
      yield `Block ${number} is not the parent that block ${number + 1n} names.`;
    expected = header?.header.parentHash;
    onBlock();
  }
}

/** Yields the message of the DamagedData that `verify` throws; rethrows anything else. */
async function* damageIn(verify: () => Promise<void>): AsyncGenerator<string> {
  try {
    await verify();
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    yield error.message;
  }
}
