import type { Batch, BatchOperation } from "./database.ts";

/** An empty batch. Keys and values are kept as they are, not copied: the caller must not change them afterwards. */
export function createBatch(): Batch {
  const operations: BatchOperation[] = [];
  let byteLength = 0;
  return {
    put(key, value) {
      operations.push({ key, value });
      byteLength += key.length + value.length;
    },
    delete(key) {
      operations.push({ key });
      byteLength += key.length;
    },
    operations,
    get byteLength() {
      return byteLength;
    },
  };
}
