import type { Common } from "@ethereumjs/common";
import { Address } from "@ethereumjs/util";
import { addressOfWord } from "../primitives/address.ts";
import { assert } from "../primitives/assert.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import { FrameState } from "./interpreter/frame.ts";
import {
  type LibraryInstruction,
  libraryOpcodesOf,
  type OpcodeTables,
  type RunState,
} from "./interpreter/libraryInternals.ts";
import { LONG_BYTES } from "./interpreter/slices.ts";

/**
 * The library's instructions of a fork, looked up once (it takes 100 µs), with our corrections:
 *
 * - EXTCODESIZE, EXTCODECOPY and EXTCODEHASH show code that begins with 0xef00 as it is. The library hides it, as a
 *   future fork would; but until London anyone could deploy such code
 * - the output of calls, and EXTCODECOPY, are copied into memory in slices if they are large
 * - SSTORE is recorded for gas estimation
 */
export function opcodeTables(common: Common): OpcodeTables {
  let tables = built.get(common);
  if (tables === undefined) {
    tables = libraryOpcodesOf(common);
    applyCorrections(tables.opcodeMap);
    built.set(common, tables);
  }
  return tables;
}

const built = new WeakMap<Common, OpcodeTables>();

function applyCorrections(map: LibraryInstruction[]): void {
  change(map, EXTCODESIZE, (instruction) => ({ ...instruction, opHandler: pushCodeSize }));
  change(map, EXTCODECOPY, (instruction) => ({ ...instruction, opHandler: copyCode }));
  for (const [code, depth] of CALL_OUTPUT_SIZES)
    change(map, code, (instruction) => ({
      ...instruction,
      opHandler: outputInSlices(instruction.opHandler, depth),
    }));
  change(map, EXTCODEHASH, (instruction) => ({ ...instruction, opHandler: pushCodeHash }));
  change(map, SSTORE, (instruction) => ({
    ...instruction,
    gasHandler(state, gas, common) {
      frameOf(state).evm.observed.hasStored = true;
      return instruction.gasHandler(state, gas, common) as bigint;
    },
  }));
}

/** The calls, with the stack depth of their output size; the output offset lies one above it. */
const CALL_OUTPUT_SIZES: ReadonlyMap<number, number> = new Map([
  [0xf1, 6],
  [0xf2, 6],
  [0xf4, 5],
  [0xfa, 5],
]);
const EXTCODESIZE = 0x3b;
const EXTCODECOPY = 0x3c;
const EXTCODEHASH = 0x3f;
const SSTORE = 0x55;
const INVALID = 0xfe;

/** Changes an instruction if the fork has it. */
function change(
  map: LibraryInstruction[],
  code: number,
  changed: (instruction: LibraryInstruction) => LibraryInstruction,
): void {
  const instruction = map[code];
  if (instruction !== undefined && instruction !== map[INVALID]) map[code] = changed(instruction);
}

async function pushCodeSize(state: RunState): Promise<void> {
  const address = popAddress(state);
  state.stack.push(BigInt(await frameOf(state).stateManager.getCodeSize(address)));
}

/** EXTCODECOPY: bytes beyond the code are zero. */
async function copyCode(state: RunState): Promise<void> {
  const address = popAddress(state);
  const [memoryOffset = 0n, codeOffset = 0n, size = 0n] = state.stack.popN(3);
  if (size === 0n) return;
  const code = await state.stateManager.getCode(address);
  const part = { from: codeOffset < code.length ? Number(codeOffset) : code.length, size: Number(size) };
  const { memory, evm } = frameOf(state);
  await memory.copyInSlices(Number(memoryOffset), code, part, evm.yieldPolicy);
}

type Handler = LibraryInstruction["opHandler"];

/** The library copies output in one go; if that may take long, it gets size zero and we copy the output in slices. */
function outputInSlices(handler: Handler, sizeDepth: number): Handler {
  return (libraryState, common) => {
    const state = frameOf(libraryState);
    const { stack, memory, evm } = state;
    const size = stack.at(sizeDepth);
    if (size <= LONG_BYTES) return handler(libraryState, common);
    const offset = Number(stack.at(sizeDepth - 1));
    stack.items[stack.length - 1 - sizeDepth] = 0n;
    return (async () => {
      await handler(libraryState, common);
      const { returnBytes } = state;
      const part = { from: 0, size: Math.min(Number(size), returnBytes.length) };
      if (part.size > 0) await memory.copyInSlices(offset, returnBytes, part, evm.yieldPolicy);
    })();
  };
}

/** Our frame, behind the library's type for it. */
function frameOf(state: object): FrameState {
  assert(state instanceof FrameState, "the library's instructions run on our frames");
  return state;
}

async function pushCodeHash(state: RunState): Promise<void> {
  const account = await state.stateManager.getAccount(popAddress(state));
  state.stack.push(account === undefined || account.isEmpty() ? 0n : bytesToBigint(account.codeHash));
}

function popAddress(state: RunState): Address {
  return new Address(addressOfWord(state.stack.pop()));
}
