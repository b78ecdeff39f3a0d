import type { Common } from "@ethereumjs/common";
import { EVMError, getOpcodesForHF } from "@ethereumjs/evm";
import { Address } from "@ethereumjs/util";
import { bigintToFixedBytes, bytesToBigint } from "../primitives/quantity.ts";
import type { Observed } from "./evm.ts";
import { RETURN_DATA_OUT_OF_BOUNDS } from "./haltReason.ts";
import { keepJumpAnalyses } from "./jumpAnalysis.ts";
import type { Pace } from "./pace.ts";

/** The library's instruction set for one fork. */
export type OpcodeTables = ReturnType<typeof getOpcodesForHF>;

type Instruction = OpcodeTables["opcodeMap"][number];
type RunState = Parameters<Instruction["opHandler"]>[0];

/** What our instructions ask of the interpreter that runs them. */
export interface WatchfulEvm {
  readonly pace: Pace;
  readonly observed: Observed;
}

/**
 * The instruction set of a fork, built once (it takes 100 µs), with our corrections:
 *
 * - JUMPDEST, which every loop passes, lets others have their turn, and ends work whose time is up
 * - EXTCODESIZE, EXTCODECOPY and EXTCODEHASH show code that begins with 0xef00 as it is. The library hides it, as a
 *   fork to come would have it; but until London anyone could deploy such code
 * - copies of call data, code and return data go straight into memory. The library makes one or two copies first, each
 *   in memory of its own; a contract that copies much ran at 5 Mgas/s
 * - RETURNDATACOPY beyond the data has a name of its own
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
  change(map, EXTCODECOPY, (instruction) => ({ ...instruction, opHandler: copyOtherCode }));
  change(map, CALLDATACOPY, (instruction) => ({ ...instruction, opHandler: copyCallData }));
  change(map, CODECOPY, (instruction) => ({ ...instruction, opHandler: copyOwnCode }));
  change(map, EXTCODEHASH, (instruction) => ({ ...instruction, opHandler: pushCodeHash }));
  change(map, JUMPDEST, ({ opcodeInfo, gasHandler }) => ({
    opcodeInfo: { ...opcodeInfo, isAsync: true },
    gasHandler,
    opHandler: breathe,
  }));
  change(map, RETURNDATACOPY, (instruction) => ({
    ...instruction,
    opHandler: copyReturnData,
    gasHandler(state, gas, common) {
      const [, offset = 0n, length = 0n] = state.stack.peek(3);
      if (offset + length > state.interpreter.getReturnDataSize()) throw haltWith(RETURN_DATA_OUT_OF_BOUNDS);
      return instruction.gasHandler(state, gas, common) as bigint;
    },
  }));
  change(map, SSTORE, (instruction) => ({
    ...instruction,
    gasHandler(state, gas, common) {
      watchful(state).observed.hasStored = true;
      return instruction.gasHandler(state, gas, common) as bigint;
    },
  }));
}

const CALLDATACOPY = 0x37;
const CODECOPY = 0x39;
const EXTCODESIZE = 0x3b;
const EXTCODECOPY = 0x3c;
const RETURNDATACOPY = 0x3e;
const EXTCODEHASH = 0x3f;
const SSTORE = 0x55;
const JUMPDEST = 0x5b;
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

function watchful(state: RunState): WatchfulEvm {
  return state.interpreter._evm as unknown as WatchfulEvm;
}

/** The library does not export its interpreter: the first one that is seen at work leads to what all of them share. */
let keepsAnalyses = false;

/** Not an async function: nearly always there is nothing to wait for. */
function breathe(state: RunState): Promise<void> | undefined {
  if (!keepsAnalyses) {
    keepJumpAnalyses(state.interpreter);
    keepsAnalyses = true;
  }
  const { pace } = watchful(state);
  return pace.isDue() ? pace.rest() : undefined;
}

async function pushCodeSize(state: RunState): Promise<void> {
  const code = await state.stateManager.getCode(popAddress(state));
  state.stack.push(BigInt(code.length));
}

async function copyOtherCode(state: RunState): Promise<void> {
  const address = popAddress(state);
  copyToMemory(state, await state.stateManager.getCode(address));
}

function copyCallData(state: RunState): void {
  copyToMemory(state, state.interpreter.getCallData());
}

function copyOwnCode(state: RunState): void {
  copyToMemory(state, state.interpreter.getCode());
}

function copyReturnData(state: RunState): void {
  copyToMemory(state, state.interpreter.getReturnData());
}

/** Takes memory offset, source offset and length from the stack; what lies beyond the source is zero. */
function copyToMemory({ stack, memory }: RunState, source: Uint8Array): void {
  const [memoryOffset = 0n, sourceOffset = 0n, size = 0n] = stack.popN(3);
  if (size === 0n) return;
  // The gas for memory was paid, so these two are small; the source offset may be any number.
  const [start, length] = [Number(memoryOffset), Number(size)];
  const from = sourceOffset < source.length ? Number(sourceOffset) : source.length;
  const part = source.subarray(from, from + length);
  memory.extend(start, length);
  memory._store.set(part, start);
  memory._store.fill(0, start + part.length, start + length);
}

async function pushCodeHash(state: RunState): Promise<void> {
  const account = await state.stateManager.getAccount(popAddress(state));
  state.stack.push(account === undefined || account.isEmpty() ? 0n : bytesToBigint(account.codeHash));
}

function popAddress(state: RunState): Address {
  return new Address(bigintToFixedBytes(state.stack.pop() & LOW_160_BITS, 20));
}

const LOW_160_BITS = (1n << 160n) - 1n;

/** The library's error type admits only the messages it knows itself. */
function haltWith(message: string): EVMError {
  return new EVMError(message as EVMError["error"]);
}
