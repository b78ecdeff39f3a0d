import { FIELD } from "../../evm/layout.ts";
import type { Address } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { Overlay } from "../../state/overlay.ts";
import type { FrameView, StackView } from "../observer.ts";
import type { Frame } from "./frame.ts";
import { codeOfFrame } from "./frameCode.ts";
import type { Run } from "./run.ts";

/** A frame as observers see it: reads the machine's memory at each access. */
export class MachineFrameView implements FrameView {
  readonly address: Address;
  readonly overlay: Overlay;
  readonly stack: StackView;
  readonly frame: Frame;
  private readonly run: Run;
  private ownCode: Uint8Array | undefined;
  private hasOutput = false;

  constructor(run: Run, frame: Frame) {
    this.run = run;
    this.frame = frame;
    this.address = frame.address;
    this.overlay = run.overlay;
    this.stack = new MachineStackView(run, frame);
  }

  get code(): Uint8Array {
    this.ownCode ??= this.readCode();
    return this.ownCode;
  }

  get memory(): Uint8Array {
    const { machine } = this.run;
    const from = machine.field(this.frame.at, FIELD.MEMORY);
    return machine.bytes.subarray(from, from + machine.field(this.frame.at, FIELD.MEMORY_SIZE));
  }

  get gasLeft(): bigint {
    return this.run.machine.gas(this.frame.at);
  }

  get gasRefund(): bigint {
    return BigInt(this.run.refund);
  }

  get returnBytes(): Uint8Array {
    return this.range(FIELD.RETURNED, FIELD.RETURNED_SIZE);
  }

  get output(): Uint8Array {
    return this.hasOutput ? this.range(FIELD.OUTPUT, FIELD.OUTPUT_SIZE) : EMPTY_BYTES;
  }

  isKnown(instruction: number): boolean {
    return instruction !== INVALID && this.run.table.isKnown(instruction);
  }

  precompileNumber(address: Uint8Array): number | undefined {
    return this.run.precompileNumber(address);
  }

  /** Shows the output of RETURN and REVERT. */
  showOutput(): void {
    this.hasOutput = true;
  }

  private range(position: number, size: number): Uint8Array {
    const { machine } = this.run;
    const from = machine.field(this.frame.at, position);
    return machine.bytes.slice(from, from + machine.field(this.frame.at, size));
  }

  /** Init code is copied, because memory is replaced when it grows. */
  private readCode(): Uint8Array {
    const code = codeOfFrame(this.run, this.frame);
    return this.frame.codeHash === undefined ? code.slice() : code;
  }
}

const INVALID = 0xfe;

class MachineStackView implements StackView {
  private readonly run: Run;
  private readonly frame: Frame;

  constructor(run: Run, frame: Frame) {
    this.run = run;
    this.frame = frame;
  }

  get length(): number {
    return this.run.stackSize(this.frame);
  }

  at(depth: number): bigint {
    return this.run.machine.readWord(this.run.word(this.frame, depth));
  }

  top(count: number): readonly bigint[] {
    return Array.from({ length: count }, (_, index) => this.at(count - 1 - index));
  }

  bytes(): Uint8Array {
    const { machine } = this.run;
    const bottom = machine.field(this.frame.at, FIELD.STACK);
    // Words lie with their lowest byte first.
    return machine.bytes.slice(bottom, bottom + 32 * this.length).reverse();
  }
}
