import { KECCAK } from "./layout";
import { turnWord } from "./words";

const ROUND_CONSTANTS = memory.data<u64>([
  0x0000000000000001,
  0x0000000000008082,
  0x800000000000808a,
  0x8000000080008000,
  0x000000000000808b,
  0x0000000080000001,
  0x8000000080008081,
  0x8000000000008009,
  0x000000000000008a,
  0x0000000000000088,
  0x0000000080008009,
  0x000000008000000a,
  0x000000008000808b,
  0x800000000000008b,
  0x8000000000008089,
  0x8000000000008003,
  0x8000000000008002,
  0x8000000000000080,
  0x000000000000800a,
  0x800000008000000a,
  0x8000000080008081,
  0x8000000000008080,
  0x0000000080000001,
  0x8000000080008008,
]);
const BLOCK: usize = KECCAK + 256;
/** Bytes of a block of Keccak-256. */
const RATE: usize = 136;

/** Keccak-256 of `size` bytes, as a word. */
export function keccak(to: usize, from: usize, size: usize): void {
  beginKeccak();
  const whole = size - (size % RATE);
  absorb(from, whole);
  endKeccak(to, from + whole, size - whole);
}

/** Keccak-256 in parts: begin, absorb whole blocks of 136 bytes, end with the rest. */
export function beginKeccak(): void {
  memory.fill(KECCAK, 0, 200);
}

export function absorb(from: usize, size: usize): void {
  for (const end = from + size; from < end; from += RATE) {
    mix(from);
    permute();
  }
}

export function endKeccak(to: usize, from: usize, size: usize): void {
  memory.fill(BLOCK, 0, RATE);
  memory.copy(BLOCK, from, size);
  store<u8>(BLOCK + size, 1);
  store<u8>(BLOCK + RATE - 1, load<u8>(BLOCK + RATE - 1) | 0x80);
  mix(BLOCK);
  permute();
  turnWord(to, KECCAK);
}

function mix(block: usize): void {
  for (let i: usize = 0; i < RATE; i += 8)
    store<u64>(KECCAK + i, load<u64>(KECCAK + i) ^ load<u64>(block + i));
}

/** Keccak-f[1600] with all lanes in locals (FIPS 202, section 3.3). */
function permute(): void {
  let s0 = load<u64>(KECCAK, 0);
  let s1 = load<u64>(KECCAK, 8);
  let s2 = load<u64>(KECCAK, 16);
  let s3 = load<u64>(KECCAK, 24);
  let s4 = load<u64>(KECCAK, 32);
  let s5 = load<u64>(KECCAK, 40);
  let s6 = load<u64>(KECCAK, 48);
  let s7 = load<u64>(KECCAK, 56);
  let s8 = load<u64>(KECCAK, 64);
  let s9 = load<u64>(KECCAK, 72);
  let s10 = load<u64>(KECCAK, 80);
  let s11 = load<u64>(KECCAK, 88);
  let s12 = load<u64>(KECCAK, 96);
  let s13 = load<u64>(KECCAK, 104);
  let s14 = load<u64>(KECCAK, 112);
  let s15 = load<u64>(KECCAK, 120);
  let s16 = load<u64>(KECCAK, 128);
  let s17 = load<u64>(KECCAK, 136);
  let s18 = load<u64>(KECCAK, 144);
  let s19 = load<u64>(KECCAK, 152);
  let s20 = load<u64>(KECCAK, 160);
  let s21 = load<u64>(KECCAK, 168);
  let s22 = load<u64>(KECCAK, 176);
  let s23 = load<u64>(KECCAK, 184);
  let s24 = load<u64>(KECCAK, 192);
  for (let round = ROUND_CONSTANTS; round < ROUND_CONSTANTS + 192; round += 8) {
    const c0 = s0 ^ s5 ^ s10 ^ s15 ^ s20;
    const c1 = s1 ^ s6 ^ s11 ^ s16 ^ s21;
    const c2 = s2 ^ s7 ^ s12 ^ s17 ^ s22;
    const c3 = s3 ^ s8 ^ s13 ^ s18 ^ s23;
    const c4 = s4 ^ s9 ^ s14 ^ s19 ^ s24;
    const d0 = c4 ^ rotl<u64>(c1, 1);
    const d1 = c0 ^ rotl<u64>(c2, 1);
    const d2 = c1 ^ rotl<u64>(c3, 1);
    const d3 = c2 ^ rotl<u64>(c4, 1);
    const d4 = c3 ^ rotl<u64>(c0, 1);
    const b0 = s0 ^ d0;
    const b16 = rotl<u64>(s5 ^ d0, 36);
    const b7 = rotl<u64>(s10 ^ d0, 3);
    const b23 = rotl<u64>(s15 ^ d0, 41);
    const b14 = rotl<u64>(s20 ^ d0, 18);
    const b10 = rotl<u64>(s1 ^ d1, 1);
    const b1 = rotl<u64>(s6 ^ d1, 44);
    const b17 = rotl<u64>(s11 ^ d1, 10);
    const b8 = rotl<u64>(s16 ^ d1, 45);
    const b24 = rotl<u64>(s21 ^ d1, 2);
    const b20 = rotl<u64>(s2 ^ d2, 62);
    const b11 = rotl<u64>(s7 ^ d2, 6);
    const b2 = rotl<u64>(s12 ^ d2, 43);
    const b18 = rotl<u64>(s17 ^ d2, 15);
    const b9 = rotl<u64>(s22 ^ d2, 61);
    const b5 = rotl<u64>(s3 ^ d3, 28);
    const b21 = rotl<u64>(s8 ^ d3, 55);
    const b12 = rotl<u64>(s13 ^ d3, 25);
    const b3 = rotl<u64>(s18 ^ d3, 21);
    const b19 = rotl<u64>(s23 ^ d3, 56);
    const b15 = rotl<u64>(s4 ^ d4, 27);
    const b6 = rotl<u64>(s9 ^ d4, 20);
    const b22 = rotl<u64>(s14 ^ d4, 39);
    const b13 = rotl<u64>(s19 ^ d4, 8);
    const b4 = rotl<u64>(s24 ^ d4, 14);
    s0 = b0 ^ (~b1 & b2) ^ load<u64>(round);
    s1 = b1 ^ (~b2 & b3);
    s2 = b2 ^ (~b3 & b4);
    s3 = b3 ^ (~b4 & b0);
    s4 = b4 ^ (~b0 & b1);
    s5 = b5 ^ (~b6 & b7);
    s6 = b6 ^ (~b7 & b8);
    s7 = b7 ^ (~b8 & b9);
    s8 = b8 ^ (~b9 & b5);
    s9 = b9 ^ (~b5 & b6);
    s10 = b10 ^ (~b11 & b12);
    s11 = b11 ^ (~b12 & b13);
    s12 = b12 ^ (~b13 & b14);
    s13 = b13 ^ (~b14 & b10);
    s14 = b14 ^ (~b10 & b11);
    s15 = b15 ^ (~b16 & b17);
    s16 = b16 ^ (~b17 & b18);
    s17 = b17 ^ (~b18 & b19);
    s18 = b18 ^ (~b19 & b15);
    s19 = b19 ^ (~b15 & b16);
    s20 = b20 ^ (~b21 & b22);
    s21 = b21 ^ (~b22 & b23);
    s22 = b22 ^ (~b23 & b24);
    s23 = b23 ^ (~b24 & b20);
    s24 = b24 ^ (~b20 & b21);
  }
  store<u64>(KECCAK, s0, 0);
  store<u64>(KECCAK, s1, 8);
  store<u64>(KECCAK, s2, 16);
  store<u64>(KECCAK, s3, 24);
  store<u64>(KECCAK, s4, 32);
  store<u64>(KECCAK, s5, 40);
  store<u64>(KECCAK, s6, 48);
  store<u64>(KECCAK, s7, 56);
  store<u64>(KECCAK, s8, 64);
  store<u64>(KECCAK, s9, 72);
  store<u64>(KECCAK, s10, 80);
  store<u64>(KECCAK, s11, 88);
  store<u64>(KECCAK, s12, 96);
  store<u64>(KECCAK, s13, 104);
  store<u64>(KECCAK, s14, 112);
  store<u64>(KECCAK, s15, 120);
  store<u64>(KECCAK, s16, 128);
  store<u64>(KECCAK, s17, 136);
  store<u64>(KECCAK, s18, 144);
  store<u64>(KECCAK, s19, 152);
  store<u64>(KECCAK, s20, 160);
  store<u64>(KECCAK, s21, 168);
  store<u64>(KECCAK, s22, 176);
  store<u64>(KECCAK, s23, 184);
  store<u64>(KECCAK, s24, 192);
}
