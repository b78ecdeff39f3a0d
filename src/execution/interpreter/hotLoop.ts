import { EVMError } from "@ethereumjs/evm";
import type { FrameState } from "./frame.ts";
import type { QuickTable } from "./instruction.ts";
import { expansionGas } from "./memoryGas.ts";

/** The instructions that nothing is ever waited for in, as tables over the code of an instruction. */
export interface HotTables {
  /** The instruction itself where the loop below performs it, CALL_QUICK where `quick` does, else LEAVE. */
  readonly actions: Uint8Array;
  /** Charged before anything else. */
  readonly fees: Uint32Array;
  /** Words that must lie on the stack. */
  readonly needs: Uint8Array;
  readonly quick: QuickTable;
}

/** Why the loop came back. */
export type Pause = "ended" | "anotherInstruction" | "rest";

export const CALL_QUICK = 0xfc;
export const LEAVE = 0xfe;
/** A look at the clock takes as long as an instruction. */
const JUMPS_PER_LOOK = 32;
const ALL_ONES = 2n ** 256n - 1n;

/**
 * Runs a frame until it ends, meets an instruction that is the library's, or should let others have the thread. Throws
 * EVMError to halt.
 *
 * One long switch over local variables, because that is what the compiler makes fast: a table of functions over the
 * frame's fields takes three times as long. The frame's fields are brought up to date wherever others look at them.
 */
export function runHot(state: FrameState, { actions, fees, needs, quick }: HotTables): Pause {
  const { code, stack, memory, analysis, evm } = state;
  const { items, limit } = stack;
  const { jumpTargets, pushed } = analysis;
  const end = code.length;
  let at = state.programCounter;
  let gas = state.gas;
  let top = stack.length;

  while (at < end) {
    const instruction = code[at] as number;
    const action = actions[instruction] as number;
    if (action === LEAVE) {
      keep(state, at, gas, top);
      return "anotherInstruction";
    }
    gas -= fees[instruction] as number;
    if (gas < 0) {
      state.gas = gas;
      gas = state.drawOnReserve();
    }
    if (top < (needs[instruction] as number)) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
    at++;
    switch (action) {
      case CALL_QUICK:
        keep(state, at, gas, top);
        quick[instruction]?.(state);
        if (state.isStopped) return "ended";
        gas = state.gas;
        top = stack.length;
        break;
      case 0x01: // ADD
        top--;
        items[top - 1] = BigInt.asUintN(256, (items[top] as bigint) + (items[top - 1] as bigint));
        break;
      case 0x02: // MUL
        top--;
        items[top - 1] = BigInt.asUintN(256, (items[top] as bigint) * (items[top - 1] as bigint));
        break;
      case 0x03: // SUB
        top--;
        items[top - 1] = BigInt.asUintN(256, (items[top] as bigint) - (items[top - 1] as bigint));
        break;
      case 0x04: // DIV
        top--;
        items[top - 1] = items[top - 1] === 0n ? 0n : (items[top] as bigint) / (items[top - 1] as bigint);
        break;
      case 0x05: // SDIV
        top--;
        items[top - 1] =
          items[top - 1] === 0n
            ? 0n
            : BigInt.asUintN(256, signed(items[top] as bigint) / signed(items[top - 1] as bigint));
        break;
      case 0x06: // MOD
        top--;
        items[top - 1] = items[top - 1] === 0n ? 0n : (items[top] as bigint) % (items[top - 1] as bigint);
        break;
      case 0x07: // SMOD
        top--;
        items[top - 1] =
          items[top - 1] === 0n
            ? 0n
            : BigInt.asUintN(256, signed(items[top] as bigint) % signed(items[top - 1] as bigint));
        break;
      case 0x08: {
        // ADDMOD
        top -= 2;
        const modulus = items[top - 1] as bigint;
        items[top - 1] =
          modulus === 0n ? 0n : ((items[top + 1] as bigint) + (items[top] as bigint)) % modulus;
        break;
      }
      case 0x09: {
        // MULMOD
        top -= 2;
        const modulus = items[top - 1] as bigint;
        items[top - 1] =
          modulus === 0n ? 0n : ((items[top + 1] as bigint) * (items[top] as bigint)) % modulus;
        break;
      }
      case 0x0b: {
        // SIGNEXTEND
        top--;
        const last = items[top] as bigint;
        if (last < 31n)
          items[top - 1] = BigInt.asUintN(
            256,
            BigInt.asIntN(8 * (Number(last) + 1), items[top - 1] as bigint),
          );
        break;
      }
      case 0x10: // LT
        top--;
        items[top - 1] = (items[top] as bigint) < (items[top - 1] as bigint) ? 1n : 0n;
        break;
      case 0x11: // GT
        top--;
        items[top - 1] = (items[top] as bigint) > (items[top - 1] as bigint) ? 1n : 0n;
        break;
      case 0x12: // SLT
        top--;
        items[top - 1] = signed(items[top] as bigint) < signed(items[top - 1] as bigint) ? 1n : 0n;
        break;
      case 0x13: // SGT
        top--;
        items[top - 1] = signed(items[top] as bigint) > signed(items[top - 1] as bigint) ? 1n : 0n;
        break;
      case 0x14: // EQ
        top--;
        items[top - 1] = items[top] === items[top - 1] ? 1n : 0n;
        break;
      case 0x15: // ISZERO
        items[top - 1] = items[top - 1] === 0n ? 1n : 0n;
        break;
      case 0x16: // AND
        top--;
        items[top - 1] = (items[top] as bigint) & (items[top - 1] as bigint);
        break;
      case 0x17: // OR
        top--;
        items[top - 1] = (items[top] as bigint) | (items[top - 1] as bigint);
        break;
      case 0x18: // XOR
        top--;
        items[top - 1] = (items[top] as bigint) ^ (items[top - 1] as bigint);
        break;
      case 0x19: // NOT
        items[top - 1] = ALL_ONES - (items[top - 1] as bigint);
        break;
      case 0x1a: {
        // BYTE
        top--;
        const place = items[top] as bigint;
        items[top - 1] = place > 31n ? 0n : ((items[top - 1] as bigint) >> (8n * (31n - place))) & 0xffn;
        break;
      }
      case 0x1b: {
        // SHL
        top--;
        const shift = items[top] as bigint;
        items[top - 1] = shift > 255n ? 0n : BigInt.asUintN(256, (items[top - 1] as bigint) << shift);
        break;
      }
      case 0x1c: {
        // SHR
        top--;
        const shift = items[top] as bigint;
        items[top - 1] = shift > 255n ? 0n : (items[top - 1] as bigint) >> shift;
        break;
      }
      case 0x1d: {
        // SAR
        top--;
        const shift = items[top] as bigint;
        const value = signed(items[top - 1] as bigint);
        items[top - 1] = BigInt.asUintN(256, value >> (shift > 255n ? 255n : shift));
        break;
      }
      case 0x50: // POP
        top--;
        break;
      case 0x51: {
        // MLOAD
        const offset = items[top - 1] as bigint;
        gas = afterGrowth(state, gas, offset);
        items[top - 1] = memory.readWord(Number(offset));
        break;
      }
      case 0x52: {
        // MSTORE
        top -= 2;
        const offset = items[top + 1] as bigint;
        gas = afterGrowth(state, gas, offset);
        memory.writeWord(Number(offset), items[top] as bigint);
        break;
      }
      case 0x56: // JUMP
        at = jumpTarget(jumpTargets, items[--top] as bigint);
        break;
      case 0x57: // JUMPI
        top -= 2;
        if (items[top] !== 0n) at = jumpTarget(jumpTargets, items[top + 1] as bigint);
        break;
      case 0x5b: // JUMPDEST: all loops pass one
        if (++state.jumps % JUMPS_PER_LOOK === 0 && evm.pace.isDue()) {
          keep(state, at, gas, top);
          return "rest";
        }
        break;
      case 0x5f: // PUSH0
        if (top >= limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
        items[top++] = 0n;
        break;
      default:
        if (action < 0x80) {
          // PUSH1 to PUSH32
          if (top >= limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
          items[top++] = pushed[at - 1] as bigint;
          at += action - 0x5f;
        } else if (action < 0x90) {
          // DUP1 to DUP16
          if (top >= limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
          items[top] = items[top - (action - 0x7f)] as bigint;
          top++;
        } else {
          // SWAP1 to SWAP16
          const other = top - 1 - (action - 0x8f);
          const item = items[top - 1] as bigint;
          items[top - 1] = items[other] as bigint;
          items[other] = item;
        }
    }
  }
  keep(state, at, gas, top);
  return "ended";
}

/** Tables of the instructions that this loop performs itself, for a fork that has those in `fees`. */
export function hotTables(quick: QuickTable, feeOf: (code: number) => number | undefined): HotTables {
  const actions = new Uint8Array(256).fill(LEAVE);
  const fees = new Uint32Array(256);
  const needs = new Uint8Array(256);
  for (let code = 0; code < 256; code++) {
    const fee = feeOf(code);
    if (fee === undefined) continue;
    const needed = wordsNeeded(code);
    if (quick[code] !== undefined) actions[code] = CALL_QUICK;
    else if (needed !== undefined) {
      actions[code] = code;
      fees[code] = fee;
      needs[code] = needed;
    }
  }
  return { actions, fees, needs, quick };
}

/** Words that an instruction of the loop finds on the stack; undefined for one that is not of it. */
function wordsNeeded(code: number): number | undefined {
  if (code >= 0x60 && code <= 0x7f) return 0;
  if (code >= 0x80 && code <= 0x8f) return code - 0x7f;
  if (code >= 0x90 && code <= 0x9f) return code - 0x8e;
  return WORDS_NEEDED.get(code);
}

const WORDS_NEEDED: ReadonlyMap<number, number> = new Map([
  ...[0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07].map((code) => [code, 2] as const),
  ...[0x08, 0x09].map((code) => [code, 3] as const),
  ...[0x0b, 0x10, 0x11, 0x12, 0x13, 0x14].map((code) => [code, 2] as const),
  ...[0x15, 0x19, 0x50, 0x51, 0x56].map((code) => [code, 1] as const),
  ...[0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c, 0x1d, 0x52, 0x57].map((code) => [code, 2] as const),
  ...[0x5b, 0x5f].map((code) => [code, 0] as const),
]);

function keep(state: FrameState, at: number, gas: number, top: number): void {
  state.programCounter = at;
  state.gas = gas;
  state.stack.length = top;
}

/** Gas that is left once memory reaches as far as a word at `offset`. */
function afterGrowth(state: FrameState, gas: number, offset: bigint): number {
  const growth = expansionGas(state, offset, 32n);
  if (growth === 0) return gas;
  state.gas = gas;
  state.charge(growth);
  return state.gas;
}

function jumpTarget(jumpTargets: Uint8Array, target: bigint): number {
  const place = target < jumpTargets.length ? Number(target) : -1;
  if (jumpTargets[place] !== 1) throw new EVMError(EVMError.errorMessages.INVALID_JUMP);
  return place;
}

function signed(word: bigint): bigint {
  return BigInt.asIntN(256, word);
}
