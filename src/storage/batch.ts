import type { Batch, BatchOperation } from "./database.ts";

/** An empty batch. Keys and values are kept as they are, not copied: the caller must not change them afterwards. */
export function createBatch(): Batch {
  return new GatheredBatch();
}

class GatheredBatch implements Batch {
  readonly operations: BatchOperation[] = [];
  byteLength = 0;

  put(key: Uint8Array, value: Uint8Array): void {
    this.operations.push({ key, value });
    this.byteLength += key.length + value.length;
  }

  delete(key: Uint8Array): void {
    this.operations.push({ key });
    this.byteLength += key.length;
  }
}
