/*
 * Where things lie in the core's memory: the numbers of src/evm/core/layout.ts, which the compiler of the core cannot
 * share with this one. test/evm/layout.test.ts compares them.
 */

/** Words that are the same for all frames of a message; createEvm.ts of the interpreter writes them. */
export const ENVIRONMENT = 4096;
/** 256 bits: opcodes that the fork lacks. */
export const MISSING = 5120;
/** A piece of code as it is, while it is prepared or read. */
export const PIECE = 16_384;
/** Prepared code of contracts, up to the frames. */
export const ARENA = 32_768;
export const FRAMES = 1_048_576;

/** Stands in the code from where it is not prepared on. */
export const UNPREPARED = 0x0c;
/** Bytes of code that are prepared at once, but for the end of their last instruction. */
export const PREPARED_AT_ONCE = 256;
/** Instructions on more bytes leave the core, and are performed in pieces of so many. */
export const LONG_BYTES = 1024 * 1024;
/** Bytes before a code's bits for jump targets where it says that they are found. */
export const FOUND = 4;

/** Offsets of a frame's fields; src/evm/core/layout.ts says what they hold. */
export const FIELD = {
  NEXT: 0,
  TOP: 4,
  GAS: 8,
  CODE: 16,
  CODE_SIZE: 20,
  TARGETS: 24,
  RAW_CODE: 28,
  STACK: 32,
  STACK_END: 36,
  MEMORY: 40,
  MEMORY_SIZE: 44,
  MEMORY_COST: 48,
  ROOM: 56,
  NEEDED: 60,
  INPUT: 64,
  INPUT_SIZE: 68,
  RETURNED: 72,
  RETURNED_SIZE: 76,
  OUTPUT: 80,
  OUTPUT_SIZE: 84,
  TARGET: 88,
  COPIED: 92,
  ZEROS: 96,
  LEFT: 100,
  IS_STATIC: 104,
  EXPONENT_GAS: 108,
  ADDRESS: 112,
  CALLER: 144,
  VALUE: 176,
} as const;
/** Bytes before a frame's stack. */
export const FIELDS_BYTES = 256;

/** Reasons why the core returned. */
export const STATUS = {
  STOPPED: 0,
  ENDED: 1,
  REVERTED: 2,
  LEAVE: 3,
  REST: 4,
  GROW: 5,
  LONG: 6,
  STEPPED: 7,
  FIND_TARGETS: 8,
  PREPARE: 9,
  OUT_OF_GAS: 10,
  UNDERFLOW: 11,
  OVERFLOW: 12,
  BAD_JUMP: 13,
  INVALID: 14,
  STATIC_CHANGE: 15,
  OUT_OF_BOUNDS: 16,
  BEYOND: 17,
} as const;

/** Rounds up to where a frame may begin. */
export function aligned(position: number): number {
  return Math.ceil(position / ALIGNMENT) * ALIGNMENT;
}

const ALIGNMENT = 64;

/** Bytes that code of this size takes: prepared code, zeros, FOUND, and a bit for each jump target. */
export function preparedBytes(size: number): number {
  return targetsBehind(size) + aligned(targetBytes(size));
}

/** Offset of the bits from the beginning of the code. */
export function targetsBehind(size: number): number {
  return aligned(size + PADDING) + ALIGNMENT;
}

/** Bytes of the bits; the core writes two at a time. */
export function targetBytes(size: number): number {
  return (size >>> 3) + 2;
}

/** Zeros behind the code: the STOP at its end, and data of a PUSH that the code breaks off. */
const PADDING = 40;
