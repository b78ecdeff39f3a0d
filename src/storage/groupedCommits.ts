import { AssertionFailed } from "../primitives/assert.ts";
import { viewAsBuffer } from "../primitives/hex.ts";
import { Batch, type BatchOperation } from "./batch.ts";
import type { Database, Survival } from "./database.ts";

/** Commits a bulk import: many blocks become durable in one batch, which is synced unless it need only survive a kill, because syncing each costs more than executing it. */
export class GroupedCommits {
  readonly database: Database;
  private readonly disk: Database;
  private readonly survives: Survival;
  private gathering = new Group();
  /** The group that is being written to the disk. */
  private inFlight: Group | undefined;
  /** The write of the newest group. */
  private lastWrite: Promise<void> = Promise.resolve();

  /** Gathers the writes to `disk`, to which nobody else may write meanwhile. */
  constructor(disk: Database, survives: Survival = "powerCut") {
    this.disk = disk;
    this.survives = survives;
    this.database = {
      get: (key) => this.get(key),
      getMany: async (keys) => keys.map((key) => this.get(key)),
      range: () => refuse("a bulk import reads single entries"),
      write: async (batch) => this.gathering.add(batch),
      freeze: () => refuse("a bulk import removes no block"),
      close: () => this.settled(),
    };
  }

  /** Bytes written since the last group. */
  get gatheredBytes(): number {
    return this.gathering.bytes;
  }

  /**
   * Begins to write the gathered operations as one group, once the previous group is durable; resolves when it has begun.
   * `onDurable` is called in the turn in which readers of the disk first see the group.
   */
  async beginGroup(onDurable: () => void): Promise<void> {
    await this.lastWrite;
    this.lastWrite = this.writeGroup(onDurable);
    // The next caller that awaits it gets the error.
    this.lastWrite.catch(() => undefined);
  }

  /** Resolves when no group is in flight. Rejects for good once a group could not be written. */
  async settled(): Promise<void> {
    await this.lastWrite;
  }

  private get(key: Uint8Array): Uint8Array | undefined {
    const name = nameOf(key);
    const found = this.gathering.find(name) ?? this.inFlight?.find(name);
    return found === undefined ? this.disk.get(key) : found.value;
  }

  private async writeGroup(onDurable: () => void): Promise<void> {
    const group = this.gathering;
    this.inFlight = group;
    this.gathering = new Group();
    // From the write until `onDurable` the disk is ahead of its readers' caches.
    const reads = this.disk.freeze();
    try {
      await this.disk.write(group.toBatch(), this.survives);
    } finally {
      reads.release();
    }
    this.inFlight = undefined;
    onDurable();
  }
}

function refuse(why: string): never {
  throw new AssertionFailed(why);
}

/** Operations that are written but not durable; the last one on each key counts. */
class Group {
  bytes = 0;
  private readonly operations = new Map<string, BatchOperation>();

  add(batch: Batch): void {
    for (const operation of batch.operations) this.operations.set(nameOf(operation.key), operation);
    this.bytes += batch.byteLength;
  }

  find(name: string): BatchOperation | undefined {
    return this.operations.get(name);
  }

  toBatch(): Batch {
    const batch = new Batch();
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
