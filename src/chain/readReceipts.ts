import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { StoredBlock } from "../types/block.ts";
import type { ChainReader } from "./chainReader.ts";
import { isStored } from "./isStored.ts";

/**
 * Reads the receipts of a block, so that `block.receipts` is then in memory, and lets other work of the thread run in
 * between: they can be megabytes. Returns false when the block was removed meanwhile, from the chain or for its age.
 */
export async function readReceipts(
  chain: Pick<ChainReader, "headerByNumber" | "historyStart">,
  block: StoredBlock,
): Promise<boolean> {
  const steps = block.receiptsInSteps?.();
  if (steps === undefined) return true;
  for (let step = 1; steps.next().done !== true; step++) {
    if (step % STEPS_PER_SLICE !== 0) continue;
    await yieldToEventLoop();
    if (!isStored(chain, block)) return false;
  }
  return true;
}

/** Number of steps between two turns of the event loop: a few milliseconds. */
const STEPS_PER_SLICE = 8;
