/** The upper half of a product of 128 bits: WebAssembly only has the lower one. */
// @ts-ignore: decorator
@inline
export function high(x: u64, y: u64): u64 {
  const x0 = x & 0xffffffff;
  const x1 = x >> 32;
  const y0 = y & 0xffffffff;
  const y1 = y >> 32;
  const t = x1 * y0 + ((x0 * y0) >> 32);
  const w = (t & 0xffffffff) + x0 * y1;
  return x1 * y1 + (t >> 32) + (w >> 32);
}

/** to = a * b, modulo 2^256. */
export function multiply(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  const b0 = load<u64>(b);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const b3 = load<u64>(b, 24);
  const r0 = a0 * b0;
  let r1 = high(a0, b0);
  let r2: u64 = 0;
  let r3: u64 = 0;
  if ((a1 | a2 | a3 | b1 | b2 | b3) != 0) {
    let l = a0 * b1;
    let h = high(a0, b1);
    r1 += l;
    r2 = h + u64(r1 < l);
    l = a1 * b0;
    h = high(a1, b0);
    r1 += l;
    h += u64(r1 < l);
    r2 += h;
    r3 = u64(r2 < h);
    l = a1 * b1;
    r3 += high(a1, b1);
    r2 += l;
    r3 += u64(r2 < l);
    if ((a2 | a3 | b2 | b3) != 0) {
      l = a0 * b2;
      r3 += high(a0, b2);
      r2 += l;
      r3 += u64(r2 < l);
      l = a2 * b0;
      r3 += high(a2, b0);
      r2 += l;
      r3 += u64(r2 < l);
      r3 += a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0;
    }
  }
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}

/** The lowest `limbs` limbs of a product; what is above them has no meaning. */
export function multiplyLow(to: usize, a: usize, b: usize, limbs: i32): void {
  if (limbs > 3) {
    multiply(to, a, b);
    return;
  }
  const a0 = load<u64>(a);
  const b0 = load<u64>(b);
  const r0 = a0 * b0;
  if (limbs > 1) {
    const a1 = load<u64>(a, 8);
    const b1 = load<u64>(b, 8);
    let r1 = high(a0, b0);
    if (limbs > 2) {
      let l = a0 * b1;
      r1 += l;
      let r2 = high(a0, b1) + u64(r1 < l);
      l = a1 * b0;
      r1 += l;
      r2 += high(a1, b0) + u64(r1 < l);
      r2 += a1 * b1 + a0 * load<u64>(b, 16) + load<u64>(a, 16) * b0;
      store<u64>(to, r2, 16);
    } else r1 += a0 * b1 + a1 * b0;
    store<u64>(to, r1, 8);
  }
  store<u64>(to, r0);
}

/** to = a * a, modulo 2^256: four of the seven long products. */
export function square(to: usize, a: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  const r0 = a0 * a0;
  let r1 = high(a0, a0);
  let r2 = a1 * a1;
  let r3 = high(a1, a1);
  // Twice a0 * a1.
  let l = a0 * a1;
  let h = high(a0, a1);
  let top = h >> 63;
  h = (h << 1) | (l >> 63);
  l <<= 1;
  r1 += l;
  const carry = u64(r1 < l);
  h += carry;
  top += u64(h < carry);
  r2 += h;
  r3 += u64(r2 < h) + top;
  // Twice a0 * a2.
  l = a0 * a2;
  h = high(a0, a2);
  h = (h << 1) | (l >> 63);
  l <<= 1;
  r2 += l;
  r3 += h + u64(r2 < l);
  r3 += (a0 * a3 + a1 * a2) << 1;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}

/** The product in full, 64 bytes at `to`, which lies apart from a and b. */
export function multiplyFull(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  let r0: u64 = 0;
  let r1: u64 = 0;
  let r2: u64 = 0;
  let r3: u64 = 0;
  for (let at: usize = 0; at < 32; at += 8) {
    const m = load<u64>(b + at);
    let l = a0 * m;
    let h = high(a0, m);
    l += r0;
    h += u64(l < r0);
    store<u64>(to + at, l);
    let carry = h;
    l = a1 * m;
    h = high(a1, m);
    l += carry;
    h += u64(l < carry);
    r0 = r1 + l;
    h += u64(r0 < l);
    carry = h;
    l = a2 * m;
    h = high(a2, m);
    l += carry;
    h += u64(l < carry);
    r1 = r2 + l;
    h += u64(r1 < l);
    carry = h;
    l = a3 * m;
    h = high(a3, m);
    l += carry;
    h += u64(l < carry);
    r2 = r3 + l;
    r3 = h + u64(r2 < l);
  }
  store<u64>(to, r0, 32);
  store<u64>(to, r1, 40);
  store<u64>(to, r2, 48);
  store<u64>(to, r3, 56);
}
