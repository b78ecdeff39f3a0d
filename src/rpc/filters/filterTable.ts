import { randomBytes } from "node:crypto";
import type { Clock } from "../../primitives/clock.ts";
import { bytesToBigint, toQuantity } from "../../primitives/quantity.ts";

/** Filters under random ids, each gone when nobody has used it for its lifetime. */
export interface FilterTable<Filter> {
  /** The id, or undefined when the table is full. `size` counts what the filter holds beside itself. */
  add(filter: Filter, size: number): string | undefined;
  /** The filter, which thereby begins its lifetime anew. */
  use(id: string): Filter | undefined;
  /** False when there is none, or none any more. */
  remove(id: string): boolean;
  /** No timer does this: whoever owns the table calls it now and then. */
  clearExpired(): void;
  entries(): Iterable<readonly [id: string, filter: Filter]>;
}

export const FILTER_LIFETIME_MS = 10 * 60 * 1000;
/** Filters in the table at one time. */
export const FILTER_LIMIT = 10_000;
/** The sum of all sizes: addresses and topics. */
const SIZE_LIMIT = 200_000;
const ID_BYTES = 16;

export function createFilterTable<Filter>(clock: Pick<Clock, "nowMs">): FilterTable<Filter> {
  /** In the order of their last use, so that the expired ones stand first. */
  const slots = new Map<string, { readonly filter: Filter; readonly size: number; lastUsedMs: number }>();
  let totalSize = 0;

  function clearExpired(): void {
    for (const [id, { lastUsedMs }] of slots) {
      if (clock.nowMs() - lastUsedMs < FILTER_LIFETIME_MS) return;
      forget(id);
    }
  }

  function forget(id: string): boolean {
    totalSize -= slots.get(id)?.size ?? 0;
    return slots.delete(id);
  }

  return {
    add(filter, size) {
      clearExpired();
      if (slots.size >= FILTER_LIMIT || totalSize + size > SIZE_LIMIT) return undefined;
      const id = toQuantity(bytesToBigint(randomBytes(ID_BYTES)));
      slots.set(id, { filter, size, lastUsedMs: clock.nowMs() });
      totalSize += size;
      return id;
    },
    use(id) {
      clearExpired();
      const slot = slots.get(id);
      if (slot === undefined) return undefined;
      slot.lastUsedMs = clock.nowMs();
      slots.delete(id);
      slots.set(id, slot);
      return slot.filter;
    },
    remove(id) {
      clearExpired();
      return forget(id);
    },
    clearExpired,
    *entries() {
      for (const [id, { filter }] of slots) yield [id, filter];
    },
  };
}
