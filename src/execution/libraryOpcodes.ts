import type { Common } from "@ethereumjs/common";
import { getOpcodesForHF } from "@ethereumjs/evm";
import { Address } from "@ethereumjs/util";
import { addressOfWord } from "../primitives/address.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import type { Observed } from "./evm.ts";

/** The library's instruction set for one fork. */
export type OpcodeTables = ReturnType<typeof getOpcodesForHF>;

type Instruction = OpcodeTables["opcodeMap"][number];
type RunState = Parameters<Instruction["opHandler"]>[0];

/**
 * The library's instructions of a fork, looked up once (it takes 100 µs), with our corrections:
 *
 * - EXTCODESIZE, EXTCODECOPY and EXTCODEHASH show code that begins with 0xef00 as it is. The library hides it, as a
 *   fork to come would have it; but until London anyone could deploy such code
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
  change(map, EXTCODEHASH, (instruction) => ({ ...instruction, opHandler: pushCodeHash }));
  change(map, SSTORE, (instruction) => ({
    ...instruction,
    gasHandler(state, gas, common) {
      (state.interpreter._evm as unknown as WatchfulEvm).observed.hasStored = true;
      return instruction.gasHandler(state, gas, common) as bigint;
    },
  }));
}

/** What these instructions ask of the machine that they run in. */
interface WatchfulEvm {
  readonly observed: Observed;
}

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
  const code = await state.stateManager.getCode(popAddress(state));
  state.stack.push(BigInt(code.length));
}

/** What lies beyond the code is zero. */
async function copyCode(state: RunState): Promise<void> {
  const address = popAddress(state);
  const [memoryOffset = 0n, codeOffset = 0n, size = 0n] = state.stack.popN(3);
  if (size === 0n) return;
  const code = await state.stateManager.getCode(address);
  const part = new Uint8Array(Number(size));
  if (codeOffset < code.length) part.set(code.subarray(Number(codeOffset), Number(codeOffset + size)));
  state.memory.write(Number(memoryOffset), part.length, part);
}

async function pushCodeHash(state: RunState): Promise<void> {
  const account = await state.stateManager.getAccount(popAddress(state));
  state.stack.push(account === undefined || account.isEmpty() ? 0n : bytesToBigint(account.codeHash));
}

function popAddress(state: RunState): Address {
  return new Address(addressOfWord(state.stack.pop()));
}
