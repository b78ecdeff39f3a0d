import type { Hash } from "../primitives/hash.ts";
import type { ChainReader } from "./chain.ts";

/** When this node had a block: it was executed, written, and made the head. */
export interface BlockArrival {
  readonly number: bigint;
  readonly hash: Hash;
  /** Time of the event, milliseconds since 1970. */
  readonly atMs: number;
}

/** Blocks that are remembered: as many as one answer of explorer_getArrivals has. */
export const KEPT_ARRIVALS = 1_000;

/**
 * The times at which blocks became the head of this node, which are finer than their whole-second stamps. Blocks that it fetches to
 * catch up have none: they come as fast as the disk allows. Times are forgotten with the process.
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

  /** Undefined for a block that it did not see come, and for one that was removed from the chain. */
  at(number: bigint): BlockArrival | undefined {
    const arrival = this.slots[slotOf(number)];
    return arrival?.number === number ? arrival : undefined;
  }
}

function slotOf(number: bigint): number {
  return Number(number % BigInt(KEPT_ARRIVALS));
}
