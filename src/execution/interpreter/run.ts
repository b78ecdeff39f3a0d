import { aligned, FIELD, FIELDS_BYTES, STATUS } from "../../evm/layout.ts";
import type { Machine } from "../../evm/machine.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Hash } from "../../primitives/hash.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { Overlay } from "../../state/overlay.ts";
import type { AccessJournal } from "../accessJournal.ts";
import { costOfLog, type Effects } from "../effectCost.ts";
import type { EvmParts, Message } from "../evm.ts";
import type { HaltReason } from "../haltReason.ts";
import { REVERTED_AT_ONCE } from "../longRevert.ts";
import type { MemoryBudget } from "../memoryBudget.ts";
import { hasLowNumber, precompileKeys } from "../precompiles/addresses.ts";
import type { Rules } from "../rules.ts";
import { EffectsBeyondLimit, type YieldPolicy } from "../yieldPolicy.ts";
import type { Frame } from "./frame.ts";
import type { GasSchedule } from "./gasSchedule.ts";
import { Substate } from "./substate.ts";
import type { TransientStorage } from "./transientStorage.ts";
import type { Watch } from "./watch.ts";

/** Long work in slices: yields between them. */
export type Work = Generator<undefined, void>;

/** How a message ended. */
export type Outcome = "succeeded" | "reverted" | HaltReason;

export interface RunEnd {
  readonly outcome: Outcome;
  readonly output: Uint8Array;
  readonly gasLeft: bigint;
}

/** The parts that all messages of a job share. */
interface RunParts {
  readonly evm: EvmParts;
  readonly table: GasSchedule;
  readonly transient: TransientStorage;
  readonly machine: Machine;
  readonly message: Message;
  readonly watch: Watch | undefined;
}

/**
 * One top-level message with all its nested ones: the state of the driver. Its methods are shared by the instructions in the
 * files beside it.
 */
export class Run {
  readonly parts: EvmParts;
  readonly rules: Rules;
  readonly table: GasSchedule;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly transient: TransientStorage;
  readonly yieldPolicy: YieldPolicy;
  readonly budget: MemoryBudget | undefined;
  readonly machine: Machine;
  readonly message: Message;
  readonly watch: Watch | undefined;
  readonly substate = new Substate();
  /** The innermost message; undefined once the outermost has ended. */
  frame: Frame | undefined = undefined;
  /** Work to finish before the frame runs on. */
  work: Work | undefined = undefined;
  /** Set if that work waits for something else, such as a library that has to be loaded. */
  waiting: Promise<unknown> | undefined = undefined;
  /** Set once the outermost message has ended. */
  end: RunEnd | undefined = undefined;
  /** Returns of the core until the next check of the clock. */
  returnsToCheck = 0;
  refund = 0;
  keptBytes = 0;
  private openCheckpoints = 0;
  private readonly changesBefore: number;
  private lastCodeHash: Hash | undefined = undefined;
  private lastCode: Uint8Array = EMPTY_BYTES;
  private readonly defaultPrecompiles: ReadonlySet<string>;

  constructor({ evm, table, transient, machine, message, watch }: RunParts) {
    this.parts = evm;
    this.rules = evm.rules;
    this.table = table;
    this.overlay = evm.overlay;
    this.accesses = evm.accesses;
    this.transient = transient;
    this.yieldPolicy = evm.yieldPolicy;
    this.budget = evm.yieldPolicy.memory;
    this.machine = machine;
    this.message = message;
    this.watch = watch;
    this.changesBefore = this.overlay.changeCount - (message.changes ?? 0);
    this.defaultPrecompiles = precompileKeys(evm.rules.fork);
  }

  checkpoint(): void {
    this.openCheckpoints++;
    this.accesses.checkpoint();
    this.overlay.checkpoint();
    this.transient.checkpoint();
  }

  commit(): void {
    this.openCheckpoints--;
    this.accesses.commit();
    this.overlay.commit();
    this.transient.commit();
  }

  revert(): void {
    this.openCheckpoints--;
    this.accesses.revert();
    this.overlay.revert();
    this.transient.revert();
  }

  /** Undoes a part of what a revert would undo, some milliseconds of work; true while more is left. */
  revertPart(): boolean {
    return (
      this.overlay.revertPart(REVERTED_AT_ONCE) ||
      this.accesses.revertPart(REVERTED_AT_ONCE) ||
      this.transient.revertPart(REVERTED_AT_ONCE)
    );
  }

  /** Reverts all open checkpoints, after the run was stopped in the middle. */
  *unwindInSlices(): Work {
    for (; this.openCheckpoints > 0; this.revert()) while (this.revertPart()) yield;
  }

  /** Counts memory that stays until the top-level message ends, or the frame fails. */
  keep(bytes: number): void {
    this.budget?.take(bytes);
    this.keptBytes += bytes;
  }

  /** Counts a log before it is made. */
  countLog(topicCount: number, dataBytes: number): void {
    this.countBytes(costOfLog(topicCount, dataBytes));
  }

  /** Counts bytes of effects (effectCost.ts) before they are made. */
  countBytes(bytes: number): void {
    const neededBytes = this.substate.effectBytes + bytes;
    const { effects } = this.yieldPolicy;
    if (effects !== undefined && neededBytes > effects.limit.bytes)
      throw new EffectsBeyondLimit({ ...this.effects, bytes: neededBytes });
    this.substate.effectBytes = neededBytes;
  }

  /** Counts what was written to the overlay; called after the writes of each instruction. */
  countChanges(): void {
    const { effects } = this.yieldPolicy;
    if (effects !== undefined && this.overlay.changeCount - this.changesBefore > effects.limit.changes)
      throw new EffectsBeyondLimit(this.effects);
  }

  /** The effects so far of the message, and of the authorizations before it. */
  get effects(): Effects {
    return {
      bytes: this.substate.effectBytes,
      changes: Math.max(0, this.overlay.changeCount - this.changesBefore),
    };
  }

  /** Releases what was kept beyond `keptBytes`. */
  release(keptBytes: number): void {
    this.budget?.release(this.keptBytes - keptBytes);
    this.keptBytes = keptBytes;
  }

  /** Counts memory until the frame ends. */
  count(frame: Frame, bytes: number): void {
    this.budget?.take(bytes);
    frame.countedBytes += bytes;
  }

  /** Makes the machine's memory reach a position. */
  reserve(end: number): void {
    if (!this.machine.reserve(end))
      throw new RangeError("the EVM's memory is at the end of its address space");
  }

  /** Where the callee of a frame begins: behind its memory. */
  behind({ at }: Frame): number {
    const { machine } = this;
    return aligned(machine.field(at, FIELD.MEMORY) + machine.field(at, FIELD.ROOM));
  }

  /** Takes gas, less than 2^53; false if there is not enough: the caller then halts the frame. */
  charge({ at }: Frame, amount: number): boolean {
    return this.machine.core.charge(at, amount) === 1;
  }

  /** Words on a frame's stack. */
  stackSize({ at }: Frame): number {
    const { machine } = this;
    return (machine.field(at, FIELD.TOP) - machine.field(at, FIELD.STACK)) / 32;
  }

  /** Position of the word `depth` below the top. */
  word({ at }: Frame, depth: number): number {
    return this.machine.field(at, FIELD.TOP) - 32 * (depth + 1);
  }

  /** Takes words off the stack. */
  drop({ at }: Frame, count: number): void {
    this.machine.setField(at, FIELD.TOP, this.machine.field(at, FIELD.TOP) - 32 * count);
  }

  /** Prices an access to an account, and warms it (EIP-2929). */
  accountAccess(address: Address): number {
    const { accesses, rules } = this;
    if (!rules.hasColdAccess) return 0;
    return accesses.warm(address) ? COLD_ACCOUNT_GAS : WARM_GAS;
  }

  /**
   * Code by its hash. The last code is kept: a frame reads it piece by piece, and code that is too large for the code cache
   * would be read from the disk for each piece.
   */
  code(codeHash: Hash): Uint8Array {
    if (codeHash === this.lastCodeHash) return this.lastCode;
    this.lastCode = this.overlay.code(codeHash);
    this.lastCodeHash = codeHash;
    return this.lastCode;
  }

  addressAt(word: number): Address {
    return this.machine.readBytes(word, 20) as Address;
  }

  /** Number of the precompiled contract at an address, after overrides. */
  precompileNumber(address: Uint8Array): number | undefined {
    const { precompiles } = this.parts;
    if (precompiles === undefined && !hasLowNumber(address)) return undefined;
    const key = precompiles === undefined ? toKey(address) : precompiles.get(toKey(address));
    if (key === undefined || !this.defaultPrecompiles.has(key)) return undefined;
    // A character of a key holds two bytes.
    return key.charCodeAt(key.length - 1);
  }
}

/** Where a message's own region has space other than memory: its stack, if it runs code, begins there. */
export function spaceOf({ at }: Frame): number {
  return at + FIELDS_BYTES;
}

/** The reason behind a status of the core that halts. */
export function haltReasonOfStatus(status: number): HaltReason {
  switch (status) {
    case STATUS.OUT_OF_GAS:
      return "INSUFFICIENT_GAS";
    case STATUS.UNDERFLOW:
      return "INSUFFICIENT_STACK_ITEMS";
    case STATUS.OVERFLOW:
      return "TOO_MANY_STACK_ITEMS";
    case STATUS.BAD_JUMP:
      return "INVALID_JUMP_DESTINATION";
    case STATUS.STATIC_CHANGE:
      return "ILLEGAL_STATE_CHANGE";
    case STATUS.OUT_OF_BOUNDS:
      return "INVALID_RETURN_DATA_BUFFER_ACCESS";
    default:
      return "INVALID_OPERATION";
  }
}

export const WARM_GAS = 100;
const COLD_ACCOUNT_GAS = 2_600;
