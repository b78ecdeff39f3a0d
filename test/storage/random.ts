/** A reproducible source of random values. */
export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  bytes(length: number): Uint8Array;
}

/** Mulberry32: small, seeded, good enough to choose test cases. */
export function generator(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, bytes: (length) => Uint8Array.from({ length }, () => below(256)) };
}
