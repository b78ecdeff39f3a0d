import { Batch } from "../../storage/batch.ts";
import type { Database } from "../../storage/database.ts";
import { parseTrieKey, trieKeysBetween } from "../../storage/stateKeys.ts";
import type { RemovalStep, StateRemovalLimits } from "./removalWriter.ts";

/** The first version before the start of the states whose pages still take room on the disk; the start if there is none. */
export async function firstVersionWithPages(database: Database, start: number): Promise<number> {
  for await (const [key] of database.range({ ...trieKeysBetween(0, start), limit: 1 }))
    return parseTrieKey(key).version;
  return start;
}

/** Deletes the pages of versions up to the base's. */
export async function* removePages(
  database: Database,
  base: number,
  { bytes: limitBytes, operations, compactedBytes }: StateRemovalLimits,
): AsyncGenerator<RemovalStep, void> {
  let { from, until } = trieKeysBetween(0, base + 1);
  let pages = 0;
  let uncompacted = { from, bytes: 0 };
  for (;;) {
    const batch = new Batch();
    let bytes = 0;
    for await (const [key, sealed] of database.range({ from, until, limit: operations })) {
      batch.delete(key);
      from = Uint8Array.of(...key, 0);
      pages++;
      bytes += sealed.length;
      if (bytes >= DELETED_BYTES_FACTOR * limitBytes) break;
    }
    if (batch.operations.length === 0) break;
    await database.write(batch);
    uncompacted.bytes += bytes;
    yield { kind: "wrote", nodes: 0, pages, next: parseTrieKey(from).version };
    if (uncompacted.bytes < compactedBytes) continue;
    yield { kind: "removed", from: uncompacted.from, until: from };
    uncompacted = { from, bytes: 0 };
  }
  if (uncompacted.bytes > 0) yield { kind: "removed", from: uncompacted.from, until: from };
}

/** A delete reads the bytes of pages, but writes only their keys. */
const DELETED_BYTES_FACTOR = 4;
