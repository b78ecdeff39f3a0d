import { AssertionFailed } from "../primitives/assert.ts";
import { viewAsBuffer } from "../primitives/hex.ts";
import { createBatch } from "./batch.ts";
import type { HeadPointer } from "./commitRecord.ts";
import type { Batch, BatchOperation, Database } from "./database.ts";
import type { HeadMarker } from "./headMarker.ts";

/** How much may be written before it is durable. */
export interface GroupLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** A database whose writes become durable in groups, with its head marker. */
export interface GroupedCommits {
  readonly database: Database;
  readonly headMarker: HeadMarker;
  /** Resolves when all writes are durable and the head is marked. Call it before the database is closed. */
  flush(): Promise<void>;
}

/**
 * For a bulk import: many blocks become durable in one synced batch, because syncing each costs more than executing it.
 *
 *     write(batch) ──> gathering (readable) ──(bytes or ms)──> one batch to the disk ──> durable ──> head marker
 *
 * Reads see writes that are not durable yet. A kill or a power cut leaves whole groups: the chain ends some blocks
 * earlier, as if the import had stopped there, and never has a gap. Only an import may use it: a node announces what it
 * has committed. While one group is being written the next is gathered, no more than that.
 */
export function groupCommits(
  parts: {
    readonly database: Database;
    readonly headMarker: HeadMarker;
    readonly clock: { nowMs(): number };
  },
  limits: GroupLimits = DEFAULT_GROUP_LIMITS,
): GroupedCommits {
  return new CommitGrouping(parts.database, parts.headMarker, () => parts.clock.nowMs(), limits);
}

/** A group of 8 MB fits LevelDB's write buffer; half a second is what a kill may cost. */
const DEFAULT_GROUP_LIMITS: GroupLimits = { bytes: 8 * 1024 * 1024, ms: 500 };

class CommitGrouping implements GroupedCommits {
  readonly database: Database;
  readonly headMarker: HeadMarker;
  private readonly disk: Database;
  private readonly diskMarker: HeadMarker;
  private readonly nowMs: () => number;
  private readonly limits: GroupLimits;
  private gathering = new Group();
  /** The group that is being written to the disk. */
  private inFlight: Group | undefined;
  /** The write of the newest group. Rejects for good once a group could not be written. */
  private lastWrite: Promise<void> = Promise.resolve();
  private head: HeadPointer | undefined;

  constructor(disk: Database, diskMarker: HeadMarker, nowMs: () => number, limits: GroupLimits) {
    this.disk = disk;
    this.diskMarker = diskMarker;
    this.nowMs = nowMs;
    this.limits = limits;
    this.database = {
      get: (key) => this.get(key),
      getMany: async (keys) => keys.map((key) => this.get(key)),
      range: (range) => this.range(range),
      write: (batch) => this.write(batch),
      // Only a rewind freezes reads, and an import never rewinds.
      freeze: () => {
        throw new AssertionFailed("an import removes no block");
      },
      close: async () => {
        await this.flush();
        await disk.close();
      },
    };
    this.headMarker = {
      record: (head) => {
        this.head = head;
      },
      lower: (head) => {
        this.head = head;
        diskMarker.lower(head);
      },
    };
  }

  async flush(): Promise<void> {
    await this.lastWrite;
    this.lastWrite = this.writeGroup();
    await this.lastWrite;
    if (this.head !== undefined) this.diskMarker.record(this.head);
  }

  private get(key: Uint8Array): Uint8Array | undefined {
    const name = nameOf(key);
    const found = this.gathering.find(name) ?? this.inFlight?.find(name);
    return found === undefined ? this.disk.get(key) : found.value;
  }

  private async *range(
    range: Parameters<Database["range"]>[0],
  ): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
    await this.flush();
    yield* this.disk.range(range);
  }

  /** Waits for the disk only when a whole group is ready and the one before is not written yet. */
  private async write(batch: Batch): Promise<void> {
    this.gathering.add(batch, this.nowMs());
    const { bytes, ms } = this.limits;
    if (this.gathering.bytes < bytes && this.nowMs() - this.gathering.sinceMs < ms) return;
    await this.lastWrite;
    this.lastWrite = this.writeGroup();
    // The next caller that awaits it gets the error.
    this.lastWrite.catch(() => undefined);
  }

  private async writeGroup(): Promise<void> {
    const group = this.gathering;
    // The head of the group before; this group's head is recorded only after its write.
    const head = this.head;
    if (group.isEmpty) return;
    this.inFlight = group;
    this.gathering = new Group();
    await this.disk.write(group.toBatch());
    this.inFlight = undefined;
    if (head !== undefined) this.diskMarker.record(head);
  }
}

/** Operations that are written but not durable; the last one on each key counts. */
class Group {
  bytes = 0;
  sinceMs = 0;
  private readonly operations = new Map<string, BatchOperation>();

  get isEmpty(): boolean {
    return this.operations.size === 0;
  }

  add(batch: Batch, nowMs: number): void {
    if (this.isEmpty) this.sinceMs = nowMs;
    for (const operation of batch.operations) this.operations.set(nameOf(operation.key), operation);
    this.bytes += batch.byteLength;
  }

  find(name: string): BatchOperation | undefined {
    return this.operations.get(name);
  }

  toBatch(): Batch {
    const batch = createBatch();
    for (const { key, value } of this.operations.values()) {
      if (value === undefined) batch.delete(key);
      else batch.put(key, value);
    }
    return batch;
  }
}

function nameOf(key: Uint8Array): string {
  return viewAsBuffer(key).toString("latin1");
}
