import { EVMError } from "@ethereumjs/evm";
import { addressOfWord } from "../../primitives/address.ts";
import { type HaltReason, haltReasonOf } from "../haltReason.ts";
import { MemoryExhausted } from "../memoryBudget.ts";
import type { ExecutionObserver, Step } from "../observer.ts";
import type { FrameState } from "./frame.ts";
import { type Pause, runHot } from "./hotLoop.ts";
import { LEAVE } from "./hotTables.ts";
import { type LibraryInstruction, runStateOf } from "./libraryInternals.ts";
import { growMemory, type InstructionSet } from "./loop.ts";

/** The observer, and the instructions with a callee in progress. */
export interface Observation {
  readonly observer: ExecutionObserver;
  readonly calls: OpenStep[];
}

/**
 * As runFrame, but reports each instruction. The fast loop gets a mask of the code in which every instruction but the
 * next is an unknown one, so it returns after each without code for this mode.
 */
export async function runObserved(
  state: FrameState,
  instructions: InstructionSet,
  { observer, calls }: Observation,
): Promise<EVMError | undefined> {
  const { code } = state;
  const mask = new Uint8Array(code.length).fill(UNKNOWN);
  for (;;) {
    if (state.isStopped) return undefined;
    const at = state.programCounter;
    if (at >= code.length) {
      reportStop(state, observer);
      return undefined;
    }
    const step = new OpenStep(state, at, code[at] as number);
    observer.begun(step);
    try {
      if (instructions.hot.actions[step.instruction] === LEAVE)
        await performLibrary(step, instructions, calls);
      else await performHot(step, instructions, mask);
      if (step.isCall) step.end();
      step.perform(observer);
    } catch (error) {
      if (!(error instanceof EVMError)) throw error;
      await step.fail(error, instructions, mask);
      step.perform(observer);
      return error.error === STOPPED ? undefined : error;
    } finally {
      state.code = code;
    }
    if (step.isCall) observer.resumed(step);
  }
}

/** Reports the implicit STOP beyond the end of code. */
export function reportStop(state: FrameState, observer: ExecutionObserver): void {
  const step = new OpenStep(state, state.programCounter, STOP, true);
  observer.begun(step);
  step.perform(observer);
}

async function performHot(step: OpenStep, { hot }: InstructionSet, mask: Uint8Array): Promise<void> {
  if ((await beginHot(step, hot, mask)) === "longWork") await step.state.performLongWork();
}

/** Performs an instruction, except for the work that it defers. */
async function beginHot(
  { state, at, instruction }: OpenStep,
  hot: InstructionSet["hot"],
  mask: Uint8Array,
): Promise<Pause> {
  mask[at] = instruction;
  state.code = mask;
  try {
    for (;;) {
      const pause = runHot(state, hot);
      if (pause !== "yield") return pause;
      await state.evm.yieldPolicy.yield();
    }
  } finally {
    mask[at] = UNKNOWN;
  }
}

async function performLibrary(step: OpenStep, { library }: InstructionSet, calls: OpenStep[]): Promise<void> {
  const { state, instruction } = step;
  state.opCode = instruction;
  const { opcodeInfo, opHandler } = library[instruction] as LibraryInstruction;
  if (opcodeInfo.isInvalid) throw new EVMError(EVMError.errorMessages.INVALID_OPCODE);
  const gas = await priceOf(state, instruction, library);
  state.useGas(gas);
  step.pay(gas);
  state.programCounter++;
  await growMemory(state);
  if (!step.isCall) {
    await opHandler(runStateOf(state), state.evm.common);
    return;
  }
  calls.push(step);
  try {
    await opHandler(runStateOf(state), state.evm.common);
  } finally {
    calls.pop();
  }
}

type LibraryMap = InstructionSet["library"];

async function priceOf(state: FrameState, instruction: number, library: LibraryMap): Promise<bigint> {
  const { opcodeInfo, gasHandler } = library[instruction] as LibraryInstruction;
  const { feeBigInt, dynamicGas } = opcodeInfo;
  return dynamicGas ? gasHandler(runStateOf(state), feeBigInt, state.evm.common) : feeBigInt;
}

/** A step in progress. */
export class OpenStep implements Step {
  readonly state: FrameState;
  readonly depth: number;
  readonly at: number;
  readonly instruction: number;
  readonly isVirtual: boolean;
  readonly gas: bigint;
  cost = 0n;
  calleeGas = 0n;
  halt: HaltReason | undefined = undefined;
  stipend = 0n;
  isDenied = false;
  private isPaid = false;
  private isPerformed = false;
  private isSettled = false;
  private readonly memory: MemorySize;

  constructor(state: FrameState, at: number, instruction: number, isVirtual = false) {
    this.state = state;
    this.depth = state.env.depth;
    this.at = at;
    this.instruction = instruction;
    this.isVirtual = isVirtual;
    this.gas = state.gasLeft;
    const { memoryWords, memoryEnd, memoryCost } = state;
    this.memory = { memoryWords, memoryEnd, memoryCost };
    state.evm.accesses.checkpoint();
  }

  get isCall(): boolean {
    return CALLS.has(this.instruction);
  }

  /** Records the price of a library instruction before it is performed. */
  pay(gas: bigint): void {
    this.cost = gas;
    this.isPaid = true;
    this.settle();
    if (!this.isCall) return;
    const { state, instruction } = this;
    const mayTransfer = instruction === CALL || instruction === CALLCODE;
    this.stipend = mayTransfer && state.stack.at(2) !== 0n ? STIPEND : 0n;
    this.calleeGas = (state.messageGasLimit ?? 0n) + this.stipend;
  }

  /** Called when a call has ended, or could not begin. */
  end(): void {
    this.isDenied = !this.isPerformed;
  }

  /** Reports the instruction once. */
  perform(observer: ExecutionObserver): void {
    if (this.isPerformed) return;
    this.isPerformed = true;
    if (this.halt === undefined && !this.isPaid) this.cost = this.gas - this.state.gasLeft;
    this.settle();
    observer.performed(this);
  }

  /** Commits the accesses, which can no longer be undone. */
  private settle(): void {
    if (!this.isSettled) this.state.evm.accesses.commit();
    this.isSettled = true;
  }

  /** Handles an error of the instruction: derives the halt reason and what it would have cost. */
  async fail({ error }: EVMError, instructions: InstructionSet, mask: Uint8Array): Promise<void> {
    if (error === STOPPED || error === REVERTED) return;
    this.halt = haltReasonOf(error);
    this.cost = this.isPerformed ? this.cost : await this.costOfHalt(this.halt, instructions, mask);
  }

  /** Besu's figure for the cost of an instruction that could not be performed. */
  private async costOfHalt(
    halt: HaltReason,
    instructions: InstructionSet,
    mask: Uint8Array,
  ): Promise<bigint> {
    switch (halt) {
      case "INSUFFICIENT_GAS": {
        const price = await this.fullPrice(instructions, mask);
        // A store that could be paid for, but without the required remainder (EIP-2200).
        return this.instruction === SSTORE && price <= this.gas ? STIPEND : price;
      }
      case "INVALID_JUMP_DESTINATION":
        return BigInt(instructions.hot.fees[this.instruction] ?? 0);
      case "ILLEGAL_STATE_CHANGE":
        return STORES.has(this.instruction) ? this.gas : this.priceIfAllowed(instructions, mask);
      case "INSUFFICIENT_STACK_ITEMS":
      case "TOO_MANY_STACK_ITEMS":
        return this.priceBeforeStack(instructions);
      case "CODE_TOO_LARGE":
        return this.cost;
      default:
        return 0n;
    }
  }

  /** The price to report on stack underflow or overflow. */
  private priceBeforeStack({ library }: InstructionSet): bigint {
    if (!PRICED_BEFORE_STACK.has(this.instruction)) return 0n;
    return BigInt(library[this.instruction]?.opcodeInfo.fee ?? 0);
  }

  /** The full price of an instruction that a static call forbids: Besu computes it first. The callee counts as warm. */
  private async priceIfAllowed(instructions: InstructionSet, mask: Uint8Array): Promise<bigint> {
    const { evm, stack } = this.state;
    const env: { isStatic: boolean } = this.state.env;
    if (this.instruction === CALL) evm.accesses.warm(addressOfWord(stack.at(1)));
    this.settle();
    evm.accesses.checkpoint();
    env.isStatic = false;
    try {
      return await this.fullPrice(instructions, mask);
    } finally {
      env.isStatic = true;
      evm.accesses.commit();
    }
  }

  /** The price of an instruction that could not be paid for: performs it again with ample gas, and undoes it. */
  private async fullPrice(instructions: InstructionSet, mask: Uint8Array): Promise<bigint> {
    const { state, instruction } = this;
    const { accesses, overlay } = state.evm;
    accesses.revert();
    accesses.checkpoint();
    overlay.checkpoint();
    Object.assign(state, this.memory);
    state.gasLeft = AMPLE_GAS;
    state.programCounter = this.at;
    try {
      if (instructions.hot.actions[instruction] === LEAVE)
        return await priceOf(state, instruction, instructions.library);
      await beginHot(this, instructions.hot, mask);
      state.clearLongWork();
      return AMPLE_GAS - state.gasLeft;
    } catch (error) {
      // Its price was charged before it exceeded the memory budget.
      if (error instanceof MemoryExhausted) return AMPLE_GAS - state.gasLeft;
      if (!(error instanceof EVMError)) throw error;
      if (error.error === UNDERFLOW || error.error === OVERFLOW) return this.priceBeforeStack(instructions);
      if (error.error === INVALID_JUMP) return BigInt(instructions.hot.fees[instruction] ?? 0);
      return error.error === REVERTED ? AMPLE_GAS - state.gasLeft : HIGHEST_PRICE;
    } finally {
      overlay.revert();
      Object.assign(state, this.memory);
      state.gasLeft = 0n;
    }
  }
}

interface MemorySize {
  readonly memoryWords: number;
  readonly memoryEnd: bigint;
  readonly memoryCost: number;
}

const {
  STOP: STOPPED,
  REVERT: REVERTED,
  STACK_UNDERFLOW: UNDERFLOW,
  STACK_OVERFLOW: OVERFLOW,
  INVALID_JUMP,
} = EVMError.errorMessages;
const STOP = 0x00;
const SSTORE = 0x55;
const CALL = 0xf1;
const CALLCODE = 0xf2;
const CALLS: ReadonlySet<number> = new Set([0xf0, 0xf5, CALL, CALLCODE, 0xf4, 0xfa]);
/** Not an instruction of any fork: the fast loop returns. */
const UNKNOWN = 0xfe;
/** SSTORE and TSTORE. */
const STORES: ReadonlySet<number> = new Set([0x55, 0x5d]);
/** Instructions whose fixed price Besu reports even on stack underflow or overflow. */
const PRICED_BEFORE_STACK: ReadonlySet<number> = new Set([
  ...[0x14, 0x1b, 0x1c, 0x1d, 0x30, 0x32, 0x33, 0x34, 0x35, 0x36, 0x38, 0x3a, 0x3d],
  ...[0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4a, 0x58, 0x59, 0x5a],
]);
const STIPEND = 2_300n;
const AMPLE_GAS = 2n ** 60n;
/** Reported for memory that no gas pays for. */
const HIGHEST_PRICE = 2n ** 63n - 1n;
