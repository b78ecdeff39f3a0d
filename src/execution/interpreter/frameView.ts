import { FIELD } from "../../evm/layout.ts";
import type { Address } from "../../primitives/address.ts";
import type { Overlay } from "../../state/overlay.ts";
import type { FrameView } from "../observer.ts";
import type { Frame } from "./frame.ts";
import type { Run } from "./run.ts";

/** What observers see of a frame: reads the machine's memory at each access. */
export class MachineFrameView implements FrameView {
  readonly stack: StackView;
  readonly env: { readonly address: { readonly bytes: Address }; readonly code: Uint8Array };
  readonly evm: FrameView["evm"];
  readonly interpreter: { readonly _result: { returnValue: Uint8Array | undefined } } = {
    _result: { returnValue: undefined },
  };
  readonly memory: { readonly _store: Uint8Array };
  private readonly run: Run;
  private readonly at: number;

  constructor(run: Run, frame: Frame) {
    this.run = run;
    this.at = frame.at;
    this.stack = new StackView(run, frame);
    this.env = new Environment(run, frame);
    this.memory = new MemoryView(run, frame);
    this.evm = {
      overlay: run.overlay as Overlay,
      isKnown: (instruction) => instruction !== INVALID && run.table.isKnown(instruction),
      precompileNumber: (address) => run.precompileNumber(address),
    };
  }

  get memoryWords(): number {
    return this.run.machine.field(this.at, FIELD.MEMORY_SIZE) / 32;
  }

  get gasLeft(): bigint {
    return this.run.machine.gas(this.at);
  }

  get gasRefund(): bigint {
    return BigInt(this.run.refund);
  }

  get returnBytes(): Uint8Array {
    return rangeOf(this.run, this.at, FIELD.RETURNED, FIELD.RETURNED_SIZE);
  }

  /** Shows the output of RETURN and REVERT. */
  showOutput(): void {
    this.interpreter._result.returnValue = rangeOf(this.run, this.at, FIELD.OUTPUT, FIELD.OUTPUT_SIZE);
  }
}

const INVALID = 0xfe;

function rangeOf({ machine }: Run, frame: number, position: number, size: number): Uint8Array {
  const from = machine.field(frame, position);
  return machine.bytes.slice(from, from + machine.field(frame, size));
}

class StackView {
  private readonly run: Run;
  private readonly frame: Frame;

  constructor(run: Run, frame: Frame) {
    this.run = run;
    this.frame = frame;
  }

  get length(): number {
    return this.run.stackSize(this.frame);
  }

  get items(): readonly bigint[] {
    const { machine } = this.run;
    const { length } = this;
    const bottom = machine.field(this.frame.at, FIELD.STACK);
    const items = new Array<bigint>(length);
    for (let n = 0; n < length; n++) items[n] = machine.readWord(bottom + 32 * n);
    return items;
  }

  at(depth: number): bigint {
    return this.run.machine.readWord(this.run.word(this.frame, depth));
  }
}

class MemoryView {
  private readonly run: Run;
  private readonly frame: number;

  constructor(run: Run, { at }: Frame) {
    this.run = run;
    this.frame = at;
  }

  get _store(): Uint8Array {
    const { machine } = this.run;
    const from = machine.field(this.frame, FIELD.MEMORY);
    return machine.bytes.subarray(from, from + machine.field(this.frame, FIELD.MEMORY_SIZE));
  }
}

class Environment {
  readonly address: { readonly bytes: Address };
  private readonly run: Run;
  private readonly frame: Frame;
  private ownCode: Uint8Array | undefined;

  constructor(run: Run, frame: Frame) {
    this.run = run;
    this.frame = frame;
    this.address = { bytes: frame.address };
  }

  get code(): Uint8Array {
    this.ownCode ??= this.readCode();
    return this.ownCode;
  }

  private readCode(): Uint8Array {
    const { overlay, machine } = this.run;
    const { codeHash, kind, input, inputSize } = this.frame;
    if (codeHash !== undefined) return overlay.code(codeHash);
    return kind === "create" ? machine.bytes.slice(input, input + inputSize) : new Uint8Array(0);
  }
}
