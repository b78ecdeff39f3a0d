import { EVMError } from "@ethereumjs/evm";
import type { FrameState } from "./frame.ts";
import { MEMORY_LIMIT_BYTES } from "./memory.ts";

/**
 * Gas for memory to reach as far as `offset + size`: 3 a word, and a 512th of the square (yellow paper, appendix H).
 * Throws EVMError where no gas suffices: beyond 4 GB, which takes 35 million million.
 */
export function expansionGas(state: FrameState, offset: bigint, size: bigint): number {
  if (size === 0n) return 0;
  const end = offset + size;
  if (end <= state.memoryEnd) return 0;
  if (end > MEMORY_LIMIT_BYTES) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
  const words = Math.ceil(Number(end) / 32);
  const cost = words * WORD_GAS + Math.floor((words * words) / QUADRATIC_DIVISOR);
  const gas = cost - state.memoryCost;
  state.growMemory(words);
  state.memoryCost = cost;
  return gas;
}

/** Words that so many bytes fill. Throws EVMError for more bytes than any gas pays for. */
export function wordCount(bytes: bigint): number {
  if (bytes > MEMORY_LIMIT_BYTES) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
  return Math.ceil(Number(bytes) / 32);
}

const WORD_GAS = 3;
const QUADRATIC_DIVISOR = 512;
