/**
 * `base` to the power of `exponent`, modulo 2^256. Takes four bits of the exponent at a time: four squarings and one
 * product per digit, so that 256 bits take about 330 products of 256 bits instead of up to 512.
 */
export function power(base: bigint, exponent: bigint): bigint {
  if (base === 2n) return exponent > 255n ? 0n : 1n << exponent;
  if (exponent < 16n) return smallPower(base, Number(exponent));
  const powers = [1n, base];
  for (let n = 2; n < 16; n++) powers.push(BigInt.asUintN(256, (powers[n - 1] as bigint) * base));
  const digits = exponent.toString(16);
  let result = powers[digitAt(digits, 0)] as bigint;
  for (let at = 1; at < digits.length; at++) {
    result = BigInt.asUintN(256, result * result);
    result = BigInt.asUintN(256, result * result);
    result = BigInt.asUintN(256, result * result);
    result = BigInt.asUintN(256, result * result);
    const digit = digitAt(digits, at);
    if (digit !== 0) result = BigInt.asUintN(256, result * (powers[digit] as bigint));
  }
  return result;
}

function smallPower(base: bigint, exponent: number): bigint {
  let result = 1n;
  for (let bit = 8; bit > 0; bit >>= 1) {
    result = BigInt.asUintN(256, result * result);
    if ((exponent & bit) !== 0) result = BigInt.asUintN(256, result * base);
  }
  return result;
}

/** Value of the hexadecimal digit at a position. */
function digitAt(digits: string, at: number): number {
  const code = digits.charCodeAt(at);
  return code < LETTER_A ? code - DIGIT_0 : code - LETTER_A + 10;
}

const DIGIT_0 = 0x30;
const LETTER_A = 0x61;

/** Significant bytes of an exponent, by which EXP is priced (yellow paper, appendix H). */
export function exponentBytes(exponent: bigint): number {
  return exponent <= 0xffn ? (exponent === 0n ? 0 : 1) : (exponent.toString(16).length + 1) >> 1;
}
