import { AssertionFailed } from "../primitives/assert.ts";
import { viewAsBuffer } from "../primitives/hex.ts";
import { createBatch } from "./batch.ts";
import type { HeadPointer } from "./commitRecord.ts";
import type { Batch, BatchOperation, Database } from "./database.ts";
import type { HeadMarker } from "./headMarker.ts";

/** How much may be written and not yet be durable. */
export interface GroupLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** A database whose writes become durable in groups, with the head witness that belongs to it. */
export interface GroupedCommits {
  readonly database: Database;
  readonly headMarker: HeadMarker;
  /** Resolves when all that was written is durable and witnessed. Call it before the database is closed. */
  flush(): Promise<void>;
}

/**
 * For a bulk import: many blocks become durable in one synced batch, because syncing each costs more than executing it.
 *
 *     write(batch) ──> gathering (read by everybody) ──(bytes or ms)──> one batch of the disk ──> durable ──> witness
 *
 * What is not durable is read from memory, so nobody notices. A kill or a power cut leaves whole groups: the chain ends
 * some blocks earlier, as if the import had been stopped there, and never has a hole. Nothing but an import may use it:
 * a node promises what it has committed. While one group is on its way to the disk the next is gathered, no more.
 */
export function groupCommits(
  parts: {
    readonly database: Database;
    readonly headMarker: HeadMarker;
    readonly clock: { nowMs(): number };
  },
  limits: GroupLimits = DEFAULT_GROUP_LIMITS,
): GroupedCommits {
  return new Grouping(parts.database, parts.headMarker, () => parts.clock.nowMs(), limits);
}

/** A group of 8 MB fits LevelDB's write buffer; half a second is what a kill may cost. */
const DEFAULT_GROUP_LIMITS: GroupLimits = { bytes: 8 * 1024 * 1024, ms: 500 };

class Grouping implements GroupedCommits {
  readonly database: Database;
  readonly headMarker: HeadMarker;
  private readonly disk: Database;
  private readonly witness: HeadMarker;
  private readonly nowMs: () => number;
  private readonly limits: GroupLimits;
  private gathering = new Group();
  /** On its way to the disk, and the promise of its arrival. */
  private leaving: Group | undefined;
  private arrival: Promise<void> = Promise.resolve();
  private head: HeadPointer | undefined;

  constructor(disk: Database, witness: HeadMarker, nowMs: () => number, limits: GroupLimits) {
    this.disk = disk;
    this.witness = witness;
    this.nowMs = nowMs;
    this.limits = limits;
    this.database = {
      get: (key) => this.get(key),
      getMany: async (keys) => keys.map((key) => this.get(key)),
      range: (range) => this.range(range),
      write: (batch) => this.write(batch),
      // What an import writes contradicts nothing that is held in memory.
      freeze: () => {
        throw new AssertionFailed("an import takes no block away");
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
        witness.lower(head);
      },
    };
  }

  async flush(): Promise<void> {
    await this.arrival;
    this.arrival = this.send();
    await this.arrival;
    if (this.head !== undefined) this.witness.record(this.head);
  }

  private get(key: Uint8Array): Uint8Array | undefined {
    const name = nameOf(key);
    const found = this.gathering.find(name) ?? this.leaving?.find(name);
    return found === undefined ? this.disk.get(key) : found.value;
  }

  private async *range(
    range: Parameters<Database["range"]>[0],
  ): AsyncGenerator<readonly [Uint8Array, Uint8Array]> {
    await this.flush();
    yield* this.disk.range(range);
  }

  /** Waits for the disk only when a whole group is ready and the one before has not arrived. */
  private async write(batch: Batch): Promise<void> {
    this.gathering.add(batch, this.nowMs());
    const { bytes, ms } = this.limits;
    if (this.gathering.bytes < bytes && this.nowMs() - this.gathering.sinceMs < ms) return;
    await this.arrival;
    this.arrival = this.send();
    // Whoever waits for it next hears of a failure.
    this.arrival.catch(() => undefined);
  }

  private async send(): Promise<void> {
    const group = this.gathering;
    // The head of the group before: that of this one is recorded only after its write.
    const head = this.head;
    if (group.isEmpty) return;
    this.leaving = group;
    this.gathering = new Group();
    await this.disk.write(group.toBatch());
    this.leaving = undefined;
    if (head !== undefined) this.witness.record(head);
  }
}

/** Operations that have been written and are not durable; the last on each key counts. */
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
