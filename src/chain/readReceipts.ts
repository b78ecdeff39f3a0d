import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { equalBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import type { ChainReader } from "./chain.ts";

/**
 * Reads the receipts of a block, so that `block.receipts` has them at hand, and lets other work of the thread run in between: they can
 * be megabytes. False when the block was removed from the chain meanwhile.
 */
export async function readReceipts(
  chain: Pick<ChainReader, "headerByNumber">,
  block: StoredBlock,
): Promise<boolean> {
  const steps = block.receiptsInSteps?.();
  if (steps === undefined) return true;
  const { number } = block.header;
  for (let step = 1; steps.next().done !== true; step++) {
    if (step % STEPS_PER_SLICE !== 0) continue;
    await yieldToEventLoop();
    const stored = chain.headerByNumber(number);
    if (stored === undefined || !equalBytes(stored.hash, block.hash)) return false;
  }
  return true;
}

/** Steps between two turns of the event loop: a few milliseconds. */
const STEPS_PER_SLICE = 8;
