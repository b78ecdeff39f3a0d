import { randomBytes } from "node:crypto";
import type { Clock } from "../../primitives/clock.ts";
import { bytesToBigint, toQuantity } from "../../primitives/quantity.ts";
import { HostShares } from "../server/hostShares.ts";

export const FILTER_LIFETIME_MS = 10 * 60 * 1000;
/** Most filters in the table; one remote host alone can have half of them. */
export const FILTER_LIMIT = 10_000;
/** Limit of the sum of all sizes; one remote host alone can have half of it. */
const SIZE_LIMIT = 200_000;
const ID_BYTES = 16;

interface Slot<Filter> {
  readonly filter: Filter;
  readonly size: number;
  /** Host of the caller who installed the filter. */
  readonly remoteHost: string;
  lastUsedMs: number;
}

/** Filters under random ids; a filter expires when it is unused for FILTER_LIFETIME_MS. */
export class FilterTable<Filter> {
  private readonly clock: Pick<Clock, "nowMs">;
  /** Filters in the order of their last use, so that expired ones are first. */
  private readonly slots = new Map<string, Slot<Filter>>();
  private readonly counts = new HostShares(FILTER_LIMIT);
  private readonly sizes = new HostShares(SIZE_LIMIT);

  constructor(clock: Pick<Clock, "nowMs">) {
    this.clock = clock;
  }

  /**
   * The id, or undefined when the host has as many as its share (server/hostShares.ts). `size` is the number of the filter's addresses
   * and topics.
   */
  add(filter: Filter, size: number, remoteHost: string): string | undefined {
    this.clearExpired();
    if (!this.counts.take(remoteHost, 1)) return undefined;
    if (!this.sizes.take(remoteHost, size)) {
      this.counts.giveBack(remoteHost, 1);
      return undefined;
    }
    const id = toQuantity(bytesToBigint(randomBytes(ID_BYTES)));
    this.slots.set(id, { filter, size, remoteHost, lastUsedMs: this.clock.nowMs() });
    return id;
  }

  /** The filter, whose lifetime starts again. */
  use(id: string): Filter | undefined {
    this.clearExpired();
    const slot = this.slots.get(id);
    if (slot === undefined) return undefined;
    slot.lastUsedMs = this.clock.nowMs();
    this.slots.delete(id);
    this.slots.set(id, slot);
    return slot.filter;
  }

  /** False when there is no such filter, or it has expired. */
  remove(id: string): boolean {
    this.clearExpired();
    return this.forget(id);
  }

  /** No timer does this: the owner of the table must call it from time to time. */
  clearExpired(): void {
    for (const [id, { lastUsedMs }] of this.slots) {
      if (this.clock.nowMs() - lastUsedMs < FILTER_LIFETIME_MS) return;
      this.forget(id);
    }
  }

  *entries(): Iterable<readonly [id: string, filter: Filter]> {
    for (const [id, { filter }] of this.slots) yield [id, filter];
  }

  private forget(id: string): boolean {
    const slot = this.slots.get(id);
    if (slot === undefined) return false;
    this.counts.giveBack(slot.remoteHost, 1);
    this.sizes.giveBack(slot.remoteHost, slot.size);
    return this.slots.delete(id);
  }
}
