import type { Batch } from "../storage/batch.ts";
import type { DatabaseOnDisk } from "../storage/database.ts";
import {
  BLOCK_ENTRIES,
  decodeIndexValue,
  type IndexStatus,
  isPair,
  placeInKey,
  putPair,
  valueIn,
} from "./layout.ts";

/** The point at which a removal continues: after the last scanned key, and then with the next part to compact. */
export type Sweep =
  | { readonly kind: "remove"; readonly after: Uint8Array }
  | { readonly kind: "compact"; readonly part: number };

/** The blocks that stay, and whether to free room: a rewind removes too little for that. */
interface SweepGoal extends Pick<IndexStatus, "first" | "next"> {
  readonly compacts: boolean;
}

interface SweepParts {
  readonly database: Pick<DatabaseOnDisk, "range" | "compact">;
  /** Batch that receives the deletions. */
  readonly batch: Batch;
}

/**
 * Scans the next entries and removes those of blocks that the index does not cover; after the last one it frees their room
 * on the disk, if requested, a part at a time. Returns where to continue, undefined at the end.
 *
 * The possible holders of an asset whose last transfer is undone are kept, since an earlier transfer may remain.
 */
export async function sweepStep(
  parts: SweepParts,
  goal: SweepGoal,
  sweep: Sweep | undefined,
): Promise<Sweep | undefined> {
  if (sweep?.kind !== "compact") return removeSome(parts, goal, sweep?.after);
  const { part } = sweep;
  const at = (number: number): Uint8Array => Uint8Array.of(FIRST_KIND + (number >> 4), (number & 15) << 4);
  await parts.database.compact({ from: at(part), until: at(part + 1) });
  return part + 1 < COMPACTED_PARTS ? { kind: "compact", part: part + 1 } : undefined;
}

async function removeSome(
  { database, batch }: SweepParts,
  { first, next, compacts }: SweepGoal,
  after: Uint8Array | undefined,
): Promise<Sweep | undefined> {
  const from = after === undefined ? BLOCK_ENTRIES.from : keyAfter(after);
  let last: Uint8Array | undefined;
  let count = 0;
  for await (const [key, sealed] of database.range({ ...BLOCK_ENTRIES, from, limit: SWEEP_ENTRIES })) {
    last = key;
    count++;
    // An index may be rebuilt because an entry is damaged, so it is not read.
    const block = first === next ? next : blockOf(key, sealed);
    if (isPair(key) && block >= next && next > first) putPair(batch, key, next - 1);
    else if (block < first || block >= next) batch.delete(key);
  }
  if (count === SWEEP_ENTRIES && last !== undefined) return { kind: "remove", after: last };
  return compacts ? { kind: "compact", part: 0 } : undefined;
}

function blockOf(key: Uint8Array, sealed: Uint8Array): number {
  return isPair(key) ? decodeIndexValue(valueIn(key, sealed)) : placeInKey(key).block;
}

function keyAfter(key: Uint8Array): Uint8Array {
  const after = new Uint8Array(key.length + 1);
  after.set(key);
  return after;
}

/** Number of entries read in one step, which takes some milliseconds. */
const SWEEP_ENTRIES = 4_000;
/** Addresses are spread evenly over their first byte, so a part is about a sixteenth of a kind of entries. */
const FIRST_KIND = BLOCK_ENTRIES.from[0] ?? 0;
const COMPACTED_PARTS = 16 * ((BLOCK_ENTRIES.until[0] ?? 0) - FIRST_KIND);
