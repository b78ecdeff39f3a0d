import { EVMError } from "@ethereumjs/evm";
import { isAtLeast } from "../../chainspec/forks.ts";
import type { Rules } from "../rules.ts";
import { yieldIfDue } from "../yieldPolicy.ts";
import type { FrameState } from "./frame.ts";
import { runHot } from "./hotLoop.ts";
import { type HotTables, hotTables } from "./hotTables.ts";
import type { QuickInstruction, QuickTable } from "./instruction.ts";
import { type OpcodeTables, runStateOf } from "./libraryInternals.ts";
import { CHARGING, exponentiation, PLAIN } from "./plainInstructions.ts";
import { storageLoad, storageStore } from "./storageInstructions.ts";

type LibraryMap = OpcodeTables["opcodeMap"];

/** The instructions of a fork: ours where there is one, else the library's. */
export interface InstructionSet {
  readonly hot: HotTables;
  readonly library: LibraryMap;
}

/** The instructions of a fork, built once from the library's tables. */
export function instructionsOf(tables: OpcodeTables, rules: Rules): InstructionSet {
  let instructions = knownInstructions.get(tables);
  if (instructions === undefined) {
    instructions = instructionSet(tables.opcodeMap, rules);
    knownInstructions.set(tables, instructions);
  }
  return instructions;
}

const knownInstructions = new WeakMap<OpcodeTables, InstructionSet>();

/** Builds the instructions of a fork; which it has, and their base fees, come from the library. */
function instructionSet(library: LibraryMap, rules: Rules): InstructionSet {
  const quick: QuickTable = new Array(256).fill(undefined);
  const invalid = library[INVALID];
  const feeOf = (code: number): number | undefined => {
    const entry = library[code];
    return entry === undefined || entry === invalid ? undefined : Number(entry.opcodeInfo.feeBigInt);
  };
  for (let code = 0; code < 256; code++) {
    const fee = feeOf(code);
    if (fee === undefined) continue;
    const plain = PLAIN.get(code);
    quick[code] = plain === undefined ? CHARGING.get(code)?.(fee) : charged(plain, fee);
  }
  quick[EXP] = exponentiation(feeOf(EXP) ?? 0, rules);
  quick[SLOAD] = storageLoad(rules, feeOf(SLOAD) ?? 0);
  if (isAtLeast(rules.fork, "istanbul")) quick[SSTORE] = storageStore(rules);
  return { hot: hotTables(quick, feeOf), library };
}

function charged(instruction: QuickInstruction, fee: number): QuickInstruction {
  return (state) => {
    state.charge(fee);
    instruction(state);
  };
}

const EXP = 0x0a;
const SLOAD = 0x54;
const SSTORE = 0x55;
const INVALID = 0xfe;

/**
 * Runs a frame to its end; returns the error that halted it, if any. Awaits nothing unless an instruction is
 * asynchronous, such as a call, or it is time to yield.
 */
export async function runFrame(
  state: FrameState,
  { hot, library }: InstructionSet,
): Promise<EVMError | undefined> {
  try {
    for (;;) {
      const pause = runHot(state, hot);
      if (pause === "ended") return undefined;
      if (pause === "yield") await state.evm.yieldPolicy.yield();
      else if (pause === "longWork") await state.performLongWork();
      else {
        const waited = runLibrary(state, library);
        if (waited !== undefined) await waited;
        if (state.interruption === "clockCheck") await checkClock(state);
      }
      if (state.isStopped) return undefined;
    }
  } catch (error) {
    if (!(error instanceof EVMError)) throw error;
    return error.error === EVMError.errorMessages.STOP ? undefined : error;
  }
}

/** Yields if due, after the instruction spent enough gas for a check of the clock. */
async function checkClock(state: FrameState): Promise<void> {
  state.interruption = undefined;
  await yieldIfDue(state.evm.yieldPolicy);
}

/** Performs one of the library's instructions; returns a promise only if it has to be awaited. */
function runLibrary(state: FrameState, library: LibraryMap): Promise<void> | undefined {
  const { common } = state.evm;
  const code = state.code[state.programCounter] as number;
  state.opCode = code;
  const shape = runStateOf(state);
  const { opcodeInfo, opHandler, gasHandler } = library[code] as LibraryMap[number];
  const { feeBigInt, dynamicGas, isInvalid, isAsync } = opcodeInfo;
  const perform = (gas: bigint): Promise<void> | undefined => {
    if (isInvalid) throw new EVMError(EVMError.errorMessages.INVALID_OPCODE);
    state.useGas(gas);
    state.programCounter++;
    const growing = growMemory(state);
    if (growing !== undefined) return growing.then(() => opHandler(shape, common));
    const performed = opHandler(shape, common);
    return isAsync ? (performed as Promise<void>) : undefined;
  };
  const gas = dynamicGas ? gasHandler(shape, feeBigInt, common) : feeBigInt;
  return typeof gas === "bigint" ? perform(gas) : gas.then(perform);
}

/** Grows memory in slices ahead of a library instruction, which would grow it in one go. */
export function growMemory({ memory, memoryWords, evm }: FrameState): Promise<void> | undefined {
  const end = memoryWords * 32;
  return memory.growsSlowly(end) ? memory.extendInSlices(end, evm.yieldPolicy) : undefined;
}
