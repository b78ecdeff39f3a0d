import { describe, expect, it } from "vitest";
import { BlockArrivals, KEPT_ARRIVALS } from "../../src/chain/blockArrivals.ts";
import type { HeadChange } from "../../src/chain/onNewHead.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";

/** Arrivals of a chain that a test moves. */
function arrivals() {
  const node = { nowMs: 1_700_000_000_000, isInSync: true };
  let tell: (change: HeadChange) => void = () => undefined;
  const chain = {
    onHeadChanged(_row: string, listener: (change: HeadChange) => void) {
      tell = listener;
      return () => undefined;
    },
  };
  const kept = new BlockArrivals(chain, { isInSync: () => node.isInSync, nowMs: () => node.nowMs });
  const move = (added: readonly number[], removed: readonly number[] = []): void => {
    const blocks = added.map((number) => aStoredBlock({ number }));
    const head = blocks.at(-1) ?? aStoredBlock({ number: 0 });
    tell({ head, added: blocks, removed: removed.map((number) => aStoredBlock({ number })) });
  };
  return { node, move, atMs: (number: number) => kept.at(BigInt(number))?.atMs };
}

describe("the arrival of a block", () => {
  it("is when this node made it its head, to the millisecond", () => {
    const { node, move, atMs } = arrivals();
    move([1]);
    node.nowMs += 1_013;
    move([2]);
    expect([0, 1, 2, 3].map(atMs)).toEqual([undefined, 1_700_000_000_000, 1_700_000_001_013, undefined]);
  });

  it("is not known of blocks that were fetched to catch up", () => {
    const { node, move, atMs } = arrivals();
    move([1, 2]);
    node.isInSync = false;
    move([3]);
    expect([1, 2, 3].map(atMs)).toEqual([undefined, undefined, undefined]);
  });

  it("is forgotten with the block's removal, and when a thousand have followed", () => {
    const { move, atMs } = arrivals();
    for (let number = 1; number <= KEPT_ARRIVALS + 1; number++) move([number]);
    expect(atMs(1)).toBeUndefined();
    expect(atMs(2)).toBeDefined();
    move([], [KEPT_ARRIVALS + 1]);
    expect(atMs(KEPT_ARRIVALS + 1)).toBeUndefined();
  });
});
