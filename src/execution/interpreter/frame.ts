import type { StateManagerInterface } from "@ethereumjs/common";
import { type EVM, EVMError, type Message } from "@ethereumjs/evm";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { YieldPolicy } from "../yieldPolicy.ts";
import { analyse, type CodeAnalysis } from "./analysis.ts";
import { sendCall, sendCreation } from "./callAndCreate.ts";
import type { FrameEnvironment, FrameEvm, FrameResult } from "./frameEnvironment.ts";
import { inheritInterpreter } from "./libraryInternals.ts";
import { Memory } from "./memory.ts";
import { type ReservedBuffer, releaseInSlices, reservedBufferOf } from "./reservedBuffer.ts";
import { LONG_BYTES } from "./slices.ts";
import { Stack } from "./stack.ts";

/** Reason why the fast loop returns after an instruction that it called. */
export type Interruption = "ended" | "longWork" | "clockCheck";

/**
 * The state of one running frame, in the shape that the library's instructions expect. Each instruction is the
 * library's or ours (loop.ts).
 */
export class FrameState {
  programCounter = 0;
  opCode = 0;
  isStopped = false;
  interruption: Interruption | undefined = undefined;
  private longWork: (() => Promise<void>) | undefined = undefined;
  readonly memory: Memory;
  /** Memory paid for in words and in bytes, and the gas it cost (memoryGas.ts). */
  memoryWords = 0;
  memoryEnd = 0n;
  memoryCost = 0;
  readonly stack: Stack;
  /** The code that the loops read; the observed loop shows the fast loop one instruction at a time. */
  code: Uint8Array;
  readonly analysis: CodeAnalysis;
  readonly stateManager: StateManagerInterface;
  readonly blockchain: EVM["blockchain"];
  readonly env: FrameEnvironment;
  readonly interpreter: Frame;
  readonly evm: FrameEvm;
  gasRefund: bigint;
  /** Gas to spend before the next draw on the reserve, which holds the rest. */
  gas = 0;
  private reserve = 0n;
  private readonly maxAtHand: bigint;
  stateGasSpilled = 0n;
  private returned = EMPTY_BYTES;
  /** True if the caller now owns this frame's memory. */
  private hasLent = false;
  messageGasLimit: bigint | undefined = undefined;
  /** JUMPDESTs passed. */
  jumps = 0;

  constructor(evm: FrameEvm, interpreter: Frame, env: FrameEnvironment, gasLeft: bigint) {
    this.stack = new Stack(evm.stackLimit);
    this.memory = new Memory(evm.memoryBudget);
    this.code = env.code;
    this.analysis = analyse(env.code, env.codeHash);
    this.stateManager = evm.stateManager;
    this.blockchain = evm.blockchain;
    this.env = env;
    this.interpreter = interpreter;
    this.evm = evm;
    this.gasRefund = env.gasRefund;
    this.maxAtHand = evm.yieldPolicy.deadline === undefined ? MAX_AT_HAND : INLINE_AT_HAND;
    this.gasLeft = gasLeft;
  }

  /** Ends the frame. */
  end(): void {
    this.isStopped = true;
    this.interruption = "ended";
  }

  /** Defers the rest of an instruction that takes long; the loop then awaits it. */
  defer(work: () => Promise<void>): void {
    this.longWork = work;
    this.interruption = "longWork";
  }

  /** Performs the deferred work. */
  async performLongWork(): Promise<void> {
    const work = this.longWork;
    this.clearLongWork();
    await work?.();
  }

  clearLongWork(): void {
    this.longWork = undefined;
    this.interruption = undefined;
  }

  /** The last callee's return data; the name is the library's. */
  get returnBytes(): Uint8Array {
    return this.returned;
  }

  set returnBytes(bytes: Uint8Array) {
    this.evm.memoryBudget?.take(bytesBehind(bytes) - bytesBehind(this.returned));
    this.returned = bytes;
  }

  /** Clears the return data before another call. Returns a promise only if that takes long. */
  clearReturnData(): Promise<void> | undefined {
    const lent = lentBuffer(this.returned);
    this.returnBytes = EMPTY_BYTES;
    return lent && releaseInSlices(lent, this.evm.yieldPolicy);
  }

  /**
   * The output of RETURN and REVERT, after extending memory: a view of memory itself if it is large and the caller
   * releases it, otherwise a copy.
   */
  async takeOutput(offset: number, size: number): Promise<Uint8Array> {
    const { memory, evm, env } = this;
    await memory.extendInSlices(offset + size, evm.yieldPolicy);
    const mayLend = env.depth > 0 && !env.isCreate && !evm.isObserved;
    this.hasLent = mayLend && memory.reserved !== undefined && 2 * size >= memory._store.length;
    return this.hasLent
      ? memory.read(offset, size, true)
      : memory.readInSlices(offset, size, evm.yieldPolicy);
  }

  /** Releases memory after the end of the frame. Returns a promise only if that takes long. */
  releaseMemory(): Promise<void> | undefined {
    const { memory, evm, returned } = this;
    evm.memoryBudget?.release(memory._store.length + bytesBehind(returned));
    const own = this.hasLent ? undefined : memory.reserved;
    const lent = lentBuffer(returned);
    return own === undefined && lent === undefined ? undefined : releaseAll([own, lent], evm.yieldPolicy);
  }

  /** All remaining gas; the name is the library's. */
  get gasLeft(): bigint {
    return this.reserve + BigInt(this.gas);
  }

  set gasLeft(gas: bigint) {
    const { maxAtHand } = this;
    this.gas = Number(gas > maxAtHand ? maxAtHand : gas);
    this.reserve = gas > maxAtHand ? gas - maxAtHand : 0n;
  }

  /** Throws EVMError if the gas does not suffice. */
  charge(amount: number): void {
    this.gas -= amount;
    if (this.gas < 0) this.drawOnReserve();
  }

  hasMoreThan(amount: number): boolean {
    return this.gas > amount || this.gasLeft > BigInt(amount);
  }

  /**
   * Called once `gas` is negative. Refills it from the reserve and returns it; throws EVMError if the reserve is empty.
   */
  drawOnReserve(): number {
    this.evm.yieldPolicy.deadline?.check();
    this.interruption ??= "clockCheck";
    const left = this.reserve + BigInt(this.gas);
    this.gasLeft = left < 0n ? 0n : left;
    if (left < 0n) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
    return this.gas;
  }

  /** As charge; the name is the library's. */
  useGas(amount: bigint): void {
    this.evm.yieldPolicy.deadline?.check();
    if (amount <= MAX_AT_HAND) {
      this.charge(Number(amount));
      return;
    }
    this.interruption ??= "clockCheck";
    this.gasLeft -= amount;
    if (this.gas < 0) this.drawOnReserve();
  }

  /** Sets the size of memory, which the caller pays for. */
  growMemory(words: number): void {
    if (words > INLINE_WORDS) this.evm.yieldPolicy.deadline?.abort();
    this.memoryWords = words;
    this.memoryEnd = BigInt(words * 32);
  }

  /** The size of memory; the library measures and pays for its own calls and copies by these names. */
  get memoryWordCount(): bigint {
    return BigInt(this.memoryWords);
  }

  set memoryWordCount(words: bigint) {
    this.growMemory(Number(words));
  }

  get highestMemCost(): bigint {
    return BigInt(this.memoryCost);
  }

  set highestMemCost(cost: bigint) {
    this.memoryCost = Number(cost);
  }
}

/**
 * Gas to spend before the next check of the clock: the only check for code without jumps. No instruction of this loop
 * takes more than 100 ns per gas.
 */
const MAX_AT_HAND = 100_000n;
/** The same for inline calls: at most some tenths of a millisecond, however it is spent. */
const INLINE_AT_HAND = 10_000n;
/** 64 KB: the maximum that one instruction of an inline call may hash, copy or return. */
const INLINE_WORDS = 2048;

/** The callee's memory, if the return data is a view of it. */
function lentBuffer(returned: Uint8Array): ReservedBuffer | undefined {
  return returned.length > LONG_BYTES ? reservedBufferOf(returned) : undefined;
}

function bytesBehind(returned: Uint8Array): number {
  return lentBuffer(returned)?.byteLength ?? returned.length;
}

async function releaseAll(
  buffers: readonly (ReservedBuffer | undefined)[],
  yieldPolicy: YieldPolicy,
): Promise<void> {
  for (const buffer of buffers) if (buffer !== undefined) await releaseInSlices(buffer, yieldPolicy);
}

/** Takes the place of the library's interpreter for its instructions, and inherits the methods that they call. */
export class Frame {
  readonly _evm: FrameEvm;
  readonly _stateManager: StateManagerInterface;
  readonly common: EVM["common"];
  readonly journal: EVM["journal"];
  readonly _env: FrameEnvironment;
  readonly _result: FrameResult;
  readonly _runState: FrameState;

  constructor(evm: FrameEvm, env: FrameEnvironment, gasLeft: bigint) {
    this._evm = evm;
    this._stateManager = evm.stateManager;
    this.common = evm.common;
    this.journal = evm.journal;
    this._env = env;
    const { logs, destroyed, created } = evm.substate;
    this._result = { logs, returnValue: undefined, selfdestruct: destroyed, createdAddresses: created };
    this._runState = new FrameState(evm, this, env, gasLeft);
  }

  /** Common entry point of all the library's calls. */
  _baseCall(message: Message): Promise<bigint> {
    return sendCall(this, message);
  }

  /** Common entry point of the library's creations. */
  create(gasLimit: bigint, value: bigint, code: Uint8Array, salt?: Uint8Array): Promise<bigint> {
    return sendCreation(this, { gasLimit, value, code, salt });
  }
}

inheritInterpreter(Frame);
