import { wordOfBytes } from "./words.ts";

/** What PUSH1 pushes, by its byte. */
export const BYTE_WORDS: readonly bigint[] = Array.from({ length: 256 }, (_, byte) => BigInt(byte));

/** What PUSH2 pushes, mostly where to jump: a word for each two bytes, made when it is first pushed. */
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
 * What PUSH3 to PUSH32 push: the `size` bytes of `code` from `at` on, continued by zeros where the code ends first. To make
 * such a word takes as long as ten instructions, so the words last pushed are kept, each in the one place that its code
 * and its place there give: 64 KB of code in use keep theirs, and all take 5 MB at most.
 */
export function longWord(codeId: number, code: Uint8Array, at: number, size: number): bigint {
  // No two of these instructions begin in the same four bytes.
  const place = ((at >> 2) + codeId * SPREAD) & (PLACES - 1);
  if (codes[place] === codeId && starts[place] === at) return words[place] as bigint;
  const word = makeWord(code, at, size);
  codes[place] = codeId;
  starts[place] = at;
  words[place] = word;
  return word;
}

const PLACES = 65_536;
/** Codes of the greatest size, 24 KB, have places side by side. */
const SPREAD = 6_144;
const codes = new Float64Array(PLACES).fill(-1);
const starts = new Float64Array(PLACES);
const words: bigint[] = new Array<bigint>(PLACES).fill(0n);

/** As many bytes make a number that counts exactly. */
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
