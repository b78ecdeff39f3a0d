import { readHeader } from "../blocks/headerStore.ts";
import { verifyCommit } from "../blocks/verifyNewest.ts";
import { missing } from "../checksum.ts";
import { readHead } from "../commitRecord.ts";
import type { DatabaseOnDisk, DatabaseReads } from "../database.ts";
import { isWithin, readHistoryStart } from "../historyStart.ts";

/**
 * Verifies all blocks of a database that others write, from the head down. A damaged table may have been compacted into one with valid
 * checksums before it was verified: entries are then missing, which only the count in their block's commit record shows.
 *
 * Each block is read from a snapshot, because a round can take hours: meanwhile the start of the history moves on, and a rewind removes
 * blocks, which is no damage. Calls `rest` with the number of entries that were read since. Throws DamagedData. Returns the number of
 * blocks that the head had at the beginning.
 */
export async function scrubBlocks(
  database: Pick<DatabaseOnDisk, "snapshot">,
  rest: (entries: number) => Promise<void>,
): Promise<number> {
  let next: bigint | undefined;
  let blocks = 0;
  do {
    const snapshot = database.snapshot();
    let step: ScrubbedBlock;
    try {
      const head = readHead(snapshot);
      if (head === undefined) return blocks;
      if (next === undefined) blocks = Number(head.number) + 1;
      step = await scrubBlock(snapshot, next === undefined || next > head.number ? head.number : next);
    } finally {
      snapshot.close();
    }
    next = step.next;
    await rest(step.entries);
  } while (next !== undefined);
  return blocks;
}

interface ScrubbedBlock {
  /** How many were read. */
  readonly entries: number;
  /** The block to verify after it; undefined after the last one. */
  readonly next: bigint | undefined;
}

async function scrubBlock(reads: DatabaseReads, number: bigint): Promise<ScrubbedBlock> {
  const start = readHistoryStart(reads);
  // Before the start of the history only the genesis block exists.
  if (number > 0n && number < start.headers) return { entries: 0, next: 0n };
  const header = readHeader(reads, number);
  if (header === undefined) throw missing(`block ${number}`);
  const next = number === 0n ? undefined : number - 1n;
  return { entries: isWithin(start, number) ? await verifyCommit(reads, header) : 1, next };
}
