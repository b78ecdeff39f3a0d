import {
  BAD_JUMP,
  BEYOND,
  FIND_TARGETS,
  FOUND,
  GAS,
  GROW,
  MEMORY_COST,
  MEMORY_SIZE,
  NEEDED,
  NEXT,
  OUT_OF_GAS,
  OVERFLOW,
  ROOM,
  STACK,
  TARGETS,
  TOP,
  UNDERFLOW,
} from "./layout";
import { isSmall } from "./words";

/** The instruction needs more memory than there is room for. No price takes gas as far down (run.ts, TOO_MUCH). */
const NO_ROOM: i64 = i64.MIN_VALUE;
/** The gas is there, but the memory lies beyond MOST_WORDS. No price takes gas as far down either. */
const TOO_FAR: i64 = i64.MIN_VALUE + 1;
/** Words that Besu's memory has at most: what fits into a Java array, 2 GiB less a word, for 8.8 trillion gas. */
const MOST_WORDS: u64 = (1 << 26) - 1;
/** The price of so many words, as Besu computes it, is more than 63 bits hold. */
const UNPAYABLE_WORDS: u64 = 1 << 36;
/** The square of more words is more than 63 bits hold, and Besu divides before it multiplies. */
const SQUARABLE_WORDS: u64 = 3037000499;

// @ts-ignore: decorator
@inline
export function save(f: usize, next: usize, top: usize, gas: i64): void {
  store<usize>(f, next, NEXT);
  store<usize>(f, top, TOP);
  store<i64>(f, gas, GAS);
}

/** The halt of an instruction whose fixed price, or the number of words it needs, is not there; next lies behind it. */
export function fault(f: usize, next: usize, top: usize, gas: i64, words: usize): i32 {
  save(f, next - 1, top, 0);
  if (gas < 0) return OUT_OF_GAS;
  return top - load<usize>(f, STACK) < 32 * words ? UNDERFLOW : OVERFLOW;
}

/** A halt; next lies behind the instruction. */
export function halt(f: usize, next: usize, top: usize, reason: i32): i32 {
  save(f, next - 1, top, 0);
  return reason;
}

/**
 * After extend failed: the halt, or a return to let the driver make room or give up. `before` is the gas before the
 * instruction.
 */
export function unextended(f: usize, next: usize, top: usize, gas: i64, before: i64): i32 {
  if (gas > TOO_FAR) return halt(f, next, top, OUT_OF_GAS);
  save(f, next - 1, top, before);
  return gas == NO_ROOM ? GROW : BEYOND;
}

/** A jump to no known target: the halt, or a return to let the driver find the targets first. `before` as above. */
export function missed(f: usize, next: usize, top: usize, before: i64): i32 {
  if (load<u32>(load<usize>(f, TARGETS) - FOUND) != 0) return halt(f, next, top, BAD_JUMP);
  save(f, next - 1, top, before);
  return FIND_TARGETS;
}

/** Pays for memory up to offset + size, unless size is zero; returns the gas left, or less than zero. */
// @ts-ignore: decorator
@inline
export function extend(f: usize, gas: i64, offset: u64, size: u64): i64 {
  return size == 0 || offset + size <= u64(load<u32>(f, MEMORY_SIZE)) ? gas : extendFar(f, gas, offset, size);
}

function extendFar(f: usize, gas: i64, offset: u64, size: u64): i64 {
  const words = (offset + size + 31) >> 5;
  if (words >= UNPAYABLE_WORDS) return -1;
  const square = words <= SQUARABLE_WORDS ? (words * words) / 512 : (words / 512) * words;
  const price = 3 * words + square;
  if (price > u64(i64.MAX_VALUE)) return -1;
  const cost = i64(price);
  const left = gas - (cost - load<i64>(f, MEMORY_COST));
  if (left < 0) return -1;
  if (words > MOST_WORDS) return TOO_FAR;
  const bytes = u32(words << 5);
  if (bytes > load<u32>(f, ROOM)) {
    store<u32>(f, bytes, NEEDED);
    return NO_ROOM;
  }
  store<i64>(f, cost, MEMORY_COST);
  store<u32>(f, bytes, MEMORY_SIZE);
  return left;
}

// The driver leaves gas in here: a bigint for each price would cost more than most instructions.

/**
 * Takes gas from a frame; 0 if it has not enough, and then it keeps all. The amount is a whole number below 2^53, because a
 * size of 32 bits times a price takes more than 32 bits.
 */
export function charge(f: usize, amount: f64): i32 {
  const left = load<i64>(f, GAS) - i64(amount);
  if (left < 0) return 0;
  store<i64>(f, left, GAS);
  return 1;
}

/** 1 if more gas than this is left. */
export function hasMoreThan(f: usize, amount: u32): i32 {
  return load<i64>(f, GAS) > i64(amount) ? 1 : 0;
}

/**
 * Moves gas from a caller to its callee: the word at `asked`, or all where that is 0; at most all but a 64th if
 * `keeps64th` is 1 (EIP-150). The stipend comes on top. Returns 0 if the caller has not enough.
 */
export function giveGas(f: usize, callee: usize, asked: usize, keeps64th: i32, stipend: u32): i32 {
  const left = load<i64>(f, GAS);
  const most = keeps64th ? left - (left >> 6) : left;
  let given = most;
  if (asked != 0 && isSmall(asked)) {
    const low = load<u64>(asked);
    if (low < u64(most)) given = i64(low);
    else if (!keeps64th && low > u64(most)) return 0;
  } else if (asked != 0 && !keeps64th) return 0;
  store<i64>(f, left - given, GAS);
  store<i64>(callee, given + i64(stipend), GAS);
  return 1;
}

/** Returns a callee's gas to its caller. */
export function returnGas(f: usize, callee: usize): void {
  store<i64>(f, load<i64>(f, GAS) + load<i64>(callee, GAS), GAS);
}
