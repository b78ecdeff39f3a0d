import type { Hash } from "../primitives/hash.ts";
import type { ChainReader } from "./chainReader.ts";

/** When a block became the head of this node: executed, and written. */
export interface BlockArrival {
  readonly number: bigint;
  readonly hash: Hash;
  /** Time of the event, milliseconds since 1970. */
  readonly atMs: number;
}

/** Number of blocks remembered: as many as one answer of explorer_getArrivals has. */
export const KEPT_ARRIVALS = 1_000;

/**
 * The times at which blocks became the head of this node, finer than their timestamps in whole seconds. Blocks fetched to
 * catch up have none: they come as fast as the disk allows. Times are lost when the process ends.
 */
export class BlockArrivals {
  /** Slots by number, so that a block takes the place of one that was removed. */
  private readonly slots: (BlockArrival | undefined)[] = new Array(KEPT_ARRIVALS);

  constructor(
    chain: Pick<ChainReader, "onHeadChanged">,
    parts: { readonly isInSync: () => boolean; readonly nowMs: () => number },
  ) {
    chain.onHeadChanged("arrivals", ({ head, added, removed }) => {
      for (const { header } of removed) this.slots[slotOf(header.number)] = undefined;
      const [block, ...others] = added;
      if (block === undefined || others.length > 0 || !parts.isInSync()) return;
      const { number } = block.header;
      this.slots[slotOf(number)] = { number, hash: head.hash, atMs: parts.nowMs() };
    });
  }

  /** The arrival of a block; undefined for a block that was not observed, or was removed from the chain. */
  at(number: bigint): BlockArrival | undefined {
    const arrival = this.slots[slotOf(number)];
    return arrival?.number === number ? arrival : undefined;
  }
}

function slotOf(number: bigint): number {
  return Number(number % BigInt(KEPT_ARRIVALS));
}
