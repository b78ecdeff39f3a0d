import { SCRATCH } from "./layout";
import { high, multiplyFull } from "./multiply";
import { copyWord, isBelow, isSmall, isZero, negate, setSmall } from "./words";

/** The dividend, up to nine limbs, which the division turns into the remainder; the divisor; the quotient. */
const DIVIDEND: usize = SCRATCH;
const DIVISOR: usize = SCRATCH + 80;
const QUOTIENT: usize = SCRATCH + 112;
/** A sum or product that is to be divided, up to eight limbs. */
const LARGE: usize = SCRATCH + 192;

/**
 * floor((2^128 - 1) / d) - 2^64 for a d whose highest bit is set: what the inverse of d has below its first digit.
 * Newton's iteration from a division of 19 by 9 bits (Möller and Granlund, "Improved division by invariant
 * integers", algorithm 2).
 */
function reciprocalOf(d: u64): u64 {
  if (d == lastDivisor) return lastReciprocal;
  const odd = d & 1;
  const d40 = (d >> 24) + 1;
  const d63 = (d >> 1) + odd;
  const v0 = u64(u32(0x7fd00) / u32(d >> 55));
  const v1 = (v0 << 11) - ((v0 * v0 * d40) >> 40) - 1;
  const v2 = (v1 << 13) + ((v1 * ((1 << 60) - v1 * d40)) >> 47);
  const e = ((v2 >> 1) & (0 - odd)) - v2 * d63;
  const v3 = (v2 << 31) + (high(v2, e) >> 1);
  const low = v3 * d;
  const v4 = v3 - (high(v3, d) + u64(low + d < d)) - d;
  lastDivisor = d;
  lastReciprocal = v4;
  return v4;
}

let lastDivisor: u64 = 0;
let lastReciprocal: u64 = 0;

/** The remainder of divideLimbs by one limb, and of each step. */
let remainder: u64 = 0;

/** Divides two limbs, of which the higher is below d, by d with its reciprocal; the rest goes to `remainder`. */
// @ts-ignore: decorator
@inline
function divideTwo(u1: u64, u0: u64, d: u64, v: u64): u64 {
  let q0 = v * u1;
  let q1 = high(v, u1);
  q0 += u0;
  q1 += u1 + u64(q0 < u0) + 1;
  let r = u0 - q1 * d;
  if (r > q0) {
    q1--;
    r += d;
  }
  if (r >= d) {
    q1++;
    r -= d;
  }
  remainder = r;
  return q1;
}

/**
 * Divides the `limbs` limbs at `from` by the non-zero word `by`: quotient to QUOTIENT, of which only the limbs up to the
 * dividend's length are written and the first four always, remainder to `rest` as a word (Knuth, algorithm D).
 */
function divideLimbs(from: usize, limbs: i32, by: usize, rest: usize): void {
  let n = 4;
  while (load<u64>(by + 8 * (n - 1)) == 0) n--;
  let m = limbs;
  while (m > 0 && load<u64>(from + 8 * (m - 1)) == 0) m--;
  setSmall(QUOTIENT, 0);
  if (m < n) {
    setSmall(rest, 0);
    for (let i = 0; i < m; i++) store<u64>(rest + 8 * i, load<u64>(from + 8 * i));
    return;
  }
  const shift = u64(clz<u64>(load<u64>(by + 8 * (n - 1))));
  // Shifting by 64 - 0 is by 0 in WebAssembly, hence the two steps.
  let below: u64 = 0;
  for (let i = 0; i < n; i++) {
    const limb = load<u64>(by + 8 * i);
    store<u64>(DIVISOR + 8 * i, (limb << shift) | below);
    below = (limb >> 1) >> (63 - shift);
  }
  below = 0;
  for (let i = 0; i < m; i++) {
    const limb = load<u64>(from + 8 * i);
    store<u64>(DIVIDEND + 8 * i, (limb << shift) | below);
    below = (limb >> 1) >> (63 - shift);
  }
  store<u64>(DIVIDEND + 8 * m, below);
  const d = load<u64>(DIVISOR + 8 * (n - 1));
  const v = reciprocalOf(d);
  if (n == 1) {
    let r = below;
    for (let j = m - 1; j >= 0; j--) {
      store<u64>(QUOTIENT + 8 * j, divideTwo(r, load<u64>(DIVIDEND + 8 * j), d, v));
      r = remainder;
    }
    setSmall(rest, r >> shift);
    return;
  }
  const second = load<u64>(DIVISOR + 8 * (n - 2));
  for (let j = m - n; j >= 0; j--) divideStep(DIVIDEND + 8 * j, j, n, d, second, v);
  setSmall(rest, 0);
  for (let i = 0; i < n; i++) {
    const above = i + 1 < n ? load<u64>(DIVIDEND + 8 * (i + 1)) : 0;
    store<u64>(rest + 8 * i, (load<u64>(DIVIDEND + 8 * i) >> shift) | ((above << 1) << (63 - shift)));
  }
}

/** One limb of the quotient, from the dividend's n + 1 limbs at `u`. */
// @ts-ignore: decorator
@inline
function divideStep(u: usize, j: i32, n: i32, d: u64, second: u64, v: u64): void {
  const u2 = load<u64>(u + 8 * n);
  let q: u64;
  if (u2 >= d) q = u64.MAX_VALUE;
  else {
    q = divideTwo(u2, load<u64>(u + 8 * (n - 1)), d, v);
    const r = remainder;
    const h = high(q, second);
    if (h > r || (h == r && q * second > load<u64>(u + 8 * (n - 2)))) {
      q--;
      // The estimate is at most two too large; the second one only if r + d does not overflow.
      const r2 = r + d;
      if (r2 >= d) {
        const h2 = high(q, second);
        if (h2 > r2 || (h2 == r2 && q * second > load<u64>(u + 8 * (n - 2)))) q--;
      }
    }
  }
  let carry: u64 = 0;
  for (let i = 0; i < n; i++) {
    const m = load<u64>(DIVISOR + 8 * i);
    const l = q * m + carry;
    carry = high(q, m) + u64(l < carry);
    const limb = load<u64>(u + 8 * i);
    store<u64>(u + 8 * i, limb - l);
    carry += u64(limb < l);
  }
  let top = u2 - carry;
  // A quotient that is too large still leaves a negative rest: the divisor is added again, at most twice.
  let isNegative = u2 < carry;
  while (isNegative) {
    q--;
    let over: u64 = 0;
    for (let i = 0; i < n; i++) {
      const m = load<u64>(DIVISOR + 8 * i);
      const sum = load<u64>(u + 8 * i) + m;
      const both = sum + over;
      over = u64(sum < m) + u64(both < over);
      store<u64>(u + 8 * i, both);
    }
    top += over;
    isNegative = over == 0;
  }
  store<u64>(u + 8 * n, top);
  store<u64>(QUOTIENT + 8 * j, q);
}

/** to = a / b, 0 if b is. */
export function divide(to: usize, a: usize, b: usize): void {
  if (isSmall(a) && isSmall(b)) {
    const d = load<u64>(b);
    setSmall(to, d == 0 ? 0 : load<u64>(a) / d);
    return;
  }
  if (isZero(b)) {
    setSmall(to, 0);
    return;
  }
  divideLimbs(a, 4, b, LARGE);
  copyWord(to, QUOTIENT);
}

/** to = a % b, 0 if b is. */
export function modulo(to: usize, a: usize, b: usize): void {
  if (isSmall(a) && isSmall(b)) {
    const d = load<u64>(b);
    setSmall(to, d == 0 ? 0 : load<u64>(a) % d);
    return;
  }
  if (isZero(b)) {
    setSmall(to, 0);
    return;
  }
  divideLimbs(a, 4, b, to);
}

/** to = a / b, signed; a and b are spoilt. */
export function divideSigned(to: usize, a: usize, b: usize): void {
  const isNegative = (load<i64>(a, 24) ^ load<i64>(b, 24)) < 0;
  if (load<i64>(a, 24) < 0) negate(a);
  if (load<i64>(b, 24) < 0) negate(b);
  divide(to, a, b);
  if (isNegative) negate(to);
}

/** to = a % b with the sign of a; a and b are spoilt. */
export function moduloSigned(to: usize, a: usize, b: usize): void {
  const isNegative = load<i64>(a, 24) < 0;
  if (isNegative) negate(a);
  if (load<i64>(b, 24) < 0) negate(b);
  modulo(to, a, b);
  if (isNegative) negate(to);
}

/** to = (a + b) % m without overflow, 0 if m is; `to` may be m. */
export function addModulo(to: usize, a: usize, b: usize, m: usize): void {
  if (isZero(m)) {
    setSmall(to, 0);
    return;
  }
  const a0 = load<u64>(a);
  const r0 = a0 + load<u64>(b);
  let carry = u64(r0 < a0);
  let t = load<u64>(a, 8) + carry;
  carry = u64(t < carry);
  const r1 = t + load<u64>(b, 8);
  carry += u64(r1 < t);
  t = load<u64>(a, 16) + carry;
  carry = u64(t < carry);
  const r2 = t + load<u64>(b, 16);
  carry += u64(r2 < t);
  t = load<u64>(a, 24) + carry;
  carry = u64(t < carry);
  const r3 = t + load<u64>(b, 24);
  carry += u64(r3 < t);
  store<u64>(LARGE, r0);
  store<u64>(LARGE, r1, 8);
  store<u64>(LARGE, r2, 16);
  store<u64>(LARGE, r3, 24);
  store<u64>(LARGE, carry, 32);
  if (carry == 0 && isBelow(LARGE, m)) {
    copyWord(to, LARGE);
    return;
  }
  if (load<u64>(m, 24) != 0 && isBelow(a, m) && isBelow(b, m)) subtractWord(to, LARGE, m);
  else divideLimbs(LARGE, 5, m, to);
}

function subtractWord(to: usize, a: usize, b: usize): void {
  let borrow: u64 = 0;
  for (let i: usize = 0; i < 32; i += 8) {
    const x = load<u64>(a + i);
    const y = load<u64>(b + i);
    const d = x - y;
    store<u64>(to + i, d - borrow);
    borrow = u64(x < y) | u64(d < borrow);
  }
}

/** to = (a * b) % m without overflow, 0 if m is; `to` may be m. */
export function multiplyModulo(to: usize, a: usize, b: usize, m: usize): void {
  if (isZero(m)) {
    setSmall(to, 0);
    return;
  }
  multiplyFull(LARGE, a, b);
  divideLimbs(LARGE, 8, m, to);
}
