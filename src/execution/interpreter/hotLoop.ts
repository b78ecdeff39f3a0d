import { EVMError } from "@ethereumjs/evm";
import type { CodeAnalysis } from "./analysis.ts";
import type { FrameState } from "./frame.ts";
import { CALL_QUICK, type HotTables, LEAVE } from "./hotTables.ts";
import { expansionGas } from "./memoryGas.ts";
import { BYTE_WORDS, longWord, pairWord } from "./pushedWords.ts";

/** Reason why the loop returned. */
export type Pause = "ended" | "anotherInstruction" | "yield" | "longWork";

/** A check of the clock takes as long as an instruction. */
const JUMPS_PER_CHECK = 32;
const ALL_ONES = 2n ** 256n - 1n;

/**
 * Runs a frame until it ends, reaches an instruction of the library, or should yield. Throws EVMError to halt.
 *
 * One long switch over local variables, because the compiler makes that fast: a table of functions over the frame's
 * fields takes three times as long. The frame's fields are updated before anything else reads them.
 */
export function runHot(state: FrameState, { actions, fees, needs, quick }: HotTables): Pause {
  const { code, stack, memory, analysis, evm } = state;
  const { items, limit } = stack;
  // PUSH data always comes from the full code, even if `code` is a mask of it.
  const pushed = state.env.code;
  const end = code.length;
  let at = state.programCounter;
  let gas = state.gas;
  let top = stack.length;

  while (at < end) {
    const instruction = code[at] as number;
    const action = actions[instruction] as number;
    if (action === LEAVE) {
      saveTo(state, at, gas, top);
      return "anotherInstruction";
    }
    gas -= fees[instruction] as number;
    if (gas < 0) {
      state.gas = gas;
      gas = state.drawOnReserve();
      state.interruption = undefined;
      if (evm.yieldPolicy.isDue()) {
        saveTo(state, at, gas + (fees[instruction] as number), top);
        return "yield";
      }
    }
    if (top < (needs[instruction] as number)) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
    at++;
    switch (action) {
      case CALL_QUICK:
        saveTo(state, at, gas, top);
        quick[instruction]?.(state);
        if (state.interruption !== undefined) {
          const pause = pauseFor(state);
          if (pause !== undefined) return pause;
        }
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
        const index = items[top] as bigint;
        items[top - 1] = index > 31n ? 0n : ((items[top - 1] as bigint) >> (8n * (31n - index))) & 0xffn;
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
        const growth = expansionGas(state, offset, 32n);
        if (growth > 0) {
          gas = afterGrowth(state, gas, growth);
          if (memory.growsSlowly(Number(offset) + 32)) {
            saveTo(state, at, gas, top);
            loadSlowly(state, Number(offset));
            return "longWork";
          }
        }
        items[top - 1] = memory.readWord(Number(offset));
        break;
      }
      case 0x52: {
        // MSTORE
        top -= 2;
        const offset = items[top + 1] as bigint;
        const growth = expansionGas(state, offset, 32n);
        if (growth > 0) {
          gas = afterGrowth(state, gas, growth);
          if (memory.growsSlowly(Number(offset) + 32)) {
            saveTo(state, at, gas, top);
            storeSlowly(state, Number(offset), items[top] as bigint);
            return "longWork";
          }
        }
        memory.writeWord(Number(offset), items[top] as bigint);
        break;
      }
      case 0x56: // JUMP
        at = jumpTarget(analysis, pushed, items[--top] as bigint);
        break;
      case 0x57: // JUMPI
        top -= 2;
        if (items[top] !== 0n) at = jumpTarget(analysis, pushed, items[top + 1] as bigint);
        break;
      case 0x5b: // JUMPDEST: every loop passes one
        if (++state.jumps % JUMPS_PER_CHECK === 0 && evm.yieldPolicy.isDue()) {
          saveTo(state, at, gas, top);
          return "yield";
        }
        break;
      case 0x5f: // PUSH0
        if (top >= limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
        items[top++] = 0n;
        break;
      case 0x60: // PUSH1
        if (top >= limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
        items[top++] = at < end ? (BYTE_WORDS[pushed[at] as number] as bigint) : 0n;
        at++;
        break;
      case 0x61: // PUSH2
        if (top >= limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
        items[top++] = pairWord(((pushed[at] ?? 0) << 8) | (pushed[at + 1] ?? 0));
        at += 2;
        break;
      default:
        if (action < 0x80) {
          // PUSH3 to PUSH32
          if (top >= limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
          items[top++] = longWord(analysis.id, pushed, at, action - 0x5f);
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
  saveTo(state, at, gas, top);
  return "ended";
}

function saveTo(state: FrameState, at: number, gas: number, top: number): void {
  state.programCounter = at;
  state.gas = gas;
  state.stack.length = top;
}

/** The reason to return after an instruction interrupted the loop; undefined if the loop may continue. */
function pauseFor(state: FrameState): Pause | undefined {
  const { interruption } = state;
  if (interruption !== "clockCheck") return interruption;
  state.interruption = undefined;
  return state.evm.yieldPolicy.isDue() ? "yield" : undefined;
}

/** Charges for the growth of memory and returns the remaining gas. */
function afterGrowth(state: FrameState, gas: number, growth: number): number {
  state.gas = gas;
  state.charge(growth);
  return state.gas;
}

function loadSlowly(state: FrameState, offset: number): void {
  const { memory, stack, evm } = state;
  state.defer(async () => {
    await memory.extendInSlices(offset + 32, evm.yieldPolicy);
    stack.replace(1, memory.readWord(offset));
  });
}

function storeSlowly(state: FrameState, offset: number, word: bigint): void {
  const { memory, evm } = state;
  state.defer(async () => {
    await memory.extendInSlices(offset + 32, evm.yieldPolicy);
    memory.writeWord(offset, word);
  });
}

function jumpTarget(analysis: CodeAnalysis, code: Uint8Array, target: bigint): number {
  const position = target < code.length ? Number(target) : -1;
  if (position < 0 || !analysis.isJumpTarget(code, position))
    throw new EVMError(EVMError.errorMessages.INVALID_JUMP);
  return position;
}

function signed(word: bigint): bigint {
  return BigInt.asIntN(256, word);
}
