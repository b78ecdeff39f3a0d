import { Batch } from "../../storage/batch.ts";
import type { Database } from "../../storage/database.ts";

export interface StateRemovalLimits {
  /** Limits of one write: bytes, and operations. */
  readonly bytes: number;
  readonly operations: number;
  /** Bytes of pages that are deleted before their range is compacted. */
  readonly compactedBytes: number;
}

/**
 * The last step done: entries were written or deleted, or many were read; deleted pages can be compacted. Pages are deleted
 * in the order of their versions: `next` is the first version that may have any left.
 */
export type RemovalStep =
  | { readonly kind: "wrote"; readonly nodes: number; readonly pages: number; readonly next?: number }
  | { readonly kind: "removed"; readonly from: Uint8Array; readonly until: Uint8Array };

/** Gathers the writes of a removal, in order, and performs them in pieces. */
export class RemovalWriter {
  /** Number of nodes put so far. */
  nodes = 0;
  private readonly database: Database;
  private readonly limits: StateRemovalLimits;
  private batch: Batch = new Batch();

  constructor(database: Database, limits: StateRemovalLimits) {
    this.database = database;
    this.limits = limits;
  }

  async *put(key: Uint8Array, sealed: Uint8Array): AsyncGenerator<RemovalStep, void> {
    this.batch.put(key, sealed);
    this.nodes++;
    yield* this.writeIfFull();
  }

  async *delete(key: Uint8Array): AsyncGenerator<RemovalStep, void> {
    this.batch.delete(key);
    yield* this.writeIfFull();
  }

  /** Writes everything gathered, with what `add` puts into the last batch; it is then durable. */
  async *write(add: (batch: Batch) => void = () => undefined): AsyncGenerator<RemovalStep, void> {
    const { batch } = this;
    this.batch = new Batch();
    add(batch);
    if (batch.operations.length > 0) await this.database.write(batch);
    yield { kind: "wrote", nodes: this.nodes, pages: 0 };
  }

  private async *writeIfFull(): AsyncGenerator<RemovalStep, void> {
    const { bytes, operations } = this.limits;
    if (this.batch.byteLength >= bytes || this.batch.operations.length >= operations) yield* this.write();
  }
}
