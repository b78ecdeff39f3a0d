import { type ForkName, isAtLeast } from "../../../../src/chainspec/forks.ts";
import type { Random } from "../../../storage/random.ts";
import type { CodeWriter } from "../codeWriter.ts";
import { chance, pick, weighted } from "../draws.ts";
import { aBorderInput, type PrecompileInput } from "./borderInputs.ts";

/** How a program calls a precompiled contract, and what with. */
export interface PrecompileCall extends PrecompileInput {
  readonly opcode: number;
  readonly value: bigint;
  /** Usually the input's length; beyond it memory has what was there. */
  readonly inputLength: number;
  readonly outputLength: number;
  readonly gas: number;
  /** The call is repeated with so much more gas than the first one took, to the gas; undefined if not. */
  readonly again: number | undefined;
}

const CALL = 0xf1;
const CALLCODE = 0xf2;
const DELEGATECALL = 0xf4;
const STATICCALL = 0xfa;

export function drawCall(random: Random, fork: ForkName): PrecompileCall {
  const { number, input } = aBorderInput(random, fork);
  const opcode = weighted(random, [
    [5, CALL],
    [2, CALLCODE],
    [isAtLeast(fork, "homestead") ? 3 : 0, DELEGATECALL],
    [isAtLeast(fork, "byzantium") ? 4 : 0, STATICCALL],
  ]);
  const takesValue = opcode === CALL || opcode === CALLCODE;
  const value = takesValue && chance(random, 12) ? pick(random, [1n, 1n, 1n, 2n ** 200n]) : 0n;
  const isLong = number >= 2 && number <= 5 && random.below(400) === 0;
  // Of contracts that the fork does not have a call costs nothing that could be exceeded.
  const hasPrice = isAtLeast(fork, "byzantium") || number <= 4;
  return {
    number,
    input,
    opcode,
    value,
    inputLength: isLong ? 200_000 + random.below(400_000) : input.length,
    outputLength: pick(random, OUTPUT_LENGTHS),
    gas: chance(random, 94) ? ampleGas(isLong ? 600_000 : input.length) : random.below(5000),
    again: value === 0n && hasPrice && chance(random, 50) ? pick(random, [-1, -1, 0, 0, 1, -2]) : undefined,
  };
}

const OUTPUT_LENGTHS = [0, 1, 31, 32, 33, 63, 64, 65, 96, 128, 192, 256, 300];

/** Enough for nearly all inputs; a call that fails takes it all. */
export function ampleGas(inputBytes: number): number {
  return 200_000 + 450 * Math.min(inputBytes, 40_000);
}

/** Where a program keeps what is hashed after each call; the input comes after it, and what was returned after that. */
const STATUS_AT = 0;
const COST_AT = 32;
const SIZE_AT = 64;
const HASH_AT = 96;
const OUTPUT_AT = 128;
const RETURNED_HASH_AT = 448;
const HASHED_BYTES = 480;
const INPUT_AT = 512;

/** Code that makes calls one after the other, and stores and logs the hash of all that came of them. */
export function writeCalls(writer: CodeWriter, calls: readonly PrecompileCall[], fork: ForkName): void {
  const returnedAt = INPUT_AT + Math.max(0, ...calls.map(({ inputLength }) => inputLength)) + 32;
  // All memory at once: later only calls cost gas.
  writer.push(1);
  writer.push(returnedAt);
  writer.op(0x52, 2);
  for (const call of calls) {
    writer.copyToMemory(call.input, INPUT_AT);
    write(writer, call, fork, false);
    writeHash(writer, fork, returnedAt);
    if (call.again !== undefined) {
      write(writer, call, fork, true);
      writeHash(writer, fork, returnedAt);
    }
    writer.op(0x50, 1);
  }
  writer.push(HASHED_BYTES);
  writer.push(0);
  writer.op(0xa0, 2);
  writer.push(HASH_AT);
  writer.op(0x51, 1, 1);
  writer.push(0);
  writer.op(0x55, 2);
  writer.op(0x00);
}

/** One call; leaves what it cost on the stack. The second of two takes the cost of the first from there. */
function write(writer: CodeWriter, call: PrecompileCall, fork: ForkName, isSecond: boolean): void {
  const { number, opcode, value, inputLength, outputLength, gas, again = 0 } = call;
  writer.op(0x5a, 0, 1);
  writer.push(outputLength);
  writer.push(OUTPUT_AT);
  writer.push(inputLength);
  writer.push(INPUT_AT);
  const takesValue = opcode === CALL || opcode === CALLCODE;
  if (takesValue) writer.push(value);
  writer.push(number);
  const operands = takesValue ? 7 : 6;
  if (isSecond) {
    writer.push(costAround(fork, operands) - again);
    // The first cost lies below the gas before, the other operands and this number.
    writer.op(0x80 + operands + 1, 0, 1);
    writer.op(0x03, 2, 1);
  } else writer.push(gas);
  writer.op(opcode, operands, 1);
  writer.op(0x5a, 0, 1);
  // Before, status, after: the status is stored, and the difference of the others.
  writer.op(0x90);
  writer.push(STATUS_AT);
  writer.op(0x52, 2);
  writer.op(0x90);
  writer.op(0x03, 2, 1);
  if (isSecond) {
    writer.op(0x90);
    writer.op(0x50, 1);
  }
  writer.op(0x80, 0, 1);
  writer.push(COST_AT);
  writer.op(0x52, 2);
}

/** Gas between the two readings of a first call besides that of the contract: pushes, the call, the second reading. */
function costAround(fork: ForkName, operands: number): number {
  const call = isAtLeast(fork, "berlin") ? 100 : isAtLeast(fork, "tangerineWhistle") ? 700 : 40;
  return 3 * operands + call + 2;
}

function writeHash(writer: CodeWriter, fork: ForkName, returnedAt: number): void {
  if (isAtLeast(fork, "byzantium")) {
    writer.op(0x3d, 0, 1);
    writer.push(SIZE_AT);
    writer.op(0x52, 2);
    writer.op(0x3d, 0, 1);
    writer.push(0);
    writer.push(returnedAt);
    writer.op(0x3e, 3);
    writer.op(0x3d, 0, 1);
    writer.push(returnedAt);
    writer.op(0x20, 2, 1);
    writer.push(RETURNED_HASH_AT);
    writer.op(0x52, 2);
  }
  writer.push(HASHED_BYTES);
  writer.push(0);
  writer.op(0x20, 2, 1);
  writer.push(HASH_AT);
  writer.op(0x52, 2);
}
