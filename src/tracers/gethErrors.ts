import type { HaltReason } from "../execution/haltReason.ts";
import { type Callee, isCreation, type Step } from "../execution/observer.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { precompileErrorOf } from "./precompileErrors.ts";

/** The instruction that halted a frame, and the number of items on the stack before it. */
export interface HaltedStep {
  readonly step: Step | undefined;
  readonly stackLength: number;
}

export const NO_STEP: HaltedStep = { step: undefined, stackLength: 0 };

/** go-ethereum's text for a halt, which tools expect from its tracers. */
export function errorOf(halt: HaltReason, callee: Callee, { step, stackLength }: HaltedStep): string {
  switch (halt) {
    case "INSUFFICIENT_GAS":
      return isCreation(callee.kind) && step === undefined
        ? "contract creation code storage out of gas"
        : `out of gas${isBelowSentry(step) ? ": not enough gas for reentrancy sentry" : ""}`;
    case "INSUFFICIENT_STACK_ITEMS":
      return `stack underflow (${stackLength} <=> ${itemsNeeded(step?.instruction ?? 0)})`;
    case "TOO_MANY_STACK_ITEMS":
      return `stack limit reached ${stackLength} (1023)`;
    case "INVALID_JUMP_DESTINATION":
      return "invalid jump destination";
    case "INVALID_OPERATION":
      return `invalid opcode: ${opcodeName(step?.instruction ?? INVALID)}`;
    case "INVALID_RETURN_DATA_BUFFER_ACCESS":
      return "return data out of bounds";
    case "ILLEGAL_STATE_CHANGE":
      return step === undefined ? "contract address collision" : "write protection";
    case "CODE_TOO_LARGE":
      return step === undefined ? "max code size exceeded" : "max initcode size exceeded";
    case "INVALID_CODE":
      return "invalid code: must not begin with 0xef";
    case "PRECOMPILE_ERROR":
      return precompileErrorOf(callee.precompile ?? 0, callee.input);
  }
}

/** From Istanbul on SSTORE requires more gas left than the call stipend (EIP-2200). */
function isBelowSentry(step: Step | undefined): boolean {
  return (
    step !== undefined && step.instruction === SSTORE && step.gas <= SENTRY_GAS && step.state.isKnown(CHAINID)
  );
}

const SSTORE = 0x55;
const SENTRY_GAS = 2300n;
/** Opcode that exists since Istanbul, as the sentry does. */
const CHAINID = 0x46;

const INVALID = 0xfe;

function opcodeName(instruction: number): string {
  return instruction === INVALID ? "INVALID" : `opcode ${toQuantity(instruction)} not defined`;
}

/** Items that an instruction takes from the stack. */
function itemsNeeded(instruction: number): number {
  if (instruction >= 0x80 && instruction <= 0x8f) return instruction - 0x7f;
  if (instruction >= 0x90 && instruction <= 0x9f) return instruction - 0x8e;
  if (instruction >= 0xa0 && instruction <= 0xa4) return instruction - 0x9e;
  return NEEDED.get(instruction) ?? 0;
}

const NEEDED: ReadonlyMap<number, number> = new Map(
  (
    [
      [1, [0x15, 0x19, 0x31, 0x35, 0x3b, 0x3f, 0x40, 0x49, 0x50, 0x51, 0x54, 0x56, 0x5c, 0xff]],
      [
        2,
        [
          0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17,
          0x18,
        ],
      ],
      [2, [0x1a, 0x1b, 0x1c, 0x1d, 0x20, 0x52, 0x53, 0x55, 0x57, 0x5d, 0xf3, 0xfd]],
      [3, [0x08, 0x09, 0x37, 0x39, 0x3e, 0x5e, 0xf0]],
      [4, [0x3c, 0xf5]],
      [6, [0xf4, 0xfa]],
      [7, [0xf1, 0xf2]],
    ] as const
  ).flatMap(([count, codes]) => codes.map((code) => [code, count] as const)),
);
