import { concatBytes } from "../../../src/primitives/hex.ts";
import { bigintToBytes } from "../../../src/primitives/quantity.ts";

/** Assembles contract code from instruction bytes. */
export function code(...parts: readonly (number | Uint8Array)[]): Uint8Array {
  return concatBytes(...parts.map((part) => (typeof part === "number" ? Uint8Array.of(part) : part)));
}

export function push(value: bigint | number): Uint8Array {
  const bytes = bigintToBytes(BigInt(value));
  return code(OP.PUSH0 + bytes.length, bytes);
}

/** Repeats `body`, which leaves the stack unchanged, until gas runs out; `body` is unrolled before each jump. */
export function endless(prologue: Uint8Array, body: Uint8Array, unrolled: number): Uint8Array {
  const start = prologue.length;
  return code(prologue, OP.JUMPDEST, ...new Array<Uint8Array>(unrolled).fill(body), push(start), OP.JUMP);
}

/** Runs `first` until half of the gas is spent, then `second` until all is. */
export function twoPhases(first: Uint8Array, second: Uint8Array): Uint8Array {
  // The half stays on the stack: PUSH1 1, GAS, DIV by two as a shift.
  const prologue = code(OP.GAS, push(1), OP.SHR);
  const again = push(prologue.length);
  const loop = code(OP.JUMPDEST, first, OP.DUP1, OP.GAS, OP.GT, again, OP.JUMPI);
  return endless(code(prologue, loop), second, 4);
}

/** The opcodes used by name. */
export const OP = {
  STOP: 0x00,
  ADD: 0x01,
  GT: 0x11,
  AND: 0x16,
  OR: 0x17,
  SHR: 0x1c,
  KECCAK256: 0x20,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODECOPY: 0x39,
  EXTCODECOPY: 0x3c,
  RETURNDATACOPY: 0x3e,
  ADDRESS: 0x30,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  SSTORE: 0x55,
  SLOAD: 0x54,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  TSTORE: 0x5d,
  MCOPY: 0x5e,
  PUSH0: 0x5f,
  DUP1: 0x80,
  LOG0: 0xa0,
  LOG4: 0xa4,
  CREATE: 0xf0,
  CALL: 0xf1,
  RETURN: 0xf3,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
  BALANCE: 0x31,
} as const;
