import { randomBytes } from "node:crypto";
import type { Clock } from "../../primitives/clock.ts";
import { bytesToBigint, toQuantity } from "../../primitives/quantity.ts";
import { HostShares } from "../server/hostShares.ts";

/** Filters under random ids; a filter expires when it is unused for FILTER_LIFETIME_MS. */
export interface FilterTable<Filter> {
  /**
   * The id, or undefined when the host has as many as its share (server/hostShares.ts). `size` is the number of the filter's addresses
   * and topics.
   */
  add(filter: Filter, size: number, remoteHost: string): string | undefined;
  /** The filter, whose lifetime starts again. */
  use(id: string): Filter | undefined;
  /** False when there is no such filter, or it has expired. */
  remove(id: string): boolean;
  /** No timer does this: the owner of the table must call it from time to time. */
  clearExpired(): void;
  entries(): Iterable<readonly [id: string, filter: Filter]>;
}

export const FILTER_LIFETIME_MS = 10 * 60 * 1000;
/** Most filters in the table; one remote host alone can have half of them. */
export const FILTER_LIMIT = 10_000;
/** Limit of the sum of all sizes; one remote host alone can have half of it. */
const SIZE_LIMIT = 200_000;
const ID_BYTES = 16;

interface Slot<Filter> {
  readonly filter: Filter;
  readonly size: number;
  /** Of the caller who installed it. */
  readonly remoteHost: string;
  lastUsedMs: number;
}

export function createFilterTable<Filter>(clock: Pick<Clock, "nowMs">): FilterTable<Filter> {
  /** In the order of their last use, so that expired ones are first. */
  const slots = new Map<string, Slot<Filter>>();
  const counts = new HostShares(FILTER_LIMIT);
  const sizes = new HostShares(SIZE_LIMIT);

  function clearExpired(): void {
    for (const [id, { lastUsedMs }] of slots) {
      if (clock.nowMs() - lastUsedMs < FILTER_LIFETIME_MS) return;
      forget(id);
    }
  }

  function forget(id: string): boolean {
    const slot = slots.get(id);
    if (slot === undefined) return false;
    counts.giveBack(slot.remoteHost, 1);
    sizes.giveBack(slot.remoteHost, slot.size);
    return slots.delete(id);
  }

  return {
    add(filter, size, remoteHost) {
      clearExpired();
      if (!counts.take(remoteHost, 1)) return undefined;
      if (!sizes.take(remoteHost, size)) {
        counts.giveBack(remoteHost, 1);
        return undefined;
      }
      const id = toQuantity(bytesToBigint(randomBytes(ID_BYTES)));
      slots.set(id, { filter, size, remoteHost, lastUsedMs: clock.nowMs() });
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
