import { isAtLeast } from "../../../src/chainspec/forks.ts";
import type { CodeSetting } from "./codeSetting.ts";
import { CodeWriter } from "./codeWriter.ts";
import { chance, pick } from "./draws.ts";

/**
 * Enough for calls that nest as deep as they may, each of which gets 63 of 64 parts of its caller's gas: no block of a
 * chain is as large. Code with so much must not loop.
 */
export const DEEP_GAS = 2n ** 44n;

/** Code that calls or creates itself until nothing may nest deeper, and then stores how that went on its way back. */
export function drawDeepCode({ random, fork }: CodeSetting): Uint8Array {
  const writer = new CodeWriter();
  if (chance(random, 30)) createItself(writer, random.below(3));
  else {
    const opcodes = [0xf1, 0xf2, ...(isAtLeast(fork, "homestead") ? [0xf4] : [])];
    const opcode = pick(random, isAtLeast(fork, "byzantium") && chance(random, 20) ? [0xfa] : opcodes);
    const hasValue = opcode === 0xf1 || opcode === 0xf2;
    for (let operand = 0; operand < 4; operand++) writer.push(random.below(40));
    if (hasValue) writer.push(random.below(2));
    writer.op(0x30, 0, 1);
    if (isAtLeast(fork, "tangerineWhistle")) writer.op(0x5a, 0, 1);
    else {
      // A caller that keeps nothing cannot pay for the call.
      writer.push(1000 + random.below(30_000));
      writer.op(0x5a, 0, 1);
      writer.op(0x03, 2, 1);
    }
    writer.op(opcode, hasValue ? 7 : 6, 1);
  }
  // The result, or the gas that is left, or both.
  if (chance(random, 50)) {
    writer.op(0x5a, 0, 1);
    writer.op(0x01, 2, 1);
  }
  writer.push(random.below(2));
  writer.op(0x54, 1, 1);
  writer.op(0x01, 2, 1);
  writer.push(random.below(2));
  writer.op(0x55, 2);
  return writer.finish();
}

/** The code is the init code of what it creates. */
function createItself(writer: CodeWriter, value: number): void {
  writer.op(0x38, 0, 1);
  writer.push(0);
  writer.push(0);
  writer.op(0x39, 3);
  writer.op(0x38, 0, 1);
  writer.push(0);
  writer.push(value);
  writer.op(0xf0, 3, 1);
}
