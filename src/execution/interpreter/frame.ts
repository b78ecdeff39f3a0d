import type { StateManagerInterface } from "@ethereumjs/common";
import { type EVM, EVMError, type Log, type Message } from "@ethereumjs/evm";
import type { Account as LibraryAccount, Address as LibraryAddress } from "@ethereumjs/util";
import type { Hash } from "../../primitives/hash.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { Overlay } from "../../state/overlay.ts";
import type { AccessJournal } from "../accessJournal.ts";
import type { Observed } from "../evm.ts";
import type { MemoryBudget } from "../memoryBudget.ts";
import type { YieldPolicy } from "../yieldPolicy.ts";
import { analyse, type CodeAnalysis } from "./analysis.ts";
import { LIBRARY_INTERPRETER } from "./libraryInterpreter.ts";
import { Memory } from "./memory.ts";
import { sendCall, sendCreation } from "./messages.ts";
import { type ReservedBuffer, releaseInSlices, reservedBufferOf } from "./reservedBuffer.ts";
import { LONG_BYTES } from "./slices.ts";
import { Stack } from "./stack.ts";
import type { Substate } from "./substate.ts";

/** What a frame uses of the machine it runs in. */
export interface FrameEvm extends EVM {
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly yieldPolicy: YieldPolicy;
  readonly observed: Observed;
  readonly stackLimit: number;
  /** Of the message from outside that runs. */
  readonly substate: Substate;
  /** Absent where gas alone bounds memory. */
  readonly held: MemoryBudget | undefined;
  /** Counts what stays until the message from outside has ended, or the frame has failed. */
  keep(bytes: number): void;
  /** Whether somebody watches, who may keep what calls return. */
  readonly isObserved: boolean;
  /** Whether the fork has an instruction of that code. */
  isKnown(instruction: number): boolean;
  precompileNumber(address: Uint8Array): number | undefined;
}

/** What instructions can ask about where they run; the names are the library's. */
export interface FrameEnvironment {
  readonly address: LibraryAddress;
  readonly caller: LibraryAddress;
  readonly callData: Uint8Array;
  readonly callValue: bigint;
  readonly code: Uint8Array;
  /** Absent where nobody knows it: for the code of a creation. */
  readonly codeHash: Hash | undefined;
  readonly isStatic: boolean;
  readonly isCreate: boolean;
  readonly depth: number;
  readonly gasPrice: bigint;
  readonly origin: LibraryAddress;
  readonly block: unknown;
  contract: LibraryAccount;
  readonly codeAddress: LibraryAddress;
  readonly gasRefund: bigint;
  readonly blobVersionedHashes: readonly `0x${string}`[];
  readonly createdAddresses: Set<string> | undefined;
}

/** What a frame leaves behind; the names are the library's. */
export interface FrameResult {
  readonly logs: Log[];
  returnValue: Uint8Array | undefined;
  readonly selfdestruct: Map<`0x${string}`, `0x${string}`>;
  readonly createdAddresses: Set<`0x${string}`>;
}

/** Why the fast loop comes back after an instruction that it had performed for it. */
export type Interruption = "ended" | "longWork" | "look";

/**
 * The state of one running frame, in the shape in which the library's instructions work on it. Ours work on it too:
 * each instruction may be the library's or ours (loop.ts).
 */
export class FrameState {
  programCounter = 0;
  opCode = 0;
  isStopped = false;
  interruption: Interruption | undefined = undefined;
  private longWork: (() => Promise<void>) | undefined = undefined;
  readonly memory: Memory;
  /** Words of memory paid for, the bytes that these are, and the gas that they took (memoryGas.ts). */
  memoryWords = 0;
  memoryEnd = 0n;
  memoryCost = 0;
  readonly stack: Stack;
  /** What the loops read instructions from; somebody who watches shows the fast one a single instruction at a time. */
  code: Uint8Array;
  readonly analysis: CodeAnalysis;
  readonly stateManager: StateManagerInterface;
  readonly blockchain: EVM["blockchain"];
  readonly env: FrameEnvironment;
  readonly interpreter: Frame;
  readonly evm: FrameEvm;
  gasRefund: bigint;
  /** Gas to spend before the next look at the reserve, where the rest of it lies. */
  gas = 0;
  private reserve = 0n;
  private readonly mostAtHand: bigint;
  stateGasSpilled = 0n;
  private returned = EMPTY_BYTES;
  /** Whether the caller has this frame's memory now. */
  private hasLent = false;
  messageGasLimit: bigint | undefined = undefined;
  /** JUMPDESTs passed. */
  jumps = 0;

  constructor(evm: FrameEvm, interpreter: Frame, env: FrameEnvironment, gasLeft: bigint) {
    this.stack = new Stack(evm.stackLimit);
    this.memory = new Memory(evm.held);
    this.code = env.code;
    this.analysis = analyse(env.code, env.codeHash);
    this.stateManager = evm.stateManager;
    this.blockchain = evm.blockchain;
    this.env = env;
    this.interpreter = interpreter;
    this.evm = evm;
    this.gasRefund = env.gasRefund;
    this.mostAtHand = evm.yieldPolicy.deadline === undefined ? MOST_AT_HAND : BRIEF_AT_HAND;
    this.gasLeft = gasLeft;
  }

  /** Nothing follows in this frame. */
  end(): void {
    this.isStopped = true;
    this.interruption = "ended";
  }

  /** What an instruction still has to do takes longer than an instruction may: the loop is to wait for it. */
  putOff(work: () => Promise<void>): void {
    this.longWork = work;
    this.interruption = "longWork";
  }

  /** Does what was put off. */
  async catchUp(): Promise<void> {
    const work = this.longWork;
    this.forgetLongWork();
    await work?.();
  }

  forgetLongWork(): void {
    this.longWork = undefined;
    this.interruption = undefined;
  }

  /** What the last callee returned: the library's name for it. */
  get returnBytes(): Uint8Array {
    return this.returned;
  }

  set returnBytes(bytes: Uint8Array) {
    this.evm.held?.take(bytesBehind(bytes) - bytesBehind(this.returned));
    this.returned = bytes;
  }

  /** Before another call. Gives what is to be waited for, if that takes long. */
  forgetReturned(): Promise<void> | undefined {
    const lent = lentBuffer(this.returned);
    this.returnBytes = EMPTY_BYTES;
    return lent && releaseInSlices(lent, this.evm.yieldPolicy);
  }

  /**
   * What RETURN and REVERT hand over, once memory reaches so far: memory itself where there is much of it and the caller
   * sees to its release, else a copy.
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

  /** After the end of the frame. Gives what is to be waited for, if that takes long. */
  giveMemoryBack(): Promise<void> | undefined {
    const { memory, evm, returned } = this;
    evm.held?.release(memory._store.length + bytesBehind(returned));
    const own = this.hasLent ? undefined : memory.reserved;
    const lent = lentBuffer(returned);
    return own === undefined && lent === undefined ? undefined : releaseAll([own, lent], evm.yieldPolicy);
  }

  /** All gas there is: the library's name for it. */
  get gasLeft(): bigint {
    return this.reserve + BigInt(this.gas);
  }

  set gasLeft(gas: bigint) {
    const { mostAtHand } = this;
    this.gas = Number(gas > mostAtHand ? mostAtHand : gas);
    this.reserve = gas > mostAtHand ? gas - mostAtHand : 0n;
  }

  /** Throws EVMError when the gas does not suffice. */
  charge(amount: number): void {
    this.gas -= amount;
    if (this.gas < 0) this.drawOnReserve();
  }

  hasMoreThan(amount: number): boolean {
    return this.gas > amount || this.gasLeft > BigInt(amount);
  }

  /** After more was spent than was at hand. Gives what is at hand then; throws EVMError when there is no reserve. */
  drawOnReserve(): number {
    this.evm.yieldPolicy.deadline?.check();
    this.interruption ??= "look";
    const left = this.reserve + BigInt(this.gas);
    this.gasLeft = left < 0n ? 0n : left;
    if (left < 0n) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
    return this.gas;
  }

  /** As charge: the library's name for it. */
  useGas(amount: bigint): void {
    this.evm.yieldPolicy.deadline?.check();
    if (amount <= MOST_AT_HAND) {
      this.charge(Number(amount));
      return;
    }
    this.interruption ??= "look";
    this.gasLeft -= amount;
    if (this.gas < 0) this.drawOnReserve();
  }

  /** Memory is to reach so far; whoever says so pays for it. */
  growMemory(words: number): void {
    if (words > BRIEF_WORDS) this.evm.yieldPolicy.deadline?.abort();
    this.memoryWords = words;
    this.memoryEnd = BigInt(words * 32);
  }

  /** The library's names for what memory was paid for; it measures and pays for calls and copies of its own. */
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
 * When so much is spent it is time for a look at the clock, which code without jumps takes nowhere else. No instruction of
 * this loop takes more than 100 ns for its gas.
 */
const MOST_AT_HAND = 100_000n;
/** Takes some tenths of a millisecond at most, however it is spent. */
const BRIEF_AT_HAND = 10_000n;
/** 64 KB: what a single instruction may hash, copy or return. */
const BRIEF_WORDS = 2048;

/** The callee's memory, where what it returned is a part of it. */
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

/** Stands where the library's instructions expect its interpreter, and inherits what they call: calls, creations… */
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

  /** The library's name for what all its calls come to. */
  _baseCall(message: Message): Promise<bigint> {
    return sendCall(this, message);
  }

  /** The library's name for what its creations come to. */
  create(gasLimit: bigint, value: bigint, code: Uint8Array, salt?: Uint8Array): Promise<bigint> {
    return sendCreation(this, { gasLimit, value, code, salt });
  }
}

Object.setPrototypeOf(Frame.prototype, LIBRARY_INTERPRETER);
