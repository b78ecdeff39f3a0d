import { findTargets, placeCode, prepareNext } from "../../src/evm/code.ts";
import { aligned, FIELD, FIELDS_BYTES, FRAMES, preparedBytes, STATUS } from "../../src/evm/layout.ts";
import { Machine } from "../../src/evm/machine.ts";
import type { CoreKind } from "../../src/evm/module.ts";
import { atOnce } from "../../src/primitives/steps.ts";

export interface CoreEnd {
  readonly status: number;
  readonly gas: bigint;
  /** The topmost last. */
  readonly stack: readonly bigint[];
  readonly memory: Uint8Array;
  readonly output: Uint8Array;
  /** Position of the instruction that ended the run. */
  readonly at: number;
  /** How often the core returned. */
  readonly returns: number;
}

export interface CoreStart {
  readonly gas?: bigint;
  readonly input?: Uint8Array;
  readonly missing?: Uint8Array;
  readonly stackLimit?: number;
  readonly isStatic?: boolean;
  readonly work?: number;
}

const machines = new Map<CoreKind, Machine>();

/** Runs code in the core alone, which makes room for memory as the driver does, until something else needs it. */
export function runInCore(code: Uint8Array, start: CoreStart = {}, kind: CoreKind = "plain"): CoreEnd {
  let machine = machines.get(kind);
  if (machine === undefined) {
    machine = new Machine(kind);
    machines.set(kind, machine);
  }
  const { gas = 1_000_000_000n, input = new Uint8Array(0), stackLimit = 1024 } = start;
  const fork = { name: "test", missing: start.missing ?? new Uint8Array(32), exponentGas: 50 };
  machine.begin(fork);
  const codeAt = FRAMES;
  const rawAt = codeAt + preparedBytes(code.length);
  const inputAt = aligned(rawAt + code.length);
  const at = aligned(inputAt + input.length);
  const memory = aligned(at + FIELDS_BYTES + 32 * stackLimit);
  machine.reserve(memory);
  machine.bytes.set(code, rawAt);
  machine.bytes.set(input, inputAt);
  const placed = atOnce(placeCode(machine, codeAt, code.length, rawAt));
  const isStatic = start.isStatic ?? false;
  machine.enter({ at, code: placed, stackLimit, isStatic, input: inputAt, inputSize: input.length }, memory);
  machine.setGas(at, gas);
  for (let returns = 1; ; returns++) {
    const status = machine.core.run(at, start.work ?? 1000);
    if (status === STATUS.GROW) {
      const needed = machine.field(at, FIELD.NEEDED);
      const room = machine.field(at, FIELD.ROOM);
      if (!machine.reserve(memory + needed)) throw new Error("there is no such memory");
      machine.bytes.fill(0, memory + room, memory + needed);
      machine.setField(at, FIELD.ROOM, needed);
    } else if (status === STATUS.PREPARE) prepareNext(machine, at, () => code);
    else if (status === STATUS.FIND_TARGETS) atOnce(findTargets(machine, at, () => code));
    else if (status !== STATUS.REST && status !== STATUS.STEPPED) return endOf(machine, at, status, returns);
  }
}

function endOf(machine: Machine, at: number, status: number, returns: number): CoreEnd {
  const stack: bigint[] = [];
  const top = machine.field(at, FIELD.TOP);
  for (let word = machine.field(at, FIELD.STACK); word < top; word += 32) stack.push(machine.readWord(word));
  const memory = machine.field(at, FIELD.MEMORY);
  const output = machine.field(at, FIELD.OUTPUT);
  const isOutput = status === STATUS.ENDED || status === STATUS.REVERTED;
  return {
    status,
    gas: machine.gas(at),
    stack,
    memory: machine.bytes.slice(memory, memory + machine.field(at, FIELD.MEMORY_SIZE)),
    output: machine.bytes.slice(output, output + (isOutput ? machine.field(at, FIELD.OUTPUT_SIZE) : 0)),
    at: machine.field(at, FIELD.NEXT) - machine.field(at, FIELD.CODE),
    returns,
  };
}

/** PUSH32 of a word. */
function push(word: bigint): readonly number[] {
  return [0x7f, ...Buffer.from(word.toString(16).padStart(64, "0"), "hex")];
}

/** Code that pushes words, the first of which ends on top, and performs one instruction. */
export function codeOf(instruction: number, ...operands: readonly bigint[]): Uint8Array {
  return Uint8Array.from([...operands.toReversed().flatMap(push), instruction]);
}
