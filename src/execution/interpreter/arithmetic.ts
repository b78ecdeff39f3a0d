import type { FrameState } from "./frame.ts";

type Run = (state: FrameState) => void;

/** Words in, one word out; fees are fixed. */
export const ARITHMETIC: ReadonlyMap<number, Run> = new Map<number, Run>([
  [0x01, binary((a, b) => BigInt.asUintN(256, a + b))],
  [0x02, binary((a, b) => BigInt.asUintN(256, a * b))],
  [0x03, binary((a, b) => BigInt.asUintN(256, a - b))],
  [0x04, binary((a, b) => (b === 0n ? 0n : a / b))],
  [0x06, binary((a, b) => (b === 0n ? 0n : a % b))],
  [0x10, binary((a, b) => (a < b ? 1n : 0n))],
  [0x11, binary((a, b) => (a > b ? 1n : 0n))],
  [0x12, binary((a, b) => (BigInt.asIntN(256, a) < BigInt.asIntN(256, b) ? 1n : 0n))],
  [0x13, binary((a, b) => (BigInt.asIntN(256, a) > BigInt.asIntN(256, b) ? 1n : 0n))],
  [0x14, binary((a, b) => (a === b ? 1n : 0n))],
  [0x15, ({ stack }) => stack.replace(1, stack.at(0) === 0n ? 1n : 0n)],
  [0x16, binary((a, b) => a & b)],
  [0x17, binary((a, b) => a | b)],
  [0x18, binary((a, b) => a ^ b)],
  [0x19, ({ stack }) => stack.replace(1, BigInt.asUintN(256, ~stack.at(0)))],
  [0x1b, binary((shift, value) => (shift > 255n ? 0n : BigInt.asUintN(256, value << shift)))],
  [0x1c, binary((shift, value) => (shift > 255n ? 0n : value >> shift))],
]);

function binary(operation: (top: bigint, second: bigint) => bigint): Run {
  return ({ stack }) => {
    const second = stack.at(1);
    stack.replace(2, operation(stack.at(0), second));
  };
}
