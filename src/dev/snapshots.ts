import { fail, ok, type Result } from "../primitives/result.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { ChainTimeState } from "./chainTime.ts";

/** What a caller may go back to: the newest block, the transactions that waited, and the chain's time. */
export interface Snapshot {
  readonly id: bigint;
  readonly number: bigint;
  readonly hash: Uint8Array;
  readonly transactions: readonly SentTransaction[];
  readonly time: ChainTimeState;
  readonly takenAtMs: number;
}

interface Kept extends Snapshot {
  /** Bytes of the transactions. */
  readonly bytes: number;
}

/** The snapshots of a development chain, oldest first, in bounded number and bytes. Ids begin with 1, and none is used twice. */
export class Snapshots {
  private kept: Kept[] = [];
  private newest = 0n;

  /** Keeps a snapshot, and gives it an id. */
  add(taken: Omit<Snapshot, "id">): Result<bigint, "tooManySnapshots"> {
    const bytes = taken.transactions.reduce((sum, { raw }) => sum + raw.length, 0);
    const keptBytes = this.kept.reduce((sum, snapshot) => sum + snapshot.bytes, 0);
    if (this.kept.length >= SNAPSHOTS_LIMIT || keptBytes + bytes > SNAPSHOT_BYTES_LIMIT)
      return fail("caller", "tooManySnapshots", `no more than ${SNAPSHOTS_LIMIT} snapshots can be kept`);
    this.newest++;
    this.kept.push({ ...taken, id: this.newest, bytes });
    return ok(this.newest);
  }

  get(id: bigint): Snapshot | undefined {
    return this.kept.find((each) => each.id === id);
  }

  /** Forgets a snapshot and all later ones. */
  dropFrom(id: bigint): void {
    this.kept = this.kept.filter((each) => each.id < id);
  }
}

/** Snapshots at a time. */
const SNAPSHOTS_LIMIT = 4096;
/** Bytes of the transactions that waited in the pool, of all snapshots together. */
const SNAPSHOT_BYTES_LIMIT = 64 * 1024 * 1024;
