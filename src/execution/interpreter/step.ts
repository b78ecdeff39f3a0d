import { FIELD } from "../../evm/layout.ts";
import { addressOfWord } from "../../primitives/address.ts";
import type { HaltReason } from "../haltReason.ts";
import type { ExecutionObserver, Step } from "../observer.ts";
import type { Frame } from "./frame.ts";
import type { MachineFrameView } from "./frameView.ts";
import { fixedFee, priceOf } from "./gasCosts.ts";
import type { Run } from "./run.ts";

/** An instruction in progress, as observers see it. */
export class OpenStep implements Step {
  readonly state: MachineFrameView;
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
  /** True once only `performed`, or `resumed`, is left to report. */
  isDone = false;
  readonly frame: Frame;
  private readonly run: Run;
  private isPaid = false;
  private isPerformed = false;
  private isSettled = false;
  private readonly memorySize: number;

  constructor(run: Run, frame: Frame, state: MachineFrameView, { at, instruction, isVirtual }: Place) {
    this.run = run;
    this.frame = frame;
    this.state = state;
    this.depth = frame.depth;
    this.at = at;
    this.instruction = instruction;
    this.isVirtual = isVirtual;
    this.gas = state.gasLeft;
    this.memorySize = run.machine.field(frame.at, FIELD.MEMORY_SIZE);
    run.accesses.checkpoint();
  }

  get isCall(): boolean {
    return CALLS.has(this.instruction);
  }

  /** Records the price of a call and the gas that went to the callee. */
  pay(callee: number, stipend: number): void {
    this.stipend = BigInt(stipend);
    this.calleeGas = this.run.machine.gas(callee);
    this.cost = this.gas - this.state.gasLeft - this.calleeGas + this.stipend;
    this.isPaid = true;
    this.settle();
  }

  /** Reports the instruction once. */
  perform(observer: ExecutionObserver): void {
    if (this.isPerformed) return;
    this.isPerformed = true;
    if (this.halt === undefined && !this.isPaid) this.cost = this.gas - this.state.gasLeft;
    this.settle();
    observer.performed(this);
  }

  /** Reports what follows an instruction that has run to its end. */
  complete(observer: ExecutionObserver): void {
    if (this.isCall && !this.isPerformed) this.isDenied = true;
    this.perform(observer);
    if (this.isCall) observer.resumed(this);
  }

  /** Records a halt, and Besu's figure for the cost of an instruction that could not be performed. */
  fail(halt: HaltReason): void {
    this.halt = halt;
    if (!this.isPerformed) this.cost = this.costOfHalt(halt);
    const isSpent =
      halt === "INSUFFICIENT_GAS" || (halt === "ILLEGAL_STATE_CHANGE" && !STORES.has(this.instruction));
    this.run.machine.setGas(this.frame.at, isSpent ? 0n : this.gas);
  }

  /** Commits the accesses, which can no longer be undone. */
  private settle(): void {
    if (!this.isSettled) this.run.accesses.commit();
    this.isSettled = true;
  }

  private costOfHalt(halt: HaltReason): bigint {
    const { table } = this.run;
    switch (halt) {
      case "INSUFFICIENT_GAS": {
        const price = this.fullPrice();
        // The store could be paid for, but would not leave the required remainder (EIP-2200).
        return this.instruction === SSTORE && price <= this.gas ? STIPEND : price;
      }
      case "INVALID_JUMP_DESTINATION":
        return BigInt(fixedFee(table, this.instruction));
      case "ILLEGAL_STATE_CHANGE":
        return STORES.has(this.instruction) ? this.gas : this.priceIfAllowed();
      case "INSUFFICIENT_STACK_ITEMS":
      case "TOO_MANY_STACK_ITEMS":
        return this.priceBeforeStack();
      case "CODE_TOO_LARGE":
        return this.cost;
      default:
        return 0n;
    }
  }

  /** The price to report on stack underflow or overflow. */
  private priceBeforeStack(): bigint {
    if (!PRICED_BEFORE_STACK.has(this.instruction)) return 0n;
    return BigInt(fixedFee(this.run.table, this.instruction));
  }

  /** The full price of an instruction that a static call forbids: Besu computes it first. The callee counts as warm. */
  private priceIfAllowed(): bigint {
    const { accesses } = this.run;
    if (this.instruction === CALL) accesses.warm(addressOfWord(this.state.stack.at(1)));
    this.settle();
    accesses.checkpoint();
    try {
      return this.fullPrice();
    } finally {
      accesses.commit();
    }
  }

  /** What the instruction would have cost, as if it had not warmed anything yet. */
  private fullPrice(): bigint {
    const { accesses } = this.run;
    accesses.revert();
    accesses.checkpoint();
    return priceOf(this.run, this.frame, this.instruction, this.memorySize) ?? this.priceBeforeStack();
  }
}

interface Place {
  readonly at: number;
  readonly instruction: number;
  readonly isVirtual: boolean;
}

const SSTORE = 0x55;
const CALL = 0xf1;
const CALLS: ReadonlySet<number> = new Set([0xf0, 0xf5, CALL, 0xf2, 0xf4, 0xfa]);
/** SSTORE and TSTORE. */
const STORES: ReadonlySet<number> = new Set([0x55, 0x5d]);
/** Instructions whose fixed price Besu reports even on stack underflow or overflow. */
const PRICED_BEFORE_STACK: ReadonlySet<number> = new Set([
  ...[0x14, 0x1b, 0x1c, 0x1d, 0x30, 0x32, 0x33, 0x34, 0x35, 0x36, 0x38, 0x3a, 0x3d],
  ...[0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4a, 0x58, 0x59, 0x5a],
]);
const STIPEND = 2_300n;
