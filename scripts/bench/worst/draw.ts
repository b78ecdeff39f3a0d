import type { Random } from "../../../test/storage/random.ts";

/** Draws an input of a precompiled contract, and says what it is. */
export type Draw = (random: Random) => readonly [string, Uint8Array];

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.below(items.length)] as T;
}
