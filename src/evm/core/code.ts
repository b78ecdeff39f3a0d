import { CODE, CODE_SIZE, MISSING, PREPARED_AT_ONCE, UNPREPARED } from "./layout";

const JUMPDEST: u8 = 0x5b;
const PUSH1: u8 = 0x60;
const PUSH32: u8 = 0x7f;
/** An instruction of no fork: what stands for those that the fork lacks. */
const INVALID: u8 = 0xfe;

/**
 * Prepares the instructions of a frame's code from the one at `at` on, some hundred bytes of them, when the first of them
 * is to run: most calls run a small part of their code. Data of each PUSH is turned around, to be read as a number, and
 * instructions that the fork lacks are marked. `raw` is the address of the raw code's first byte, even where only the bytes of these
 * instructions were copied behind it. Behind the prepared code are 40 bytes of zeros: the STOP at its end, and data of a
 * PUSH that it breaks off.
 */
export function prepare(f: usize, raw: usize, at: usize): void {
  const code = load<usize>(f, CODE);
  const size = usize(load<u32>(f, CODE_SIZE));
  const until = min(at + usize(PREPARED_AT_ONCE), size);
  while (at < until) {
    const op = load<u8>(raw + at);
    if (op >= PUSH1 && op <= PUSH32) {
      const n = usize(op) - 0x5f;
      store<u8>(code + at, op);
      for (let i: usize = 1; i <= n; i++) {
        const from = at + 1 + n - i;
        store<u8>(code + at + i, from < size ? load<u8>(raw + from) : 0);
      }
      at += n + 1;
      continue;
    }
    const isMissing = (load<u8>(MISSING + (op >> 3)) >> (op & 7)) & 1;
    store<u8>(code + at, isMissing != 0 || op == UNPREPARED ? INVALID : op);
    at++;
  }
}

/** A byte eight times. */
// @ts-ignore: decorator
@inline
function repeated(byte: u64): u64 {
  return byte * 0x0101010101010101;
}

/** The highest bit of each byte that is zero. */
// @ts-ignore: decorator
@inline
function zeroBytes(bytes: u64): u64 {
  return ~(((bytes & repeated(0x7f)) + repeated(0x7f)) | bytes) & repeated(0x80);
}

/**
 * Sets a bit in `targets`, which are zeros, for each JUMPDEST of the code at `raw` that is an instruction, from position
 * `at` up to `until` or a little more. Returns where it ended, so that long code can be read in slices. Looks at eight
 * bytes at once.
 */
export function findTargets(raw: usize, targets: usize, at: usize, until: usize): usize {
  while (at < until) {
    const eight = load<u64>(raw + at);
    const pushes = zeroBytes((eight & repeated(0xe0)) ^ repeated(0x60));
    // All before the first PUSH are instructions.
    const count = min(pushes == 0 ? 8 : usize(ctz(pushes) >> 3), until - at);
    const found = zeroBytes(eight ^ repeated(u64(JUMPDEST)));
    if (found != 0) {
      // Gathers the highest bits of the bytes in one byte.
      const bits = (((found >> 7) * 0x0102040810204080) >> 56) & ((1 << count) - 1);
      const place = targets + (at >> 3);
      store<u16>(place, load<u16>(place) | u16(bits << (at & 7)));
    }
    at += count;
    if (count < 8 && at < until) at += usize(load<u8>(raw + at)) - 0x5e;
  }
  return at;
}
