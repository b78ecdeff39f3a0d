import type { Batch, BatchOperation } from "./database.ts";

/** Creates an empty batch. It keeps keys and values without a copy: the caller must not change them afterwards. */
export function createBatch(): Batch {
  return new OperationList();
}

class OperationList implements Batch {
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
