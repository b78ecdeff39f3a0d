import { assert } from "../../primitives/assert.ts";
import type { Database, DatabaseReads, FrozenReads, KeyRange } from "../../storage/database.ts";

/** A database for the readers of one thread, with the contents of a snapshot that is periodically replaced. */
export class MovingReads implements Database {
  current: DatabaseReads;

  constructor(first: DatabaseReads) {
    this.current = first;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.current.get(key);
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.current.getMany(keys);
  }

  range(range: KeyRange): AsyncIterable<readonly [Uint8Array, Uint8Array]> {
    return this.current.range(range);
  }

  async write(): Promise<void> {
    assert(false, "a view is not written");
  }

  freeze(): FrozenReads {
    assert(false, "a view stays as it is until it is refreshed");
  }

  /** The snapshot belongs to the view, which replaces it. */
  async close(): Promise<void> {}
}
