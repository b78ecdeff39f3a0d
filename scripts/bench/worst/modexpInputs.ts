import { concatBytes } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import type { Random } from "../../../test/storage/random.ts";
import { type Draw, pick } from "./draw.ts";

/** Operands of MODEXP from extreme families, so long that the price stays below MODEXP_GAS. */
export const MODEXP_INPUTS: Draw = (random) => {
  const modulusLength = pick(
    random,
    [1, 2, 4, 8, 9, 16, 24, 31, 32, 33, 40, 48, 64, 65, 96, 128, 256, 512, 1024, 4096],
  );
  const [modulusKind, modulus] = number(random, modulusLength, MODULI);
  const baseLength = pick(random, [
    0,
    1,
    modulusLength,
    modulusLength,
    2 * modulusLength,
    64 * modulusLength,
  ]);
  const [baseKind, base] = number(random, baseLength, BASES);
  const words = Math.ceil(Math.max(baseLength, modulusLength) / 8);
  const mostIterations = Math.max(1, Math.floor((3 * MODEXP_GAS) / (words * words)));
  const exponentLength = Math.min(
    Math.ceil(mostIterations / 8),
    pick(random, [0, 1, 2, 3, 4, 5, 8, 16, 32, 33, 64, 256, 1024, 10_000, 100_000]),
  );
  const [exponentKind, exponent] = number(random, exponentLength, EXPONENTS);
  const kinds = [
    `${baseLength} ${baseKind}`,
    `${exponentLength} ${exponentKind}`,
    `${modulusLength} ${modulusKind}`,
  ];
  const lengths = [baseLength, exponentLength, modulusLength].map((length) =>
    bigintToFixedBytes(BigInt(length), 32),
  );
  return [kinds.join(", "), concatBytes(...lengths, base, exponent, modulus)];
};

const MODEXP_GAS = 1_000_000;
type Fill = (bytes: Uint8Array) => void;
const setFirst = (value: number) => (bytes: Uint8Array) => {
  if (bytes.length > 0) bytes[0] = value;
};
const setLast = (value: number) => (bytes: Uint8Array) => {
  if (bytes.length > 0) bytes[bytes.length - 1] = value;
};
const only = (set: Fill) => (bytes: Uint8Array) => {
  bytes.fill(0);
  set(bytes);
};
const ones: Fill = (bytes) => bytes.fill(0xff);
const nothing: Fill = () => {};

/** Each changes random bytes. */
const MODULI: Readonly<Record<string, Fill>> = {
  odd: (bytes) => {
    setFirst(0xff)(bytes);
    setLast(0x55)(bytes);
  },
  even: (bytes) => {
    setFirst(0xff)(bytes);
    setLast(0x56)(bytes);
  },
  "half zeros": (bytes) => {
    bytes.fill(0, bytes.length >> 1);
    setFirst(0xff)(bytes);
  },
  "nearly half zeros": (bytes) => {
    bytes.fill(0, (bytes.length >> 1) + 1);
    setFirst(0xff)(bytes);
  },
  "a power of two": only(setFirst(0x80)),
  "all ones": ones,
  "all but the last bit": (bytes) => {
    ones(bytes);
    setLast(0xfe)(bytes);
  },
  one: only(setLast(1)),
  three: only(setLast(3)),
  zero: (bytes) => bytes.fill(0),
};
const BASES: Readonly<Record<string, Fill>> = {
  random: nothing,
  "all ones": ones,
  one: only(setLast(1)),
  two: only(setLast(2)),
  zero: (bytes) => bytes.fill(0),
};
const EXPONENTS: Readonly<Record<string, Fill>> = {
  random: nothing,
  "all ones": ones,
  "one bit": only(setFirst(0x80)),
  "the last bit": only(setLast(1)),
  "two bits": (bytes) => {
    only(setFirst(0x80))(bytes);
    setLast(1)(bytes);
  },
  two: only(setLast(2)),
  zero: (bytes) => bytes.fill(0),
};

function number(random: Random, length: number, fills: Readonly<Record<string, Fill>>): [string, Uint8Array] {
  const bytes = random.bytes(length);
  const [name, fill] = pick(random, Object.entries(fills));
  fill(bytes);
  return [name, bytes];
}
