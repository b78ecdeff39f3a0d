import { assert } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { compareBytes } from "../primitives/hex.ts";
import type { Batch } from "./batch.ts";
import type { Database, KeyRange } from "./database.ts";

/** One stored entry. */
type Entry = readonly [key: Uint8Array, value: Uint8Array];

/** A database in memory that can be copied, for tests. It orders and returns entries as the one on disk does. */
export interface MemoryDatabase extends Database {
  /** Copies all entries; later writes to one database do not appear in the other. */
  copy(): MemoryDatabase;
}

/** Copies entries when they are written, as the disk does; a range lists the entries at the time of the call. */
export function createMemoryDatabase(): MemoryDatabase {
  return overEntries(new Map());
}

function overEntries(entries: Map<string, Entry>): MemoryDatabase {
  /** All entries in key order; undefined after a write, until the next range sorts them again. */
  let sorted: readonly Entry[] | undefined;
  let isOpen = true;
  /** A copy that reads use instead of the entries. */
  let frozen: MemoryDatabase | undefined;

  const get = (key: Uint8Array): Uint8Array | undefined => {
    assert(isOpen, "a closed database cannot be read");
    return frozen === undefined ? entries.get(toKey(key))?.[1] : frozen.get(key);
  };

  return {
    get,
    getMany: async (keys) => keys.map(get),
    range(range) {
      assert(isOpen, "a closed database cannot be read");
      if (frozen !== undefined) return frozen.range(range);
      sorted ??= [...entries.values()].sort(([a], [b]) => compareBytes(a, b));
      return eachOf(select(sorted, range));
    },
    async write(batch) {
      assert(isOpen, "a closed database cannot be written");
      apply(entries, batch);
      sorted = undefined;
    },
    freeze() {
      assert(frozen === undefined, "reads are frozen once at a time");
      frozen = overEntries(new Map(entries));
      return {
        release: () => {
          frozen = undefined;
        },
      };
    },
    async close() {
      isOpen = false;
    },
    copy: () => overEntries(new Map(entries)),
  };
}

function apply(entries: Map<string, Entry>, batch: Batch): void {
  for (const { key, value } of batch.operations) {
    if (value === undefined) entries.delete(toKey(key));
    else entries.set(toKey(key), [Uint8Array.from(key), Uint8Array.from(value)]);
  }
}

function select(sorted: readonly Entry[], range: KeyRange): readonly Entry[] {
  const chosen = sorted.slice(firstAtOrAfter(sorted, range.from), firstAtOrAfter(sorted, range.until));
  if (range.reverse === true) chosen.reverse();
  return range.limit === undefined ? chosen : chosen.slice(0, range.limit);
}

function firstAtOrAfter(sorted: readonly Entry[], key: Uint8Array): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = sorted[middle];
    if (entry !== undefined && compareBytes(entry[0], key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function* eachOf(entries: readonly Entry[]): AsyncGenerator<Entry> {
  yield* entries;
}
