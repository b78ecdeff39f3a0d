import { wordOfBytes } from "./words.ts";

/** The word of PUSH1 for each byte. */
export const BYTE_WORDS: readonly bigint[] = Array.from({ length: 256 }, (_, byte) => BigInt(byte));

/** The words of PUSH2, mostly jump targets: one for each two bytes, created when first pushed. */
const PAIR_WORDS: bigint[] = new Array<bigint>(65_536);

export function pairWord(pair: number): bigint {
  let word = PAIR_WORDS[pair];
  if (word === undefined) {
    word = BigInt(pair);
    PAIR_WORDS[pair] = word;
  }
  return word;
}

/**
 * The word of PUSH3 to PUSH32: the `size` bytes of `code` from `at` on, padded with zeros beyond the end of the code.
 * Creating such a word takes as long as ten instructions, so the words last pushed are cached, each in the one slot
 * given by its code and position: enough for 64 KB of code in use, in 5 MB at most.
 */
export function longWord(codeId: number, code: Uint8Array, at: number, size: number): bigint {
  // At most one of these instructions starts in any four bytes.
  const slot = ((at >> 2) + codeId * SPREAD) & (SLOTS - 1);
  if (codes[slot] === codeId && starts[slot] === at) return words[slot] as bigint;
  const word = makeWord(code, at, size);
  codes[slot] = codeId;
  starts[slot] = at;
  words[slot] = word;
  return word;
}

const SLOTS = 65_536;
/** Spaces the slots of different codes: those of the maximum code size, 24 KB, are adjacent. */
const SPREAD = 6_144;
const codes = new Float64Array(SLOTS).fill(-1);
const starts = new Float64Array(SLOTS);
const words: bigint[] = new Array<bigint>(SLOTS).fill(0n);

/** Bytes that a number represents exactly. */
const EXACT_BYTES = 6;

function makeWord(code: Uint8Array, start: number, size: number): bigint {
  if (size <= EXACT_BYTES) {
    let value = 0;
    for (let at = start; at < start + size; at++) value = value * 256 + (code[at] ?? 0);
    return BigInt(value);
  }
  const bytes = code.subarray(start, start + size);
  const word = wordOfBytes(bytes);
  return bytes.length === size ? word : word << BigInt(8 * (size - bytes.length));
}
