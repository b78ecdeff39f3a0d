import { FIELD } from "../../evm/layout.ts";
import { larger } from "../../primitives/quantity.ts";
import { callGasCost } from "./calls.ts";
import { creationPrice } from "./creations.ts";
import type { Frame } from "./frame.ts";
import type { GasSchedule } from "./gasSchedule.ts";
import { type Run, WARM_GAS } from "./run.ts";
import { destructionPrice } from "./selfdestruct.ts";
import { storePrice } from "./store.ts";

/*
 * Gas costs of instructions that could not be paid for, which Besu shows in traces. All others are priced where they are
 * performed, most of them in the core.
 */

/**
 * The price of an instruction, computed from its operands with no regard to gas; undefined if there are too few of
 * them. `memorySize` is the memory before it.
 */
export function priceOf(run: Run, frame: Frame, instruction: number, memorySize: number): bigint | undefined {
  if (run.stackSize(frame) < operandsOf(instruction)) return undefined;
  if (pushes(instruction) && isFull(run, frame)) return undefined;
  const word = (depth: number): bigint => run.machine.readWord(run.word(frame, depth));
  const memory = (...ranges: readonly (readonly [at: number, size: number | bigint])[]): bigint =>
    expansionPrice(
      memorySize,
      ranges.map(([at, size]) => {
        const bytes = typeof size === "bigint" ? size : word(size);
        return bytes === 0n ? 0n : word(at) + bytes;
      }),
    );
  const dynamic = DYNAMIC.get(instruction);
  const price =
    BigInt(fixedFee(run.table, instruction)) +
    (dynamic === undefined ? 0n : dynamic({ run, frame, word, memory, instruction }));
  return price < HIGHEST_PRICE ? price : HIGHEST_PRICE;
}

interface Pricing {
  readonly run: Run;
  readonly frame: Frame;
  readonly instruction: number;
  word(depth: number): bigint;
  /** The price of memory for ranges, each with the depth of its offset and of its size, or a fixed size. */
  memory(...ranges: readonly (readonly [at: number, size: number | bigint])[]): bigint;
}

const copying = ({ word, memory }: Pricing): bigint => 3n * wordsOf(word(2)) + memory([0, 2]);
const call = (depth: number): ((pricing: Pricing) => bigint) => {
  return ({ run, frame, instruction, memory }) =>
    memory([depth, depth + 1], [depth + 2, depth + 3]) +
    BigInt(callGasCost(run, frame, instruction, run.addressAt(run.word(frame, 1))));
};
const creation = ({ run, instruction, word, memory }: Pricing): bigint =>
  memory([1, 2]) + creationPrice(run, instruction, wordsOf(word(2)));

/** The dynamic part of an instruction's price. */
const DYNAMIC: ReadonlyMap<number, (pricing: Pricing) => bigint> = new Map([
  [
    0x0a,
    ({ run, word }: Pricing) =>
      BigInt(run.table.core.exponentGas) *
      (word(1) === 0n ? 0n : BigInt((word(1).toString(16).length + 1) >> 1)),
  ],
  [0x20, ({ word, memory }: Pricing) => 6n * wordsOf(word(1)) + memory([0, 1])],
  ...[0x31, 0x3b, 0x3f].map((code) => [code, accountPrice] as const),
  [
    0x3c,
    ({ run, frame, word, memory }: Pricing) =>
      3n * wordsOf(word(3)) + memory([1, 3]) + BigInt(run.accountAccess(run.addressAt(run.word(frame, 0)))),
  ],
  ...[0x37, 0x39, 0x3e].map((code) => [code, copying] as const),
  [0x51, ({ memory }: Pricing) => memory([0, 32n])],
  [0x52, ({ memory }: Pricing) => memory([0, 32n])],
  [0x53, ({ memory }: Pricing) => memory([0, 1n])],
  [0x54, slotPrice],
  [0x55, ({ run, frame }: Pricing) => BigInt(storePrice(run, frame))],
  [0x5e, ({ word, memory }: Pricing) => 3n * wordsOf(word(2)) + memory([0, 2], [1, 2])],
  ...[0, 1, 2, 3, 4].map(
    (topics) => [0xa0 + topics, ({ word, memory }: Pricing) => 8n * word(1) + memory([0, 1])] as const,
  ),
  [0xf0, creation],
  [0xf5, creation],
  [0xf1, call(3)],
  [0xf2, call(3)],
  [0xf4, call(2)],
  [0xfa, call(2)],
  [0xf3, ({ memory }: Pricing) => memory([0, 1])],
  [0xfd, ({ memory }: Pricing) => memory([0, 1])],
  [0xff, ({ run, frame }: Pricing) => BigInt(destructionPrice(run, frame))],
]);

function accountPrice({ run, frame }: Pricing): bigint {
  return BigInt(run.accountAccess(run.addressAt(run.word(frame, 0))));
}

function slotPrice({ run, frame }: Pricing): bigint {
  if (!run.rules.hasColdAccess) return 0n;
  const slot = run.machine.readBytes(run.word(frame, 0), 32);
  return BigInt(run.accesses.isWarmSlot(frame.address, slot) ? WARM_GAS : COLD_SLOT_GAS);
}

const COLD_SLOT_GAS = 2_100;

/** 3 gas for each word, and a 512th of the words squared, in Besu's 63 bits. */
function expansionPrice(memorySize: number, ends: readonly bigint[]): bigint {
  const end = ends.reduce(larger, 0n);
  if (end <= BigInt(memorySize)) return 0n;
  const price = memoryPrice(wordsOf(end));
  return price < HIGHEST_PRICE ? price - memoryPrice(BigInt(memorySize / 32)) : HIGHEST_PRICE;
}

/** If the square of the words is too large, Besu divides before it multiplies. */
function memoryPrice(words: bigint): bigint {
  const square = words * words;
  return 3n * words + (square <= HIGHEST_PRICE ? square / 512n : (words / 512n) * words);
}

function wordsOf(bytes: bigint): bigint {
  return (bytes + 31n) / 32n;
}

/** Price reported for what no gas can pay for. */
const HIGHEST_PRICE = 2n ** 63n - 1n;

/** PUSH and DUP, and the instructions that push a word of the environment. */
function pushes(instruction: number): boolean {
  return (instruction >= 0x5f && instruction <= 0x8f) || ENVIRONMENT.has(instruction);
}

const ENVIRONMENT: ReadonlySet<number> = new Set([
  ...[0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d],
  ...[0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4a, 0x58, 0x59, 0x5a],
]);

function isFull({ machine }: Run, { at }: Frame): boolean {
  return machine.field(at, FIELD.TOP) >= machine.field(at, FIELD.STACK_END);
}

/** Words that an instruction takes off the stack, for instructions whose price depends on them, or that may run out of gas. */
function operandsOf(instruction: number): number {
  if (instruction >= 0x80 && instruction <= 0x8f) return instruction - 0x7f;
  if (instruction >= 0x90 && instruction <= 0x9f) return instruction - 0x8e;
  if (instruction >= 0xa0 && instruction <= 0xa4) return instruction - 0x9e;
  return OPERANDS.get(instruction) ?? 0;
}

const OPERANDS: ReadonlyMap<number, number> = new Map([
  ...[0x15, 0x19, 0x31, 0x35, 0x3b, 0x3f, 0x40, 0x49, 0x50, 0x51, 0x54, 0x56, 0x5c, 0xff].map(
    (code) => [code, 1] as const,
  ),
  ...[0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14].map(
    (code) => [code, 2] as const,
  ),
  ...[0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c, 0x1d, 0x20, 0x52, 0x53, 0x55, 0x57, 0x5d, 0xf3, 0xfd].map(
    (code) => [code, 2] as const,
  ),
  ...[0x08, 0x09, 0x37, 0x39, 0x3e, 0x5e, 0xf0].map((code) => [code, 3] as const),
  [0x3c, 4],
  [0xf5, 4],
  [0xf4, 6],
  [0xfa, 6],
  [0xf1, 7],
  [0xf2, 7],
]);

/** The part of a price that does not depend on operands, except for what comes with an access (EIP-2929). */
export function fixedFee(table: GasSchedule, instruction: number): number {
  if (instruction >= 0x60 && instruction <= 0x9f) return 3;
  if (instruction >= 0xa0 && instruction <= 0xa4) return 375 * (instruction - 0x9f);
  switch (instruction) {
    case 0x31:
      return table.balance;
    case 0x3b:
    case 0x3c:
      return table.code;
    case 0x3f:
      return table.codeHash;
    case 0x54:
      return table.load;
    default:
      return FEES.get(instruction) ?? 0;
  }
}

const FEES: ReadonlyMap<number, number> = new Map([
  ...[0x01, 0x03, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d].map(
    (code) => [code, 3] as const,
  ),
  ...[0x35, 0x37, 0x39, 0x3e, 0x49, 0x51, 0x52, 0x53, 0x5e].map((code) => [code, 3] as const),
  ...[0x02, 0x04, 0x05, 0x06, 0x07, 0x0b, 0x47].map((code) => [code, 5] as const),
  ...[0x08, 0x09, 0x56].map((code) => [code, 8] as const),
  ...[0x0a, 0x57].map((code) => [code, 10] as const),
  ...[0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x48, 0x4a].map(
    (code) => [code, 2] as const,
  ),
  ...[0x50, 0x58, 0x59, 0x5a, 0x5f].map((code) => [code, 2] as const),
  [0x20, 30],
  [0x40, 20],
  [0x5b, 1],
  [0x5c, 100],
  [0x5d, 100],
]);
