import { addModulo, divide, divideSigned, modulo, moduloSigned, multiplyModulo } from "./divide";
import { extend, fault, halt, missed, save, unextended } from "./frame";
import { keccak } from "./keccak";
import {
  ADDRESS,
  BAD_JUMP,
  CALLER,
  CODE,
  CODE_SIZE,
  COPIED,
  ENDED,
  ENVIRONMENT,
  EXPONENT_GAS,
  GAS,
  INPUT,
  INPUT_SIZE,
  INVALID,
  IS_STATIC,
  LEAVE,
  LEFT,
  LONG,
  LONG_BYTES,
  MEMORY,
  MEMORY_SIZE,
  NEXT,
  OUT_OF_BOUNDS,
  OUT_OF_GAS,
  OUTPUT,
  OUTPUT_SIZE,
  PREPARE,
  RAW_CODE,
  REST,
  RETURNED,
  RETURNED_SIZE,
  REVERTED,
  SCRATCH,
  STACK,
  STACK_END,
  STATIC_CHANGE,
  STEPPED,
  STOPPED,
  TARGET,
  TARGETS,
  TOP,
  UNDERFLOW,
  UNPREPARED,
  VALUE,
  ZEROS,
} from "./layout";
import { STEPS } from "./mode";
import { multiply } from "./multiply";
import { bitLength, power } from "./power";
import {
  add,
  copyWord,
  extendSign,
  isBelow,
  isSignedBelow,
  isSmall,
  isZero,
  setSmall,
  shiftLeft,
  shiftRight,
  sizeOf,
  subtract,
  swapWords,
  turnWord,
} from "./words";

/** Gas of a log that no gas pays for. Taken once for an instruction. */
const TOO_MUCH: i64 = 1 << 62;
/** A log of so many bytes: the price of its memory alone is more than 63 bits hold. */
const UNPAYABLE_BYTES: u64 = 1 << 41;

/** Rounds up to words, and multiplies by a price of at most six; a size is at most 2^62 (sizeOf). */
// @ts-ignore: decorator
@inline
function wordGas(bytes: u64, price: i64): i64 {
  return price * i64((bytes + 31) >> 5);
}

/** The bytes of `source` from a position on as a word; zeros follow them. */
function loadInput(to: usize, source: usize, size: u64, from: u64): void {
  if (from + 32 <= size) {
    turnWord(to, source + usize(from));
    return;
  }
  setSmall(SCRATCH, 0);
  if (from < size) memory.copy(SCRATCH, source + usize(from), usize(size - from));
  turnWord(to, SCRATCH);
}

/** Copies to memory that is paid for; 0 if the driver has to, because it takes long. */
function copyTo(f: usize, to: usize, source: usize, sourceSize: u64, from: u64, size: u64): i32 {
  const start = min(from, sourceSize);
  const copied = min(size, sourceSize - start);
  if (size > LONG_BYTES) {
    store<usize>(f, source + usize(start), OUTPUT);
    store<usize>(f, to, TARGET);
    store<u32>(f, u32(copied), COPIED);
    store<u32>(f, u32(size - copied), ZEROS);
    return 0;
  }
  memory.copy(to, source + usize(start), usize(copied));
  memory.fill(to + usize(copied), 0, usize(size - copied));
  return 1;
}

/**
 * Runs a frame until it ends, an instruction needs the driver, or `work` is used up: one for each jump target passed,
 * more for slow instructions. One switch over locals with all prices in it, because tables make it slower.
 *
 * Where both the price and the stack are short, instructions with a fixed price run out of gas, and the others lack
 * words.
 */
export function run(f: usize, work: i32): i32 {
  const code = load<usize>(f, CODE);
  const stack = load<usize>(f, STACK);
  const full = load<usize>(f, STACK_END);
  const data = load<usize>(f, MEMORY);
  let next = load<usize>(f, NEXT);
  let top = load<usize>(f, TOP);
  let gas = load<i64>(f, GAS);
  let isFirst = true;
  for (;;) {
    if (STEPS) {
      if (!isFirst) {
        save(f, next, top, gas);
        return STEPPED;
      }
      isFirst = false;
    }
    const op = load<u8>(next);
    next++;
    switch (op) {
      case 0x00: // STOP
        save(f, next - 1, top, gas);
        return STOPPED;
      case 0x01: {
        // ADD
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        add(top - 32, top, top - 32);
        break;
      }
      case 0x02: {
        // MUL
        gas -= 5;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        multiply(top - 32, top, top - 32);
        break;
      }
      case 0x03: {
        // SUB
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        subtract(top - 32, top, top - 32);
        break;
      }
      case 0x04: {
        // DIV
        gas -= 5;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        divide(top - 32, top, top - 32);
        break;
      }
      case 0x05: {
        // SDIV
        gas -= 5;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        divideSigned(top - 32, top, top - 32);
        break;
      }
      case 0x06: {
        // MOD
        gas -= 5;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        modulo(top - 32, top, top - 32);
        break;
      }
      case 0x07: {
        // SMOD
        gas -= 5;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        moduloSigned(top - 32, top, top - 32);
        break;
      }
      case 0x08: {
        // ADDMOD
        gas -= 8;
        if (i32(gas < 0) | i32(top - stack < 96)) return fault(f, next, top, gas, 3);
        top -= 64;
        addModulo(top - 32, top + 32, top, top - 32);
        break;
      }
      case 0x09: {
        // MULMOD
        gas -= 8;
        if (i32(gas < 0) | i32(top - stack < 96)) return fault(f, next, top, gas, 3);
        top -= 64;
        multiplyModulo(top - 32, top + 32, top, top - 32);
        break;
      }
      case 0x0a: {
        // EXP
        if (top - stack < 64) return halt(f, next, top, UNDERFLOW);
        const bits = bitLength(top - 64);
        gas -= 10 + i64(load<u32>(f, EXPONENT_GAS)) * i64((bits + 7) >> 3);
        if (gas < 0) return halt(f, next, top, OUT_OF_GAS);
        power(top - 64, top - 32, top - 64, bits);
        top -= 32;
        work -= 4;
        if (work < 0) {
          save(f, next, top, gas);
          return REST;
        }
        break;
      }
      case 0x0b: {
        // SIGNEXTEND
        gas -= 5;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        const k = load<u64>(top - 32);
        if (isSmall(top - 32) && k < 31) extendSign(top - 64, k);
        top -= 32;
        break;
      }
      case UNPREPARED:
        save(f, next - 1, top, gas);
        return PREPARE;
      case 0x10: {
        // LT
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        setSmall(top - 32, u64(isBelow(top, top - 32)));
        break;
      }
      case 0x11: {
        // GT
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        setSmall(top - 32, u64(isBelow(top - 32, top)));
        break;
      }
      case 0x12: {
        // SLT
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        setSmall(top - 32, u64(isSignedBelow(top, top - 32)));
        break;
      }
      case 0x13: {
        // SGT
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        setSmall(top - 32, u64(isSignedBelow(top - 32, top)));
        break;
      }
      case 0x14: {
        // EQ
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        const difference =
          (load<u64>(top - 32) ^ load<u64>(top)) |
          (load<u64>(top - 32, 8) ^ load<u64>(top, 8)) |
          (load<u64>(top - 32, 16) ^ load<u64>(top, 16)) |
          (load<u64>(top - 32, 24) ^ load<u64>(top, 24));
        setSmall(top - 32, u64(difference == 0));
        break;
      }
      case 0x15: {
        // ISZERO
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 32)) return fault(f, next, top, gas, 1);
        setSmall(top - 32, u64(isZero(top - 32)));
        break;
      }
      case 0x16: {
        // AND
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        const p = top - 32;
        store<u64>(p, load<u64>(p, 0) & load<u64>(p, 32), 0);
        store<u64>(p, load<u64>(p, 8) & load<u64>(p, 40), 8);
        store<u64>(p, load<u64>(p, 16) & load<u64>(p, 48), 16);
        store<u64>(p, load<u64>(p, 24) & load<u64>(p, 56), 24);
        break;
      }
      case 0x17: {
        // OR
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        const p = top - 32;
        store<u64>(p, load<u64>(p, 0) | load<u64>(p, 32), 0);
        store<u64>(p, load<u64>(p, 8) | load<u64>(p, 40), 8);
        store<u64>(p, load<u64>(p, 16) | load<u64>(p, 48), 16);
        store<u64>(p, load<u64>(p, 24) | load<u64>(p, 56), 24);
        break;
      }
      case 0x18: {
        // XOR
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        top -= 32;
        const p = top - 32;
        store<u64>(p, load<u64>(p, 0) ^ load<u64>(p, 32), 0);
        store<u64>(p, load<u64>(p, 8) ^ load<u64>(p, 40), 8);
        store<u64>(p, load<u64>(p, 16) ^ load<u64>(p, 48), 16);
        store<u64>(p, load<u64>(p, 24) ^ load<u64>(p, 56), 24);
        break;
      }
      case 0x19: {
        // NOT
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 32)) return fault(f, next, top, gas, 1);
        const p = top - 32;
        store<u64>(p, ~load<u64>(p, 0), 0);
        store<u64>(p, ~load<u64>(p, 8), 8);
        store<u64>(p, ~load<u64>(p, 16), 16);
        store<u64>(p, ~load<u64>(p, 24), 24);
        break;
      }
      case 0x1a: {
        // BYTE
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        const k = load<u64>(top - 32);
        const isInside = isSmall(top - 32) && k < 32;
        top -= 32;
        setSmall(top - 32, isInside ? u64(load<u8>(top - 1 - usize(k))) : 0);
        break;
      }
      case 0x1b: {
        // SHL
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        const by = load<u64>(top - 32);
        const isInside = isSmall(top - 32) && by < 256;
        top -= 32;
        if (isInside) shiftLeft(top - 32, i32(by));
        else setSmall(top - 32, 0);
        break;
      }
      case 0x1c: {
        // SHR
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        const by = load<u64>(top - 32);
        const isInside = isSmall(top - 32) && by < 256;
        top -= 32;
        if (isInside) shiftRight(top - 32, i32(by), 0);
        else setSmall(top - 32, 0);
        break;
      }
      case 0x1d: {
        // SAR
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        const by = load<u64>(top - 32);
        const isInside = isSmall(top - 32) && by < 256;
        top -= 32;
        shiftRight(top - 32, isInside ? i32(by) : 256, u64(load<i64>(top - 32, 24) >> 63));
        break;
      }
      case 0x20: {
        // KECCAK256
        if (top - stack < 64) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 32);
        const size = sizeOf(top - 64);
        gas -= 30 + wordGas(size, 6);
        if (gas >= 0) gas = extend(f, gas, offset, size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        top -= 32;
        if (size > LONG_BYTES) {
          store<u8>(f, op, LEFT);
          store<usize>(f, data + usize(offset), OUTPUT);
          store<u32>(f, u32(size), OUTPUT_SIZE);
          save(f, next, top, gas);
          return LONG;
        }
        keccak(top - 32, data + usize(size == 0 ? 0 : offset), usize(size));
        work -= 1 + i32(size >> 8);
        if (work < 0) {
          save(f, next, top, gas);
          return REST;
        }
        break;
      }
      case 0x30: {
        // ADDRESS
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        copyWord(top, f + ADDRESS);
        top += 32;
        break;
      }
      case 0x32: {
        // ORIGIN
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        copyWord(top, ENVIRONMENT);
        top += 32;
        break;
      }
      case 0x33: {
        // CALLER
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        copyWord(top, f + CALLER);
        top += 32;
        break;
      }
      case 0x34: {
        // CALLVALUE
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        copyWord(top, f + VALUE);
        top += 32;
        break;
      }
      case 0x35: {
        // CALLDATALOAD
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 32)) return fault(f, next, top, gas, 1);
        loadInput(top - 32, load<usize>(f, INPUT), u64(load<u32>(f, INPUT_SIZE)), sizeOf(top - 32));
        break;
      }
      case 0x36: {
        // CALLDATASIZE
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(load<u32>(f, INPUT_SIZE)));
        top += 32;
        break;
      }
      case 0x37: {
        // CALLDATACOPY
        if (top - stack < 96) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 32);
        const from = sizeOf(top - 64);
        const size = sizeOf(top - 96);
        gas -= 3 + wordGas(size, 3);
        if (gas >= 0) gas = extend(f, gas, offset, size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        top -= 96;
        if (size == 0) break;
        if (copyTo(f, data + usize(offset), load<usize>(f, INPUT), u64(load<u32>(f, INPUT_SIZE)), from, size) == 0) {
          store<u8>(f, op, LEFT);
          save(f, next, top, gas);
          return LONG;
        }
        work -= i32(size >> 12);
        if (work < 0) {
          save(f, next, top, gas);
          return REST;
        }
        break;
      }
      case 0x38: {
        // CODESIZE
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(load<u32>(f, CODE_SIZE)));
        top += 32;
        break;
      }
      case 0x39: {
        // CODECOPY
        if (top - stack < 96) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 32);
        const from = sizeOf(top - 64);
        const size = sizeOf(top - 96);
        gas -= 3 + wordGas(size, 3);
        if (gas >= 0) gas = extend(f, gas, offset, size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        if (size != 0 && load<usize>(f, RAW_CODE) == 0) {
          store<u8>(f, op, LEFT);
          save(f, next, top, gas);
          return LEAVE;
        }
        top -= 96;
        if (size == 0) break;
        if (copyTo(f, data + usize(offset), load<usize>(f, RAW_CODE), u64(load<u32>(f, CODE_SIZE)), from, size) == 0) {
          store<u8>(f, op, LEFT);
          save(f, next, top, gas);
          return LONG;
        }
        work -= i32(size >> 12);
        if (work < 0) {
          save(f, next, top, gas);
          return REST;
        }
        break;
      }
      case 0x3a: {
        // GASPRICE
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        copyWord(top, ENVIRONMENT + 32);
        top += 32;
        break;
      }
      case 0x3d: {
        // RETURNDATASIZE
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(load<u32>(f, RETURNED_SIZE)));
        top += 32;
        break;
      }
      case 0x3e: {
        // RETURNDATACOPY
        if (top - stack < 96) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 32);
        const from = sizeOf(top - 64);
        const size = sizeOf(top - 96);
        if (from + size > u64(load<u32>(f, RETURNED_SIZE))) return halt(f, next, top, OUT_OF_BOUNDS);
        gas -= 3 + wordGas(size, 3);
        if (gas >= 0) gas = extend(f, gas, offset, size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        top -= 96;
        if (size == 0) break;
        if (copyTo(f, data + usize(offset), load<usize>(f, RETURNED), u64(load<u32>(f, RETURNED_SIZE)), from, size) == 0) {
          store<u8>(f, op, LEFT);
          save(f, next, top, gas);
          return LONG;
        }
        work -= i32(size >> 12);
        if (work < 0) {
          save(f, next, top, gas);
          return REST;
        }
        break;
      }
      // COINBASE, TIMESTAMP, NUMBER, DIFFICULTY or PREVRANDAO, GASLIMIT, CHAINID, BASEFEE and BLOBBASEFEE
      case 0x41:
      case 0x42:
      case 0x43:
      case 0x44:
      case 0x45:
      case 0x46:
      case 0x48:
      case 0x4a: {
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        copyWord(top, ENVIRONMENT + 32 * (usize(op) - 0x3f));
        top += 32;
        break;
      }
      case 0x49: {
        // BLOBHASH: the driver has the hashes, of which there are mostly none
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 32)) return fault(f, next, top, gas, 1);
        if (isSmall(top - 32) && load<u64>(top - 32) < load<u64>(ENVIRONMENT + 32 * 10)) {
          store<u8>(f, op, LEFT);
          save(f, next, top, gas);
          return LEAVE;
        }
        setSmall(top - 32, 0);
        break;
      }
      case 0x50: {
        // POP
        gas -= 2;
        if (i32(gas < 0) | i32(top - stack < 32)) return fault(f, next, top, gas, 1);
        top -= 32;
        break;
      }
      case 0x51: {
        // MLOAD
        const before = gas;
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 32)) return fault(f, next, top, gas, 1);
        const offset = sizeOf(top - 32);
        gas = extend(f, gas, offset, 32);
        if (gas < 0) return unextended(f, next, top, gas, before);
        turnWord(top - 32, data + usize(offset));
        break;
      }
      case 0x52: {
        // MSTORE
        const before = gas;
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        const offset = sizeOf(top - 32);
        gas = extend(f, gas, offset, 32);
        if (gas < 0) return unextended(f, next, top, gas, before);
        turnWord(data + usize(offset), top - 64);
        top -= 64;
        break;
      }
      case 0x53: {
        // MSTORE8
        if (top - stack < 64) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 32);
        gas -= 3;
        if (gas >= 0) gas = extend(f, gas, offset, 1);
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<u8>(data + usize(offset), load<u8>(top - 64));
        top -= 64;
        break;
      }
      case 0x56: {
        // JUMP
        gas -= 8;
        if (i32(gas < 0) | i32(top - stack < 32)) return fault(f, next, top, gas, 1);
        const to = load<u64>(top - 32);
        if (!isSmall(top - 32) || to >= u64(load<u32>(f, CODE_SIZE))) return halt(f, next, top, BAD_JUMP);
        const bits = load<u8>(load<usize>(f, TARGETS) + (usize(to) >> 3));
        if (((bits >> (u8(to) & 7)) & 1) == 0) return missed(f, next, top, gas + 8);
        next = code + usize(to);
        top -= 32;
        break;
      }
      case 0x57: {
        // JUMPI
        gas -= 10;
        if (i32(gas < 0) | i32(top - stack < 64)) return fault(f, next, top, gas, 2);
        if (!isZero(top - 64)) {
          const to = load<u64>(top - 32);
          if (!isSmall(top - 32) || to >= u64(load<u32>(f, CODE_SIZE))) return halt(f, next, top, BAD_JUMP);
          const bits = load<u8>(load<usize>(f, TARGETS) + (usize(to) >> 3));
          if (((bits >> (u8(to) & 7)) & 1) == 0) return missed(f, next, top, gas + 10);
          next = code + usize(to);
        }
        top -= 64;
        break;
      }
      case 0x58: {
        // PC
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(next - 1 - code));
        top += 32;
        break;
      }
      case 0x59: {
        // MSIZE
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(load<u32>(f, MEMORY_SIZE)));
        top += 32;
        break;
      }
      case 0x5a: {
        // GAS
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(gas));
        top += 32;
        break;
      }
      case 0x5b: {
        // JUMPDEST: every loop passes one
        gas -= 1;
        if (gas < 0) return fault(f, next, top, gas, 0);
        if (--work < 0) {
          save(f, next, top, gas);
          return REST;
        }
        break;
      }
      case 0x5e: {
        // MCOPY
        if (top - stack < 96) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const to = sizeOf(top - 32);
        const from = sizeOf(top - 64);
        const size = sizeOf(top - 96);
        gas -= 3 + wordGas(size, 3);
        if (gas >= 0) gas = extend(f, gas, max(to, from), size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        top -= 96;
        if (size == 0) break;
        if (copyTo(f, data + usize(to), data + usize(from), size, 0, size) == 0) {
          store<u8>(f, op, LEFT);
          save(f, next, top, gas);
          return LONG;
        }
        work -= i32(size >> 12);
        if (work < 0) {
          save(f, next, top, gas);
          return REST;
        }
        break;
      }
      case 0x5f: {
        // PUSH0
        gas -= 2;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, 0);
        top += 32;
        break;
      }
      case 0x60: {
        // PUSH1
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(load<u8>(next)));
        top += 32;
        next += 1;
        break;
      }
      case 0x61: {
        // PUSH2
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(load<u16>(next)));
        top += 32;
        next += 2;
        break;
      }
      case 0x62: {
        // PUSH3
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, load<u64>(next) & 0xffffff);
        top += 32;
        next += 3;
        break;
      }
      case 0x63: {
        // PUSH4
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        setSmall(top, u64(load<u32>(next)));
        top += 32;
        next += 4;
        break;
      }
      case 0x64:
      case 0x65:
      case 0x66:
      case 0x67: {
        // PUSH5 to PUSH8
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        const n = usize(op) - 0x5f;
        setSmall(top, load<u64>(next) & (u64.MAX_VALUE >> u64(64 - 8 * n)));
        top += 32;
        next += n;
        break;
      }
      case 0x68:
      case 0x69:
      case 0x6a:
      case 0x6b:
      case 0x6c:
      case 0x6d:
      case 0x6e:
      case 0x6f: {
        // PUSH9 to PUSH16
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        const n = usize(op) - 0x5f;
        store<u64>(top, load<u64>(next));
        store<u64>(top, load<u64>(next, 8) & (u64.MAX_VALUE >> u64(128 - 8 * n)), 8);
        store<u64>(top, 0, 16);
        store<u64>(top, 0, 24);
        top += 32;
        next += n;
        break;
      }
      case 0x70:
      case 0x71:
      case 0x72:
      case 0x73:
      case 0x74:
      case 0x75:
      case 0x76:
      case 0x77: {
        // PUSH17 to PUSH24
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        const n = usize(op) - 0x5f;
        store<u64>(top, load<u64>(next));
        store<u64>(top, load<u64>(next, 8), 8);
        store<u64>(top, load<u64>(next, 16) & (u64.MAX_VALUE >> u64(192 - 8 * n)), 16);
        store<u64>(top, 0, 24);
        top += 32;
        next += n;
        break;
      }
      case 0x78:
      case 0x79:
      case 0x7a:
      case 0x7b:
      case 0x7c:
      case 0x7d:
      case 0x7e:
      case 0x7f: {
        // PUSH25 to PUSH32
        gas -= 3;
        if (i32(gas < 0) | i32(top >= full)) return fault(f, next, top, gas, 0);
        const n = usize(op) - 0x5f;
        store<u64>(top, load<u64>(next));
        store<u64>(top, load<u64>(next, 8), 8);
        store<u64>(top, load<u64>(next, 16), 16);
        store<u64>(top, load<u64>(next, 24) & (u64.MAX_VALUE >> u64(256 - 8 * n)), 24);
        top += 32;
        next += n;
        break;
      }
      case 0x80:
      case 0x81:
      case 0x82:
      case 0x83:
      case 0x84:
      case 0x85:
      case 0x86:
      case 0x87:
      case 0x88:
      case 0x89:
      case 0x8a:
      case 0x8b:
      case 0x8c:
      case 0x8d:
      case 0x8e:
      case 0x8f: {
        // DUP1 to DUP16
        const depth: usize = (usize(op) - 0x7f) << 5;
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < depth) | i32(top >= full))
          return fault(f, next, top, gas, usize(op) - 0x7f);
        copyWord(top, top - depth);
        top += 32;
        break;
      }
      case 0x90:
      case 0x91:
      case 0x92:
      case 0x93:
      case 0x94:
      case 0x95:
      case 0x96:
      case 0x97:
      case 0x98:
      case 0x99:
      case 0x9a:
      case 0x9b:
      case 0x9c:
      case 0x9d:
      case 0x9e:
      case 0x9f: {
        // SWAP1 to SWAP16
        const depth: usize = (usize(op) - 0x8e) << 5;
        gas -= 3;
        if (i32(gas < 0) | i32(top - stack < depth)) return fault(f, next, top, gas, usize(op) - 0x8e);
        swapWords(top - 32, top - depth);
        break;
      }
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa3:
      case 0xa4: {
        // LOG0 to LOG4: the driver takes the topics and the data
        if (load<u8>(f, IS_STATIC)) return halt(f, next, top, STATIC_CHANGE);
        const topics = usize(op) - 0xa0;
        if (top - stack < 64 + 32 * topics) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 32);
        const size = sizeOf(top - 64);
        gas -= 375 + 375 * i64(topics) + (size >= UNPAYABLE_BYTES ? TOO_MUCH : 8 * i64(size));
        if (gas >= 0) gas = extend(f, gas, offset, size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        top -= 64 + 32 * topics;
        store<u8>(f, op, LEFT);
        store<usize>(f, data + usize(size == 0 ? 0 : offset), OUTPUT);
        store<u32>(f, u32(size), OUTPUT_SIZE);
        save(f, next, top, gas);
        return LEAVE;
      }
      case 0x3c: {
        // EXTCODECOPY: the driver copies
        if (top - stack < 128) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 64);
        const size = sizeOf(top - 128);
        gas -= wordGas(size, 3);
        if (gas >= 0) gas = extend(f, gas, offset, size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<u8>(f, op, LEFT);
        save(f, next, top, gas);
        return LEAVE;
      }
      case 0xf0: {
        // CREATE: memory is paid for here
        if (top - stack < 96) return halt(f, next, top, UNDERFLOW);
        if (load<u8>(f, IS_STATIC)) return halt(f, next, top, STATIC_CHANGE);
        const before = gas;
        gas = extend(f, gas, sizeOf(top - 64), sizeOf(top - 96));
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<u8>(f, op, LEFT);
        save(f, next, top, gas);
        return LEAVE;
      }
      case 0xf5: {
        // CREATE2
        if (top - stack < 128) return halt(f, next, top, UNDERFLOW);
        if (load<u8>(f, IS_STATIC)) return halt(f, next, top, STATIC_CHANGE);
        const before = gas;
        gas = extend(f, gas, sizeOf(top - 64), sizeOf(top - 96));
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<u8>(f, op, LEFT);
        save(f, next, top, gas);
        return LEAVE;
      }
      case 0xf1: {
        // CALL
        if (top - stack < 224) return halt(f, next, top, UNDERFLOW);
        if (load<u8>(f, IS_STATIC) && !isZero(top - 96)) return halt(f, next, top, STATIC_CHANGE);
        const before = gas;
        gas = extendTwice(f, gas, top - 128);
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<u8>(f, op, LEFT);
        save(f, next, top, gas);
        return LEAVE;
      }
      case 0xf2: {
        // CALLCODE
        if (top - stack < 224) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        gas = extendTwice(f, gas, top - 128);
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<u8>(f, op, LEFT);
        save(f, next, top, gas);
        return LEAVE;
      }
      case 0xf4:
      case 0xfa: {
        // DELEGATECALL and STATICCALL
        if (top - stack < 192) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        gas = extendTwice(f, gas, top - 96);
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<u8>(f, op, LEFT);
        save(f, next, top, gas);
        return LEAVE;
      }
      case 0xf3:
      case 0xfd: {
        // RETURN and REVERT
        if (top - stack < 64) return halt(f, next, top, UNDERFLOW);
        const before = gas;
        const offset = sizeOf(top - 32);
        const size = sizeOf(top - 64);
        gas = extend(f, gas, offset, size);
        if (gas < 0) return unextended(f, next, top, gas, before);
        store<usize>(f, size == 0 ? data : data + usize(offset), OUTPUT);
        store<u32>(f, u32(size), OUTPUT_SIZE);
        save(f, next, top, gas);
        return op == 0xf3 ? ENDED : REVERTED;
      }
      // BALANCE, EXTCODESIZE, EXTCODEHASH, BLOCKHASH, SELFBALANCE, BLOBHASH, SLOAD, SSTORE, TLOAD, TSTORE
      case 0x31:
      case 0x3b:
      case 0x3f:
      case 0x40:
      case 0x47:
      case 0x54:
      case 0x55:
      case 0x5c:
      case 0x5d:
      case 0xff: // and SELFDESTRUCT
        store<u8>(f, op, LEFT);
        save(f, next, top, gas);
        return LEAVE;
      default:
        return halt(f, next, top, INVALID);
    }
  }
  return INVALID;
}

/** Extends memory for the input and the output of a call, whose ranges lie at and below `range` on the stack. */
function extendTwice(f: usize, gas: i64, range: usize): i64 {
  const inputSize = sizeOf(range - 32);
  const outputSize = sizeOf(range - 96);
  const inputEnd = inputSize == 0 ? 0 : sizeOf(range) + inputSize;
  const outputEnd = outputSize == 0 ? 0 : sizeOf(range - 64) + outputSize;
  const end = max(inputEnd, outputEnd);
  return end == 0 ? gas : extend(f, gas, 0, end);
}
