import { EVMError } from "@ethereumjs/evm";
import type { FrameState } from "./frame.ts";
import { MEMORY_LIMIT_BYTES } from "./memory.ts";

/**
 * Gas to expand memory to `offset + size`: 3 per word plus a 512th of the words squared (yellow paper, appendix H).
 * Throws EVMError beyond 4 GB, which would cost 35 trillion gas.
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

/** Rounds bytes up to words. Throws EVMError for more bytes than any gas pays for. */
export function wordCount(bytes: bigint): number {
  if (bytes > MEMORY_LIMIT_BYTES) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
  return Math.ceil(Number(bytes) / 32);
}

const WORD_GAS = 3;
const QUADRATIC_DIVISOR = 512;
