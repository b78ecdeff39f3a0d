import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** Divides a scan into slices of the event loop, by estimated cost, and by time if a single step may take long. */
export interface ScanSlices {
  readonly isOver: boolean;
  /** Adds the cost of the next piece of work, microseconds on an ordinary core; true when the slice is used up. */
  isUsedUp(cost: number): boolean;
  /** Yields to the event loop; false when the scan is over. */
  yield(): Promise<boolean>;
  /** Adds a cost and yields if the slice, or its time, is used up; false when the scan is over. */
  spend(cost: number): Promise<boolean> | boolean;
}

/** `isOver` is true once the scan ends early; `turn` resolves when it may continue. */
export function createScanSlices(
  isOver: () => boolean,
  turn: () => Promise<unknown> = yieldToEventLoop,
): ScanSlices {
  let work = 0;
  let endMs = performance.now() + SLICE_MS;
  const slices: ScanSlices = {
    get isOver() {
      return isOver();
    },
    isUsedUp(cost) {
      work += cost;
      return work >= SLICE_COST;
    },
    async yield() {
      work = 0;
      await turn();
      endMs = performance.now() + SLICE_MS;
      return !isOver();
    },
    spend: (cost) => (slices.isUsedUp(cost) || performance.now() >= endMs ? slices.yield() : !isOver()),
  };
  return slices;
}

/** Cost of one slice, microseconds. */
const SLICE_COST = 5_000;
/** Time limit of a slice, because a block may have receipts that take many times their estimate. */
const SLICE_MS = 5;
