import { isAtLeast } from "../../../src/chainspec/forks.ts";
import { anAddress, type CodeSetting } from "./codeSetting.ts";
import { CodeWriter } from "./codeWriter.ts";
import { chance, pick, weighted, word } from "./draws.ts";
import { aShortBorderInput } from "./precompiles/borderInputs.ts";

/** Statements that begin other frames: calls, calls of precompiled contracts, creations. */

const CALL = 0xf1;
const CALLCODE = 0xf2;
const DELEGATECALL = 0xf4;
const STATICCALL = 0xfa;

/** Calls an account, and mostly keeps the result and what it returned. */
export function callAccount(setting: CodeSetting, writer: CodeWriter): void {
  const { random, addresses } = setting;
  const target = (): void => {
    if (chance(random, 12)) writer.op(0x30, 0, 1);
    else writer.push(anAddress(random, addresses));
  };
  call(setting, writer, { input: [random.below(64), random.below(100)], target });
}

/** Calls a precompiled contract with an input that it accepts, or nearly. */
export function callPrecompile(setting: CodeSetting, writer: CodeWriter): void {
  const { random, fork } = setting;
  const { number, input } = aShortBorderInput(random, fork);
  const length = chance(random, 94) ? input.length : random.below(input.length + 40);
  const at = chance(random, 85) ? 0 : random.below(64);
  writer.copyToMemory(input, at);
  call(setting, writer, { input: [at, length], target: () => writer.push(number) });
}

interface CallFields {
  readonly input: readonly [offset: number, length: number];
  /** Pushes the address; so many operands are on the stack. */
  target(operands: number): void;
}

function call(
  setting: CodeSetting,
  writer: CodeWriter,
  { input: [offset, length], target }: CallFields,
): void {
  const { random, fork } = setting;
  const opcode = weighted(random, [
    [10, CALL],
    [2, CALLCODE],
    [isAtLeast(fork, "homestead") || chance(random, 3) ? 4 : 0, DELEGATECALL],
    [isAtLeast(fork, "byzantium") || chance(random, 3) ? 4 : 0, STATICCALL],
  ]);
  const border = (usual: number): bigint => (chance(random, 1) ? word(random) : BigInt(usual));
  writer.push(border(random.below(100)));
  writer.push(border(random.below(140)));
  writer.push(border(length));
  writer.push(border(offset));
  const hasValue = opcode === CALL || opcode === CALLCODE;
  if (hasValue) pushValue(setting, writer);
  target(hasValue ? 5 : 4);
  pushGas(setting, writer);
  writer.op(opcode, hasValue ? 7 : 6, 1);
  keepResult(setting, writer);
}

function pushValue({ random }: CodeSetting, writer: CodeWriter): void {
  const way = random.below(20);
  if (way < 11) writer.push(0);
  else if (way < 17) writer.push(1 + random.below(5));
  else if (way < 18) writer.push(word(random));
  else {
    // The balance of the account itself, or one more.
    writer.op(0x30, 0, 1);
    writer.op(0x31, 1, 1);
    if (way < 19) return;
    writer.push(1);
    writer.op(0x01, 2, 1);
  }
}

function pushGas({ random, fork }: CodeSetting, writer: CodeWriter): void {
  const way = random.below(20);
  if (way < 8 && isAtLeast(fork, "tangerineWhistle")) writer.op(0x5a, 0, 1);
  else if (way < 12) {
    writer.push(pick(random, [700, 3000, 10_000]));
    writer.op(0x5a, 0, 1);
    writer.op(0x03, 2, 1);
  } else if (way < 14) writer.push(random.below(3000));
  else if (way < 15) writer.push(word(random));
  else writer.push(random.below(120_000));
}

function keepResult({ random, fork }: CodeSetting, writer: CodeWriter): void {
  const way = random.below(10);
  if (way < 4) {
    writer.push(random.below(6));
    writer.op(0x55, 2);
  } else if (way < 6) writer.op(0x50, 1);
  if (way % 2 === 0 || !isAtLeast(fork, "byzantium")) return;
  if (chance(random, 50)) {
    // All that was returned, or one byte more.
    writer.op(0x3d, 0, 1);
    if (chance(random, 5)) {
      writer.push(1);
      writer.op(0x01, 2, 1);
    }
    writer.push(0);
    writer.push(random.below(64));
    writer.op(0x3e, 3);
  } else {
    writer.op(0x3d, 0, 1);
    writer.push(random.below(6));
    writer.op(0x55, 2);
  }
}

const CREATE = 0xf0;
const CREATE2 = 0xf5;

/** Creates a contract from generated code, and often calls it or looks at it. */
export function create(setting: CodeSetting, writer: CodeWriter): void {
  const { random, fork, nesting } = setting;
  if (nesting === 0) return;
  const at = random.below(64);
  const initCode = drawInitCode({ ...setting, nesting: nesting - 1 });
  writer.copyToMemory(initCode, at);
  const isSecond = chance(random, 45) && (isAtLeast(fork, "constantinople") || chance(random, 4));
  if (isSecond) writer.push(chance(random, 70) ? random.below(2) : word(random));
  writer.push(chance(random, 95) ? initCode.length : word(random) % 60_000n);
  writer.push(at);
  writer.push(chance(random, 70) ? 0 : chance(random, 80) ? random.below(3) : word(random));
  writer.op(isSecond ? CREATE2 : CREATE, isSecond ? 4 : 3, 1);
  const way = random.below(10);
  if (way < 3) {
    writer.push(random.below(6));
    writer.op(0x55, 2);
  } else if (way < 7) {
    // The address lies below the operands.
    const target = (operands: number): void => writer.op(0x80 + operands, 0, 1);
    call(setting, writer, { input: [0, random.below(40)], target });
  } else if (way < 9) {
    writer.op(0x80, 0, 1);
    writer.op(pick(random, [0x31, 0x3b, 0x3f]), 1, 1);
    writer.push(random.below(6));
    writer.op(0x55, 2);
  }
}

/** Code that returns other code, or does anything else. */
export function drawInitCode(setting: CodeSetting): Uint8Array {
  const { random } = setting;
  if (chance(random, 30)) return setting.drawNested(setting, 1 + random.below(5));
  // The beginning of a format that these forks do not have.
  if (chance(random, 1)) return Uint8Array.of(0xef, random.below(2), ...random.bytes(random.below(40)));
  const writer = new CodeWriter();
  if (chance(random, 30)) {
    writer.push(word(random));
    writer.push(random.below(4));
    writer.op(0x55, 2);
  }
  const deployed = drawDeployed(setting);
  writer.copyToMemory(deployed, 0);
  writer.push(chance(random, 94) ? deployed.length : pick(random, [24_576, 24_577, 5000]));
  writer.push(0);
  writer.op(chance(random, 92) ? 0xf3 : 0xfd, 2);
  return writer.finish();
}

function drawDeployed(setting: CodeSetting): Uint8Array {
  const { random } = setting;
  if (chance(random, 6)) return Uint8Array.of(0xef, ...random.bytes(random.below(30)));
  if (chance(random, 8)) return random.bytes(random.below(400));
  return setting.drawNested(setting, 1 + random.below(4));
}
