import { SCRATCH } from "./layout";
import { multiply, multiplyLow, square } from "./multiply";
import { copyWord, setSmall, shiftRight } from "./words";

const BASE: usize = SCRATCH + 320;
const RESULT: usize = SCRATCH + 352;
const UPPER: usize = SCRATCH + 384;
const SUM: usize = SCRATCH + 416;
const TERM: usize = SCRATCH + 448;
const EXPONENT: usize = SCRATCH + 480;

/** Bits of a word without its leading zeros. */
export function bitLength(p: usize): i32 {
  for (let limb = 3; limb >= 0; limb--) {
    const bits = load<u64>(p + 8 * limb);
    if (bits != 0) return 64 * limb + 64 - i32(clz<u64>(bits));
  }
  return 0;
}

/** to = base ** exponent, modulo 2^256, where `bits` is the exponent's length; `to` may be either. */
export function power(to: usize, base: usize, exponent: usize, bits: i32): void {
  copyWord(BASE, base);
  copyWord(EXPONENT, exponent);
  if (bits > 8 && (load<u8>(base) & 1) == 0) {
    // The base has a factor 2, and the exponent is 256 at least.
    setSmall(to, 0);
    return;
  }
  setSmall(RESULT, 1);
  // The bits are taken from the lowest on, so that the base ends as its power of 2^SQUARINGS if there are more bits.
  const count = min(bits, SQUARINGS);
  const low = load<u32>(EXPONENT);
  for (let bit = 0; bit < count; bit++) {
    if ((low >> bit) & 1) multiply(RESULT, RESULT, BASE);
    if (bit + 1 < bits) square(BASE, BASE);
  }
  if (bits > SQUARINGS) {
    shiftRight(EXPONENT, SQUARINGS, 0);
    powerNearOne();
    multiply(RESULT, RESULT, SUM);
  }
  copyWord(to, RESULT);
}

const SQUARINGS: i32 = 20;

/**
 * SUM = BASE ** EXPONENT for a base whose difference to 1 is a multiple of 2^22, as the power of 2^20 of any odd number
 * is. With BASE = 1 + 2^22 u it is the binomial sum of C(EXPONENT, j) * 2^(22 j) * u^j, of which the terms from 13 on are
 * multiples of 2^256. Computed from the inside,
 *
 *     1 + 2^22 u * E / 1 * (1 + 2^22 u * (E - 1) / 2 * (1 + 2^22 u * (E - 2) / 3 * (...)))
 *
 * where dividing by j takes its factors 2 off the shift and multiplies with the inverse of the rest. What lies further
 * inside needs fewer bits, because all of it is shifted further.
 */
function powerNearOne(): void {
  copyWord(UPPER, BASE);
  // The lowest bit is 1, and falls off.
  shiftRight(UPPER, 22, 0);
  setSmall(SUM, 1);
  for (let j: u64 = 12; j > 0; j--) {
    const limbs = j > 9 ? 1 : j > 5 ? 2 : j > 2 ? 3 : 4;
    const e0 = load<u64>(EXPONENT);
    const e1 = load<u64>(EXPONENT, 8);
    const e2 = load<u64>(EXPONENT, 16);
    const less = j - 1;
    const b1 = u64(e0 < less);
    const b2 = u64(e1 < b1);
    const b3 = u64(e2 < b2);
    store<u64>(TERM, e0 - less);
    store<u64>(TERM, e1 - b1, 8);
    store<u64>(TERM, e2 - b2, 16);
    store<u64>(TERM, load<u64>(EXPONENT, 24) - b3, 24);
    if ((j & (j - 1)) != 0) multiplyLow(TERM, TERM, INVERSES + 32 * usize(j), limbs);
    multiplyLow(TERM, TERM, UPPER, limbs);
    multiplyLow(TERM, TERM, SUM, limbs);
    const by: u64 = 22 - ctz<u64>(j);
    const t0 = load<u64>(TERM);
    const t1 = load<u64>(TERM, 8);
    const t2 = load<u64>(TERM, 16);
    const t3 = load<u64>(TERM, 24);
    store<u64>(SUM, (t0 << by) | 1);
    store<u64>(SUM, (t1 << by) | (t0 >> (64 - by)), 8);
    store<u64>(SUM, (t2 << by) | (t1 >> (64 - by)), 16);
    store<u64>(SUM, (t3 << by) | (t2 >> (64 - by)), 24);
  }
}

/** The inverses modulo 2^256 of 0 (unused) to 12 without their factors 2. */
const INVERSES = memory.data<u64>([
  0x0000000000000001, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, // 0
  0x0000000000000001, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, // 1
  0x0000000000000001, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, // 2
  0xaaaaaaaaaaaaaaab, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, // 3
  0x0000000000000001, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, // 4
  0xcccccccccccccccd, 0xcccccccccccccccc, 0xcccccccccccccccc, 0xcccccccccccccccc, // 5
  0xaaaaaaaaaaaaaaab, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, // 6
  0x6db6db6db6db6db7, 0xb6db6db6db6db6db, 0xdb6db6db6db6db6d, 0x6db6db6db6db6db6, // 7
  0x0000000000000001, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, // 8
  0x8e38e38e38e38e39, 0x38e38e38e38e38e3, 0xe38e38e38e38e38e, 0x8e38e38e38e38e38, // 9
  0xcccccccccccccccd, 0xcccccccccccccccc, 0xcccccccccccccccc, 0xcccccccccccccccc, // 10
  0x2e8ba2e8ba2e8ba3, 0xa2e8ba2e8ba2e8ba, 0xba2e8ba2e8ba2e8b, 0x8ba2e8ba2e8ba2e8, // 11
  0xaaaaaaaaaaaaaaab, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, // 12
]);
