const JUMPDEST: u8 = 0x5b;
const PUSH1: u8 = 0x60;
const PUSH32: u8 = 0x7f;
/** An instruction of no fork. */
const MISSING: u8 = 0xfe;
/** Zeros behind the code: the STOP at its end, and data of a PUSH that the code breaks off. */
export const PADDING: usize = 40;

/**
 * Prepares the code at `raw` from position `at` up to `until` or a little more, and returns where it ended, so that
 * long code can be prepared in slices:
 *
 * - `code` gets a copy in which the data of each PUSH is turned around, to be read as a number, and instructions that
 *   the fork lacks (a set of 256 bits at `missing`) are marked
 * - `targets` gets a bit for each JUMPDEST that is an instruction; it is zeroed already, as is the padding of `code`
 */
export function prepare(
  raw: usize,
  size: usize,
  code: usize,
  targets: usize,
  missing: usize,
  at: usize,
  until: usize,
): usize {
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
    const isMissing = (load<u8>(missing + (op >> 3)) >> (op & 7)) & 1;
    store<u8>(code + at, isMissing != 0 ? MISSING : op);
    if (op == JUMPDEST)
      store<u8>(targets + (at >> 3), load<u8>(targets + (at >> 3)) | (1 << (u8(at) & 7)));
    at++;
  }
  return at;
}
