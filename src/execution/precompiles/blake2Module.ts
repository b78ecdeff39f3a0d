import {
  type Code,
  END,
  exported,
  getLocal,
  I32,
  I64,
  i32Const,
  leb,
  loadI64,
  PREAMBLE,
  section,
  setLocal,
  signedLeb,
  sized,
  vector,
} from "./wasm.ts";

/**
 * The rounds of BLAKE2b's compression function (RFC 7693 §3.2) as a WebAssembly module: JavaScript has no 64-bit
 * integers, WebAssembly adds and rotates them in one instruction each.
 *
 * Memory: the working vector v at 0, 16 words of 8 bytes; the message m at 128, 16 words; the order of message words at
 * 256, 10 rows of 16 bytes, each the offset of a word. Exports: `memory`; `mix(rounds)`, which mixes v in place
 * starting with the first row, so that work can be split after every tenth round.
 */
export function blake2Module(): Code {
  return [
    ...PREAMBLE,
    ...section(1, vector([[0x60, 1, I32, 0]])),
    ...section(3, vector([[0]])),
    ...section(5, vector([[0, 1]])),
    ...section(7, vector([exported("memory", 2, 0), exported("mix", 0, 0)])),
    ...section(10, vector([sized(mixBody())])),
    ...section(11, vector([[0, ...i32Const(ORDER_AT), END, ...sized([...ORDER_OFFSETS])]])),
  ];
}

export const VECTOR_AT = 0;
export const MESSAGE_AT = 128;
const ORDER_AT = 256;

/** The message words that the columns and diagonals of each round use (RFC 7693 §2.7). */
const ORDER = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
const ORDER_OFFSETS = ORDER.flat().map((word) => MESSAGE_AT + 8 * word);
const ORDER_END = ORDER_AT + ORDER_OFFSETS.length;

/** The words of v that are mixed together: the four columns, then the four diagonals. */
const QUARTETS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** Locals: the remaining rounds (a parameter), the row of the order, then the words of v. */
const ROUNDS = 0;
const ROW = 1;
const WORDS = 2;

function mixBody(): Code {
  const words = Array.from({ length: 16 }, (_, word) => word);
  return [
    ...vector([
      [1, I32],
      [16, I64],
    ]),
    ...words.flatMap((word) => [...i32Const(0), ...loadI64(VECTOR_AT + 8 * word), ...setLocal(WORDS + word)]),
    ...i32Const(ORDER_AT),
    ...setLocal(ROW),
    ...[0x02, 0x40], // block
    ...[0x03, 0x40], // loop
    ...getLocal(ROUNDS),
    ...[0x45, 0x0d, 1], // Leaves the block when no round is left.
    ...QUARTETS.flatMap(mixQuartet),
    ...nextRow(),
    ...getLocal(ROUNDS),
    ...i32Const(1),
    ...[0x6b, ...setLocal(ROUNDS)],
    ...[0x0c, 0, END, END], // again
    ...words.flatMap((word) => [
      ...i32Const(0),
      ...getLocal(WORDS + word),
      0x37,
      3,
      ...leb(VECTOR_AT + 8 * word),
    ]),
    END,
  ];
}

/** G of the RFC, with the row's two message words for this quartet. */
function mixQuartet([a, b, c, d]: readonly [number, number, number, number], index: number): Code {
  return [
    ...addInto(a, b, messageWord(2 * index)),
    ...rotateInto(d, a, 32n),
    ...addInto(c, d, []),
    ...rotateInto(b, c, 24n),
    ...addInto(a, b, messageWord(2 * index + 1)),
    ...rotateInto(d, a, 16n),
    ...addInto(c, d, []),
    ...rotateInto(b, c, 63n),
  ];
}

/** target += addend, then += the value that `more` pushes, if any. */
function addInto(target: number, addend: number, more: Code): Code {
  const sum = [...getLocal(WORDS + target), ...getLocal(WORDS + addend), 0x7c];
  return [...sum, ...(more.length === 0 ? [] : [...more, 0x7c]), ...setLocal(WORDS + target)];
}

/** target = (target xor other), rotated right. */
function rotateInto(target: number, other: number, bits: bigint): Code {
  const mixed = [...getLocal(WORDS + target), ...getLocal(WORDS + other), 0x85];
  return [...mixed, 0x42, ...signedLeb(bits), 0x8a, ...setLocal(WORDS + target)];
}

/** The message word whose offset is at `column` of the row. */
function messageWord(column: number): Code {
  return [...getLocal(ROW), 0x2d, 0, ...leb(column), ...loadI64(0)];
}

/** The next row, or the first after the last. */
function nextRow(): Code {
  const next = [...getLocal(ROW), ...i32Const(16), 0x6a, 0x22, ROW];
  const isPast = [...i32Const(ORDER_END), 0x46, 0x04, 0x40];
  return [...next, ...isPast, ...i32Const(ORDER_AT), ...setLocal(ROW), END];
}
