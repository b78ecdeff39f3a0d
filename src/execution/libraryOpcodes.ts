import type { Common } from "@ethereumjs/common";
import { getOpcodesForHF } from "@ethereumjs/evm";
import { Address } from "@ethereumjs/util";
import { addressOfWord } from "../primitives/address.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import type { FrameState } from "./interpreter/frame.ts";
import { LONG_BYTES } from "./interpreter/slices.ts";

/** The library's instruction set for one fork. */
export type OpcodeTables = ReturnType<typeof getOpcodesForHF>;

type Instruction = OpcodeTables["opcodeMap"][number];
type RunState = Parameters<Instruction["opHandler"]>[0];

/**
 * The library's instructions of a fork, looked up once (it takes 100 µs), with our corrections:
 *
 * - EXTCODESIZE, EXTCODECOPY and EXTCODEHASH show code that begins with 0xef00 as it is. The library hides it, as a
 *   fork to come would have it; but until London anyone could deploy such code
 * - what calls return into memory, and EXTCODECOPY, is copied in slices where there is much of it
 * - SSTORE is noted, for gas estimation
 * - instructions with nothing to wait for are not waited for
 */
export function opcodeTables(common: Common): OpcodeTables {
  let tables = built.get(common);
  if (tables === undefined) {
    tables = getOpcodesForHF(common);
    correct(tables.opcodeMap);
    built.set(common, tables);
  }
  return tables;
}

const built = new WeakMap<Common, OpcodeTables>();

function correct(map: Instruction[]): void {
  for (const [code, instruction] of map.entries()) map[code] = withoutNeedlessWait(instruction);
  change(map, EXTCODESIZE, (instruction) => ({ ...instruction, opHandler: pushCodeSize }));
  change(map, EXTCODECOPY, (instruction) => ({ ...instruction, opHandler: copyCode }));
  for (const [code, place] of CALL_OUTPUT_SIZES)
    change(map, code, (instruction) => ({
      ...instruction,
      opHandler: outputInSlices(instruction.opHandler, place),
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

/** Calls, and how deep on their stack lies how much of what is returned they want in memory; where lies above it. */
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

/** Leaves alone what the fork does not have. */
function change(map: Instruction[], code: number, changed: (instruction: Instruction) => Instruction): void {
  const instruction = map[code];
  if (instruction !== undefined && instruction !== map[INVALID]) map[code] = changed(instruction);
}

function withoutNeedlessWait(instruction: Instruction): Instruction {
  const { opcodeInfo, opHandler } = instruction;
  if (!opcodeInfo.isAsync || opHandler.constructor.name === "AsyncFunction") return instruction;
  return { ...instruction, opcodeInfo: { ...opcodeInfo, isAsync: false } };
}

async function pushCodeSize(state: RunState): Promise<void> {
  const address = popAddress(state);
  state.stack.push(BigInt(await frameOf(state).stateManager.getCodeSize(address)));
}

/** What lies beyond the code is zero. */
async function copyCode(state: RunState): Promise<void> {
  const address = popAddress(state);
  const [memoryOffset = 0n, codeOffset = 0n, size = 0n] = state.stack.popN(3);
  if (size === 0n) return;
  const code = await state.stateManager.getCode(address);
  const part = { from: codeOffset < code.length ? Number(codeOffset) : code.length, size: Number(size) };
  const { memory, evm } = frameOf(state);
  await memory.copyInSlices(Number(memoryOffset), code, part, evm.yieldPolicy);
}

type Handler = Instruction["opHandler"];

/** The library copies what was returned at once; where that may take long it is told to copy nothing. */
function outputInSlices(handler: Handler, sizePlace: number): Handler {
  return (libraryState, common) => {
    const state = frameOf(libraryState);
    const { stack, memory, evm } = state;
    const size = stack.at(sizePlace);
    if (size <= LONG_BYTES) return handler(libraryState, common);
    const offset = Number(stack.at(sizePlace - 1));
    stack.items[stack.length - 1 - sizePlace] = 0n;
    return (async () => {
      await handler(libraryState, common);
      const { returnBytes } = state;
      const part = { from: 0, size: Math.min(Number(size), returnBytes.length) };
      if (part.size > 0) await memory.copyInSlices(offset, returnBytes, part, evm.yieldPolicy);
    })();
  };
}

/** Our frame, behind the library's type for it. */
function frameOf(state: RunState): FrameState {
  return state as unknown as FrameState;
}

async function pushCodeHash(state: RunState): Promise<void> {
  const account = await state.stateManager.getAccount(popAddress(state));
  state.stack.push(account === undefined || account.isEmpty() ? 0n : bytesToBigint(account.codeHash));
}

function popAddress(state: RunState): Address {
  return new Address(addressOfWord(state.stack.pop()));
}
