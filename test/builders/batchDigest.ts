import { createHash } from "node:crypto";
import type { Batch } from "../../src/storage/batch.ts";

/** Of all operations in their order. */
export function digestOf({ operations }: Batch): string {
  const hash = createHash("sha256");
  for (const { key, value } of operations)
    hash
      .update(`${key.length} ${value?.length ?? "deleted"} `)
      .update(key)
      .update(value ?? new Uint8Array(0));
  return hash.digest("hex");
}
