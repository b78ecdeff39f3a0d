import type { FrameState } from "./frame.ts";

/** Gas for memory to reach as far as `offset + size`: 3 a word, and a 512th of the square (yellow paper, appendix H). */
export function expansionGas(state: FrameState, offset: bigint, size: bigint): bigint {
  if (size === 0n) return 0n;
  const words = (offset + size + 31n) >> 5n;
  if (words <= state.memoryWordCount) return 0n;
  const cost = words * WORD_GAS + (words * words) / QUADRATIC_DIVISOR;
  const gas = cost - state.highestMemCost;
  state.memoryWordCount = words;
  state.highestMemCost = cost;
  return gas;
}

/** Words that so many bytes fill. */
export function wordCount(bytes: bigint): bigint {
  return (bytes + 31n) >> 5n;
}

const WORD_GAS = 3n;
const QUADRATIC_DIVISOR = 512n;
