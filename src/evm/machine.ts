import { assert } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { countPages, PAGE_BYTES } from "../primitives/threadPages.ts";
import { makeRoomForTargets } from "./keptTargets.ts";
import { ARENA, ENVIRONMENT, FIELD, FIELDS_BYTES, FRAMES, MISSING, preparedBytes } from "./layout.ts";
import { type Core, type CoreKind, instantiateCore } from "./module.ts";

/** Code as the core runs it: where its parts lie. It is prepared as far as it has run. */
export interface PreparedCode {
  readonly code: number;
  /** The code as it is, if it is init code, which lies in its creator's memory; otherwise 0. */
  readonly raw: number;
  readonly targets: number;
  readonly size: number;
}

/** What a fork adds to the core's rules. */
export interface CoreFork {
  /** Identifies the fork: code is prepared for each. */
  readonly name: string;
  /** 256 bits, lowest first: opcodes that the fork lacks. */
  readonly missing: Uint8Array;
  /** Gas for each byte of EXP's exponent. */
  readonly exponentGas: number;
}

/** Environment of a frame; positions are in the core's memory. */
interface FrameStart {
  /** Position of the frame's fields. */
  readonly at: number;
  readonly code: PreparedCode;
  /** Maximum number of words on the stack. */
  readonly stackLimit: number;
  readonly isStatic: boolean;
  readonly input: number;
  readonly inputSize: number;
}

/**
 * An instance of the core, with its memory: prepared code of contracts, then the frames that run, each behind its
 * caller. Belongs to one job at a time.
 */
export class Machine {
  readonly core: Core;
  /** The memory, as bytes and as numbers; new objects after each growth. */
  bytes: Uint8Array;
  numbers: Uint32Array;
  longs: BigUint64Array;
  private fork: CoreFork | undefined;
  private arenaEnd = ARENA;
  private isArenaFull = false;
  private prepared = new Map<string, PreparedCode>();
  /** What the words of the environment were written from. */
  private readonly environment: (bigint | Uint8Array | undefined)[] = [];

  constructor(kind: CoreKind) {
    this.core = instantiateCore(kind);
    const { buffer } = this.core.memory;
    this.bytes = new Uint8Array(buffer);
    this.numbers = new Uint32Array(buffer);
    this.longs = new BigUint64Array(buffer);
  }

  /** Bytes of memory, which never shrinks. */
  get size(): number {
    return this.bytes.length;
  }

  /** Called before the first frame. Prepared code stays for the next job under the same fork. */
  begin(fork: CoreFork): void {
    makeRoomForTargets();
    if (this.fork !== fork || this.isArenaFull) {
      this.fork = fork;
      this.prepared = new Map();
      this.arenaEnd = ARENA;
      this.isArenaFull = false;
      this.bytes.set(fork.missing, MISSING);
    }
  }

  /** Writes a word of the environment, unless it still lies there; bytes, at most 32, are not changed afterwards. */
  setEnvironment(index: number, value: bigint | Uint8Array): void {
    if (this.environment[index] === value) return;
    this.environment[index] = value;
    const at = ENVIRONMENT + 32 * index;
    if (typeof value === "bigint") this.writeWord(at, value);
    else this.writeBytes(at, value);
  }

  /** Makes the memory reach `end`. False if there is no such address. */
  reserve(end: number): boolean {
    if (end <= this.bytes.length) return true;
    if (end > HIGHEST_ADDRESS) return false;
    const { memory } = this.core;
    const wanted = Math.min(HIGHEST_ADDRESS, Math.max(end, this.bytes.length + GROWTH_BYTES));
    if (memory.grow(Math.ceil((wanted - this.bytes.length) / PAGE_BYTES)) < 0) return false;
    countPages((memory.buffer.byteLength - this.bytes.length) / PAGE_BYTES);
    this.bytes = new Uint8Array(memory.buffer);
    this.numbers = new Uint32Array(memory.buffer);
    this.longs = new BigUint64Array(memory.buffer);
    return true;
  }

  /** The place of code with this hash, if it is kept. */
  preparedCode(codeHash: Uint8Array): PreparedCode | undefined {
    return this.prepared.get(toKey(codeHash));
  }

  /** Where code of this size would be kept; undefined if it is too long to keep. */
  placeInArena(size: number): number | undefined {
    const at = this.arenaEnd;
    if (at + preparedBytes(size) <= FRAMES) return at;
    this.isArenaFull = true;
    return undefined;
  }

  /** Keeps code that was placed in the arena. */
  keep(codeHash: Uint8Array, prepared: PreparedCode): void {
    assert(prepared.code === this.arenaEnd, "code is kept where the arena ended");
    this.arenaEnd += preparedBytes(prepared.size);
    this.prepared.set(toKey(codeHash), prepared);
  }

  /**
   * Fills in the fields of a frame, except for gas, accounts and value, and returns the position of its memory, which is
   * empty and has no room yet.
   */
  enter({ at, code, stackLimit, isStatic, input, inputSize }: FrameStart, memory: number): void {
    const { numbers } = this;
    const i = at >>> 2;
    const stack = at + FIELDS_BYTES;
    numbers[i + (FIELD.NEXT >> 2)] = code.code;
    numbers[i + (FIELD.TOP >> 2)] = stack;
    numbers[i + (FIELD.CODE >> 2)] = code.code;
    numbers[i + (FIELD.CODE_SIZE >> 2)] = code.size;
    numbers[i + (FIELD.TARGETS >> 2)] = code.targets;
    numbers[i + (FIELD.RAW_CODE >> 2)] = code.raw;
    numbers[i + (FIELD.STACK >> 2)] = stack;
    numbers[i + (FIELD.STACK_END >> 2)] = stack + 32 * stackLimit;
    numbers[i + (FIELD.MEMORY >> 2)] = memory;
    numbers[i + (FIELD.MEMORY_SIZE >> 2)] = 0;
    numbers[i + (FIELD.MEMORY_COST >> 2)] = 0;
    numbers[i + (FIELD.MEMORY_COST >> 2) + 1] = 0;
    numbers[i + (FIELD.ROOM >> 2)] = 0;
    numbers[i + (FIELD.INPUT >> 2)] = input;
    numbers[i + (FIELD.INPUT_SIZE >> 2)] = inputSize;
    numbers[i + (FIELD.RETURNED >> 2)] = memory;
    numbers[i + (FIELD.RETURNED_SIZE >> 2)] = 0;
    numbers[i + (FIELD.IS_STATIC >> 2)] = isStatic ? 1 : 0;
    numbers[i + (FIELD.EXPONENT_GAS >> 2)] = this.fork?.exponentGas ?? 0;
  }

  /** A field of a frame that is a position or a size. */
  field(frame: number, offset: number): number {
    return this.numbers[(frame + offset) >>> 2] as number;
  }

  setField(frame: number, offset: number, value: number): void {
    this.numbers[(frame + offset) >>> 2] = value;
  }

  gas(frame: number): bigint {
    return this.longs[(frame + FIELD.GAS) >>> 3] as bigint;
  }

  setGas(frame: number, gas: bigint): void {
    this.longs[(frame + FIELD.GAS) >>> 3] = gas;
  }

  readWord(at: number): bigint {
    const { longs } = this;
    const i = at >>> 3;
    const low = longs[i] as bigint;
    const b = longs[i + 1] as bigint;
    const c = longs[i + 2] as bigint;
    const d = longs[i + 3] as bigint;
    return b === 0n && c === 0n && d === 0n ? low : (d << 192n) | (c << 128n) | (b << 64n) | low;
  }

  writeWord(at: number, word: bigint): void {
    const { longs } = this;
    const i = at >>> 3;
    longs[i] = word;
    if (word <= LOW_64_BITS) {
      longs[i + 1] = 0n;
      longs[i + 2] = 0n;
      longs[i + 3] = 0n;
      return;
    }
    longs[i + 1] = word >> 64n;
    longs[i + 2] = word >> 128n;
    longs[i + 3] = word >> 192n;
  }

  writeNumber(at: number, value: number): void {
    const { numbers } = this;
    const i = at >>> 2;
    numbers[i] = value;
    for (let n = 1; n < 8; n++) numbers[i + n] = 0;
  }

  copyWord(to: number, from: number): void {
    const { numbers } = this;
    const i = to >>> 2;
    const j = from >>> 2;
    for (let n = 0; n < 8; n++) numbers[i + n] = numbers[j + n] as number;
  }

  isZero(at: number): boolean {
    const { numbers } = this;
    const i = at >>> 2;
    for (let n = 0; n < 8; n++) if (numbers[i + n] !== 0) return false;
    return true;
  }

  /** A word that is a position or size in memory that is paid for, so that it fits into 32 bits. */
  readNumber(at: number): number {
    return this.numbers[at >>> 2] as number;
  }

  /** The word's last `count` bytes, big-endian: an address, a slot or a hash. */
  readBytes(at: number, count: number): Uint8Array {
    const { bytes } = this;
    const result = new Uint8Array(count);
    for (let n = 0; n < count; n++) result[n] = bytes[at + count - 1 - n] as number;
    return result;
  }

  /** A word as storage encodes it: without leading zeros. */
  readTrimmed(at: number): Uint8Array {
    const { bytes } = this;
    let length = 32;
    while (length > 0 && bytes[at + length - 1] === 0) length--;
    return length === 0 ? NO_BYTES : this.readBytes(at, length);
  }

  /** Writes at most 32 big-endian bytes as a word. */
  writeBytes(at: number, source: Uint8Array): void {
    const { bytes, numbers } = this;
    const i = at >>> 2;
    const { length } = source;
    if (length < 32) for (let n = 0; n < 8; n++) numbers[i + n] = 0;
    for (let n = 0; n < length; n++) bytes[at + n] = source[length - 1 - n] as number;
  }
}

const GROWTH_BYTES = 1_048_576;
const HIGHEST_ADDRESS = 65_535 * PAGE_BYTES;
const LOW_64_BITS = 2n ** 64n - 1n;
const NO_BYTES = new Uint8Array(0);
