// Words of 256 bits: four limbs of 64 bits in linear memory, the lowest first.

// @ts-ignore: decorator
@inline
export function copyWord(to: usize, from: usize): void {
  const a = load<u64>(from);
  const b = load<u64>(from, 8);
  const c = load<u64>(from, 16);
  const d = load<u64>(from, 24);
  store<u64>(to, a);
  store<u64>(to, b, 8);
  store<u64>(to, c, 16);
  store<u64>(to, d, 24);
}

// @ts-ignore: decorator
@inline
export function setSmall(to: usize, value: u64): void {
  store<u64>(to, value);
  store<u64>(to, 0, 8);
  store<u64>(to, 0, 16);
  store<u64>(to, 0, 24);
}

/** Reads 32 big-endian bytes as a word, or writes a word as such: the same reversal. */
// @ts-ignore: decorator
@inline
export function turnWord(to: usize, from: usize): void {
  const a = load<u64>(from);
  const b = load<u64>(from, 8);
  const c = load<u64>(from, 16);
  const d = load<u64>(from, 24);
  store<u64>(to, bswap<u64>(d));
  store<u64>(to, bswap<u64>(c), 8);
  store<u64>(to, bswap<u64>(b), 16);
  store<u64>(to, bswap<u64>(a), 24);
}

// @ts-ignore: decorator
@inline
export function swapWords(p: usize, q: usize): void {
  const a = load<u64>(p);
  const b = load<u64>(p, 8);
  const c = load<u64>(p, 16);
  const d = load<u64>(p, 24);
  copyWord(p, q);
  store<u64>(q, a);
  store<u64>(q, b, 8);
  store<u64>(q, c, 16);
  store<u64>(q, d, 24);
}

// @ts-ignore: decorator
@inline
export function isZero(p: usize): bool {
  return (load<u64>(p) | load<u64>(p, 8) | load<u64>(p, 16) | load<u64>(p, 24)) == 0;
}

// @ts-ignore: decorator
@inline
export function isSmall(p: usize): bool {
  return (load<u64>(p, 8) | load<u64>(p, 16) | load<u64>(p, 24)) == 0;
}

/** A word as an offset or size; 2^62 or more if no memory is that large. */
// @ts-ignore: decorator
@inline
export function sizeOf(p: usize): u64 {
  const low = load<u64>(p);
  return isSmall(p) && low < HUGE ? low : HUGE;
}

const HUGE: u64 = 1 << 62;

export function isBelow(a: usize, b: usize): bool {
  const a3 = load<u64>(a, 24);
  const b3 = load<u64>(b, 24);
  if (a3 != b3) return a3 < b3;
  const a2 = load<u64>(a, 16);
  const b2 = load<u64>(b, 16);
  if (a2 != b2) return a2 < b2;
  const a1 = load<u64>(a, 8);
  const b1 = load<u64>(b, 8);
  if (a1 != b1) return a1 < b1;
  return load<u64>(a) < load<u64>(b);
}

// @ts-ignore: decorator
@inline
export function isSignedBelow(a: usize, b: usize): bool {
  const a3 = load<i64>(a, 24);
  const b3 = load<i64>(b, 24);
  return (a3 ^ b3) < 0 ? a3 < b3 : isBelow(a, b);
}

/** to = a + b. */
// @ts-ignore: decorator
@inline
export function add(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const r0 = a0 + load<u64>(b);
  let carry = u64(r0 < a0);
  let t = a1 + carry;
  carry = u64(t < carry);
  const r1 = t + b1;
  carry += u64(r1 < b1);
  t = a2 + carry;
  carry = u64(t < carry);
  const r2 = t + b2;
  carry += u64(r2 < b2);
  const r3 = load<u64>(a, 24) + load<u64>(b, 24) + carry;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}

/** to = a - b. */
// @ts-ignore: decorator
@inline
export function subtract(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const b0 = load<u64>(b);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const r0 = a0 - b0;
  let borrow = u64(a0 < b0);
  let next = u64(a1 < b1);
  let r1 = a1 - b1;
  next |= u64(r1 < borrow);
  r1 -= borrow;
  borrow = u64(a2 < b2);
  let r2 = a2 - b2;
  borrow |= u64(r2 < next);
  r2 -= next;
  const r3 = load<u64>(a, 24) - load<u64>(b, 24) - borrow;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}

export function negate(p: usize): void {
  let carry: u64 = 1;
  for (let i: usize = 0; i < 32; i += 8) {
    const v = ~load<u64>(p + i) + carry;
    carry = u64(carry != 0 && v == 0);
    store<u64>(p + i, v);
  }
}

/** Extends the sign of the byte with number k < 31, counted from the lowest. */
export function extendSign(p: usize, k: u64): void {
  const bit = i32(k) * 8 + 7;
  const limb = bit >> 6;
  const shift = u64(63 - (bit & 63));
  const v = (load<i64>(p + 8 * limb) << shift) >> shift;
  store<i64>(p + 8 * limb, v);
  for (let i = limb + 1; i < 4; i++) store<i64>(p + 8 * i, v >> 63);
}

/** Shifts by fewer than 256 bits. */
export function shiftLeft(p: usize, by: i32): void {
  const limbs = by >> 6;
  const bits: u64 = by & 63;
  for (let i = 3; i >= 0; i--) {
    const from = i - limbs;
    let v: u64 = 0;
    if (from >= 0) {
      v = load<u64>(p + 8 * from) << bits;
      if (bits != 0 && from > 0) v |= load<u64>(p + 8 * (from - 1)) >> (64 - bits);
    }
    store<u64>(p + 8 * i, v);
  }
}

/** Shifts right by up to 256 bits; `fill` is all zeros or all ones. */
export function shiftRight(p: usize, by: i32, fill: u64): void {
  const limbs = by >> 6;
  const bits: u64 = by & 63;
  for (let i = 0; i < 4; i++) {
    const from = i + limbs;
    let v = fill;
    if (from < 4) {
      const above = from < 3 ? load<u64>(p + 8 * (from + 1)) : fill;
      v = load<u64>(p + 8 * from) >> bits;
      if (bits != 0) v |= above << (64 - bits);
    }
    store<u64>(p + 8 * i, v);
  }
}
