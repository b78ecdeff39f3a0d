import { EVMError } from "@ethereumjs/evm";
import { isAtLeast } from "../../chainspec/forks.ts";
import type { OpcodeTables } from "../libraryOpcodes.ts";
import type { Rules } from "../rules.ts";
import { ARITHMETIC } from "./arithmetic.ts";
import type { FrameState } from "./frame.ts";
import type { QuickTable } from "./instruction.ts";
import { CHARGING, PLAIN } from "./plainInstructions.ts";
import { storageLoad, storageStore } from "./storageInstructions.ts";

type LibraryMap = OpcodeTables["opcodeMap"];
type LibraryState = Parameters<LibraryMap[number]["opHandler"]>[0];

/** The instructions of a fork: ours where there is one, else the library's. */
export interface InstructionSet {
  readonly quick: QuickTable;
  readonly library: LibraryMap;
}

/** Which instructions a fork has, and their basic fees, is the library's word. */
export function instructionSet(library: LibraryMap, rules: Rules): InstructionSet {
  const quick: QuickTable = new Array(256).fill(undefined);
  const invalid = library[INVALID];
  for (const [code, { opcodeInfo }] of library.entries()) {
    if (library[code] === invalid) continue;
    const fee = opcodeInfo.feeBigInt;
    const plain = ARITHMETIC.get(code) ?? PLAIN.get(code);
    const charging = CHARGING.get(code)?.(fee);
    if (plain !== undefined) quick[code] = { fee, run: plain };
    else if (charging !== undefined) quick[code] = { fee: 0n, run: charging };
  }
  quick[SLOAD] = { fee: 0n, run: storageLoad(rules, library[SLOAD]?.opcodeInfo.feeBigInt ?? 0n) };
  if (isAtLeast(rules.fork, "istanbul")) quick[SSTORE] = { fee: 0n, run: storageStore(rules) };
  return { quick, library };
}

const SLOAD = 0x54;
const SSTORE = 0x55;
const JUMPDEST = 0x5b;
const INVALID = 0xfe;
const JUMPDEST_GAS = 1n;
/** A look at the clock takes as long as an instruction. */
const JUMPS_PER_LOOK = 32;

/**
 * Runs a frame to its end; returns the error that halted it, if one did. Nothing is awaited unless an instruction has
 * something to wait for, such as a call, or the thread's other work is due: all loops pass a JUMPDEST.
 */
export async function runFrame(
  state: FrameState,
  { quick, library }: InstructionSet,
): Promise<EVMError | undefined> {
  const { code, evm } = state;
  const { common, pace } = evm;
  try {
    while (state.programCounter < code.length && !state.isStopped) {
      const instruction = code[state.programCounter] as number;
      state.opCode = instruction;
      const ours = quick[instruction];
      if (ours !== undefined) {
        if (ours.fee > 0n) state.useGas(ours.fee);
        state.programCounter++;
        ours.run(state);
      } else if (instruction === JUMPDEST) {
        state.useGas(JUMPDEST_GAS);
        state.programCounter++;
        if (++state.jumps % JUMPS_PER_LOOK === 0 && pace.isDue()) await pace.rest();
      } else {
        // The library's types know its own classes by their private parts; the shape is the same.
        const shape = state as unknown as LibraryState;
        const entry = library[instruction] as LibraryMap[number];
        const { opcodeInfo, opHandler, gasHandler } = entry;
        let gas = opcodeInfo.feeBigInt;
        if (opcodeInfo.dynamicGas) {
          const charged = gasHandler(shape, gas, common);
          gas = typeof charged === "bigint" ? charged : await charged;
        }
        if (opcodeInfo.isInvalid) throw new EVMError(EVMError.errorMessages.INVALID_OPCODE);
        state.useGas(gas);
        state.programCounter++;
        if (opcodeInfo.isAsync) await opHandler(shape, common);
        else opHandler(shape, common);
      }
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof EVMError)) throw error;
    return error.error === EVMError.errorMessages.STOP ? undefined : error;
  }
}
