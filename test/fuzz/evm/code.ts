import { type ForkName, isAtLeast } from "../../../src/chainspec/forks.ts";
import type { Random } from "../../storage/random.ts";
import { callAccount, callPrecompile, create } from "./calls.ts";
import { anAddress, type CodeSetting } from "./codeSetting.ts";
import { CodeWriter } from "./codeWriter.ts";
import { chance, pick, weighted, word } from "./draws.ts";
import { instructionsOf, type Role } from "./instructions.ts";

/** How deep creations nest in generated code. */
const NESTING = 2;

export function settingOf(fork: ForkName, random: Random, addresses: readonly bigint[]): CodeSetting {
  return {
    fork,
    random,
    addresses,
    instructions: instructionsOf(fork),
    nesting: NESTING,
    drawNested: drawCode,
  };
}

/** Random code of about so many statements. */
export function drawCode(setting: CodeSetting, statements: number): Uint8Array {
  const { random } = setting;
  if (chance(random, 3)) return random.bytes(random.below(120));
  const writer = new CodeWriter();
  for (let count = 0; count < statements; count++) statement(setting, writer, 3);
  end(setting, writer);
  const code = writer.finish();
  if (chance(random, 4) && code.length > 0) code[random.below(code.length)] = random.below(256);
  return chance(random, 2) ? code.subarray(0, random.below(code.length + 1)) : code;
}

type Statement = (setting: CodeSetting, writer: CodeWriter, depth: number) => void;

const STATEMENTS: readonly (readonly [weight: number, statement: Statement])[] = [
  [50, compute],
  [18, keep],
  [8, shuffle],
  [9, callAccount],
  [4, (setting, writer) => callPrecompile(setting, writer)],
  [4, (setting, writer) => create(setting, writer)],
  [4, branch],
  [2, loop],
  [2, rare],
];

function statement(setting: CodeSetting, writer: CodeWriter, depth: number): void {
  weighted(setting.random, STATEMENTS)(setting, writer, depth);
}

/** One instruction; operands are pushed, or those that the stack has. */
function compute({ random, instructions, addresses }: CodeSetting, writer: CodeWriter): void {
  const { opcode, operands, results } = pick(random, instructions);
  const reuses = writer.height >= operands.length && chance(random, 25);
  if (!reuses) for (const role of [...operands].reverse()) operand(random, addresses, role, writer);
  writer.op(opcode, operands.length, results);
}

function operand(random: Random, addresses: readonly bigint[], role: Role, writer: CodeWriter): void {
  if (role === "word" && writer.height > 0 && chance(random, 30)) {
    dup(random, writer);
    return;
  }
  writer.push(draw(random, addresses, role), chance(random, 3) ? 32 : 0);
}

function draw(random: Random, addresses: readonly bigint[], role: Role): bigint {
  const isBorder = chance(random, 2);
  switch (role) {
    case "offset":
      return isBorder ? word(random) : BigInt(random.below(chance(random, 85) ? 130 : 3000));
    case "length":
      return isBorder ? word(random) : BigInt(random.below(chance(random, 85) ? 70 : 1100));
    case "address":
      return anAddress(random, addresses);
    case "slot":
      return isBorder ? word(random) : BigInt(random.below(4));
    case "shift":
      return chance(random, 20) ? word(random) : BigInt(random.below(260));
    case "number":
      return chance(random, 20) ? word(random) : BigInt(random.below(600));
    case "word":
      return word(random);
  }
}

function dup(random: Random, writer: CodeWriter): void {
  writer.op(0x80 + random.below(Math.min(16, writer.height)), 0, 1);
}

/** Takes an item off the stack to where it is seen: storage, memory, a log. */
function keep({ fork, random }: CodeSetting, writer: CodeWriter): void {
  if (writer.height <= 0) writer.push(word(random));
  const way = random.below(20);
  if (way < 8) {
    writer.push(random.below(6));
    writer.op(0x55, 2);
  } else if (way < 14) {
    writer.push(32 * random.below(6) + (chance(random, 20) ? random.below(32) : 0));
    writer.op(0x52, 2);
  } else if (way < 16 && isAtLeast(fork, "cancun")) {
    writer.push(random.below(4));
    writer.op(0x5d, 2);
  } else if (way < 18) {
    writer.push(random.below(100));
    writer.push(random.below(100));
    writer.op(0xa1, 3);
  } else writer.op(0x50, 1);
}

function shuffle({ random }: CodeSetting, writer: CodeWriter): void {
  // Now and then deeper than the stack is.
  const reach = Math.max(1, Math.min(16, writer.height + (chance(random, 2) ? 1 : 0)));
  if (writer.height > 1 && chance(random, 60))
    writer.op(0x90 + random.below(Math.max(1, Math.min(16, reach - 1))));
  else if (writer.height > 0) writer.op(0x80 + random.below(reach), 0, 1);
  else writer.push(word(random));
}

/** Jumps over some statements, if the top of the stack or a constant says so. */
function branch(setting: CodeSetting, writer: CodeWriter, depth: number): void {
  if (depth === 0) return;
  const { random } = setting;
  if (writer.height > 0 && chance(random, 50)) dup(random, writer);
  else writer.push(random.below(2));
  const target = writer.pushLater();
  writer.op(0x57, 2);
  const height = writer.height;
  block(setting, writer, depth - 1, 1 + random.below(3));
  level(writer, height);
  writer.set(target, writer.length + (chance(random, 2) ? 1 : 0));
  writer.op(0x5b);
}

/** Repeats some statements a few times. */
function loop(setting: CodeSetting, writer: CodeWriter, depth: number): void {
  if (depth === 0) return;
  const { random } = setting;
  writer.push(1 + random.below(chance(random, 90) ? 5 : 200));
  const begin = writer.length;
  writer.op(0x5b);
  const height = writer.height;
  block(setting, writer, depth - 1, 1 + random.below(4));
  level(writer, height);
  writer.push(1);
  writer.op(0x90);
  writer.op(0x03, 2, 1);
  writer.op(0x80, 0, 1);
  writer.push(begin);
  writer.op(0x57, 2);
  writer.op(0x50, 1);
}

function block(setting: CodeSetting, writer: CodeWriter, depth: number, statements: number): void {
  for (let count = 0; count < statements; count++) statement(setting, writer, depth);
}

/** Brings the stack back to a height. */
function level(writer: CodeWriter, height: number): void {
  while (writer.height > height) writer.op(0x50, 1);
  while (writer.height < height) writer.push(0);
}

/** What hardly any code does. */
function rare({ random }: CodeSetting, writer: CodeWriter): void {
  switch (random.below(8)) {
    case 0: // Any byte, which may be no instruction of the fork.
      writer.op(random.below(256));
      break;
    case 1: // A jump to anywhere.
      writer.push(chance(random, 70) ? random.below(writer.length + 20) : word(random));
      writer.op(0x56, 1);
      break;
    case 2: {
      // Fills the stack to its limit, or beyond it.
      const begin = writer.length;
      writer.op(0x5b);
      writer.op(0x58);
      writer.push(begin);
      writer.op(0x56, 1);
      break;
    }
    case 3: // Takes what is not there.
      for (let count = 0; count <= writer.height && count < 20; count++) writer.op(0x50);
      break;
    case 4: // A JUMPDEST within data.
      writer.raw(Uint8Array.of(0x62, 0x5b, 0x5b, 0x5b));
      writer.height++;
      break;
    case 5:
    case 6: {
      // A jump over any bytes, to where their last PUSH may still have its data.
      const target = writer.pushLater();
      writer.op(0x56, 1);
      const bytes = random.bytes(random.below(chance(random, 90) ? 200 : 3000));
      writer.raw(bytes.map((byte) => (byte < 0x60 ? 0x60 + (byte & 0x1f) : byte)));
      writer.set(target, writer.length);
      writer.op(0x5b);
      break;
    }
    default:
      writer.op(pick(random, [0x0c, 0x1e, 0x21, 0x4b, 0xa5, 0xb0, 0xef, 0xf6, 0xfb, 0xfe]));
  }
}

/** The last instruction; usually what memory holds is returned. */
function end({ random, addresses }: CodeSetting, writer: CodeWriter): void {
  const way = random.below(20);
  if (way < 11) {
    if (writer.height > 0) {
      writer.push(0);
      writer.op(0x52, 2);
    }
    writer.push(random.below(150));
    writer.push(random.below(60));
    writer.op(way < 8 ? 0xf3 : 0xfd, 2);
  } else if (way < 13) {
    writer.push(anAddress(random, addresses));
    writer.op(0xff, 1);
  } else if (way < 14) writer.op(0xfe);
  else if (way < 19) writer.op(0x00);
}
