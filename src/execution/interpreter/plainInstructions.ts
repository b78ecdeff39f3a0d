import { EVMError } from "@ethereumjs/evm";
import { keccak256 } from "../../primitives/hash.ts";
import { larger } from "../../primitives/quantity.ts";
import { RETURN_DATA_OUT_OF_BOUNDS } from "../haltReason.ts";
import type { Rules } from "../rules.ts";
import { exponentBytes, power } from "./exp.ts";
import type { FrameState } from "./frame.ts";
import type { QuickInstruction } from "./instruction.ts";
import { expansionGas, wordCount } from "./memoryGas.ts";
import { hashInSlices, LONG_BYTES } from "./slices.ts";
import { bytesOfWord, wordOfBytes } from "./words.ts";

/** Instructions on the frame's environment; they cost the fork's fixed fee. */
export const PLAIN: ReadonlyMap<number, QuickInstruction> = new Map<number, QuickInstruction>([
  [0x00, stop],
  [0x30, ({ stack, env }) => stack.push(wordOfBytes(env.address.bytes))],
  [0x33, ({ stack, env }) => stack.push(wordOfBytes(env.caller.bytes))],
  [0x34, ({ stack, env }) => stack.push(env.callValue)],
  [0x35, loadCallData],
  [0x36, ({ stack, env }) => stack.push(BigInt(env.callData.length))],
  [0x3d, ({ stack, returnBytes }) => stack.push(BigInt(returnBytes.length))],
  [0x5a, ({ stack, gasLeft }) => stack.push(gasLeft)],
]);

/** Instructions that charge for memory and for the data they read or write, on top of the fork's base fee. */
export const CHARGING: ReadonlyMap<number, (basicFee: number) => QuickInstruction> = new Map([
  [0x20, hash],
  [0x37, copier(({ env }) => env.callData)],
  [0x39, copier(({ env }) => env.code)],
  [0x3e, copyReturnData],
  [0x53, storeByte],
  [0x5e, copyMemory],
  ...[0, 1, 2, 3, 4].map((topics) => [0xa0 + topics, log(topics)] as const),
  [0xf3, returning],
  [0xfd, reverting],
]);

/** EXP: each byte of the exponent costs 10, from Spurious Dragon 50 (EIP-160, which came with EIP-161). */
export function exponentiation(basicFee: number, { clearsEmptyAccounts }: Rules): QuickInstruction {
  const byteGas = clearsEmptyAccounts ? 50 : 10;
  return (state) => {
    const { stack } = state;
    const exponent = stack.at(1);
    state.charge(basicFee + byteGas * exponentBytes(exponent));
    stack.replace(2, power(stack.at(0), exponent));
  };
}

function stop(state: FrameState): void {
  state.end();
}

function loadCallData({ stack, env }: FrameState): void {
  const offset = stack.at(0);
  const { callData } = env;
  if (offset >= callData.length) {
    stack.replace(1, 0n);
    return;
  }
  const from = Number(offset);
  const part = callData.subarray(from, from + 32);
  const word = wordOfBytes(part);
  stack.replace(1, part.length === 32 ? word : word << BigInt(8 * (32 - part.length)));
}

function hash(basicFee: number): QuickInstruction {
  return (state) => {
    const { stack, memory } = state;
    const size = stack.at(1);
    const offset = stack.at(0);
    state.charge(basicFee + HASH_WORD_GAS * wordCount(size) + expansionGas(state, offset, size));
    if (size > LONG_BYTES) {
      state.defer(async () => {
        await memory.extendInSlices(Number(offset) + Number(size), state.evm.yieldPolicy);
        const bytes = memory.read(Number(offset), Number(size), true);
        stack.replace(2, wordOfBytes(await hashInSlices(bytes, state.evm.yieldPolicy)));
      });
      return;
    }
    const bytes = size === 0n ? EMPTY : memory.read(Number(offset), Number(size), true);
    stack.replace(2, wordOfBytes(keccak256(bytes)));
  };
}

function copier(sourceOf: (state: FrameState) => Uint8Array): (basicFee: number) => QuickInstruction {
  return (basicFee) => (state) => {
    const { stack, memory } = state;
    const size = stack.at(2);
    const from = stack.at(1);
    const offset = stack.at(0);
    state.charge(basicFee + COPY_WORD_GAS * wordCount(size) + expansionGas(state, offset, size));
    stack.drop(3);
    if (size === 0n) return;
    const source = sourceOf(state);
    const part = { from: from < source.length ? Number(from) : source.length, size: Number(size) };
    if (size > LONG_BYTES)
      state.defer(() => memory.copyInSlices(Number(offset), source, part, state.evm.yieldPolicy));
    else memory.copy(Number(offset), source, part.from, part.size);
  };
}

function copyReturnData(basicFee: number): QuickInstruction {
  const copy = copier(({ returnBytes }) => returnBytes)(basicFee);
  return (state) => {
    const { stack, returnBytes } = state;
    if (stack.at(2) + stack.at(1) > returnBytes.length) throw haltWith(RETURN_DATA_OUT_OF_BOUNDS);
    copy(state);
  };
}

/** MSTORE8. */
function storeByte(basicFee: number): QuickInstruction {
  return (state) => {
    const { stack, memory } = state;
    const byte = Number(stack.at(1) & 0xffn);
    const offset = stack.at(0);
    state.charge(basicFee + expansionGas(state, offset, 1n));
    stack.drop(2);
    const end = Number(offset) + 1;
    if (memory.growsSlowly(end))
      state.defer(async () => {
        await memory.extendInSlices(end, state.evm.yieldPolicy);
        memory.writeByte(Number(offset), byte);
      });
    else memory.writeByte(Number(offset), byte);
  };
}

/** MCOPY (EIP-5656). */
function copyMemory(basicFee: number): QuickInstruction {
  return (state) => {
    const { stack, memory } = state;
    const size = stack.at(2);
    const from = stack.at(1);
    const to = stack.at(0);
    const expansion = expansionGas(state, larger(to, from), size);
    state.charge(basicFee + COPY_WORD_GAS * wordCount(size) + expansion);
    stack.drop(3);
    if (size === 0n) return;
    if (size > LONG_BYTES)
      state.defer(() => memory.moveInSlices(Number(to), Number(from), Number(size), state.evm.yieldPolicy));
    else memory.move(Number(to), Number(from), Number(size));
  };
}

function log(topicCount: number): (basicFee: number) => QuickInstruction {
  return (basicFee) => (state) => {
    const { stack, memory, env, evm } = state;
    if (env.isStatic) throw new EVMError(EVMError.errorMessages.STATIC_STATE_CHANGE);
    stack.need(2 + topicCount);
    const offset = stack.at(0);
    const size = stack.at(1);
    const expansion = expansionGas(state, offset, size);
    state.charge(basicFee + LOG_TOPIC_GAS * topicCount + LOG_BYTE_GAS * Number(size) + expansion);
    stack.drop(2);
    const topics = stack.popN(topicCount).map(bytesOfWord);
    evm.keep(LOG_BYTES + TOPIC_BYTES * topicCount + Number(size));
    const { logs } = state.interpreter._result;
    const add = (data: Uint8Array): void => {
      logs.push([env.address.bytes, topics, data]);
    };
    if (size > LONG_BYTES)
      state.defer(async () => add(await memory.readInSlices(Number(offset), Number(size), evm.yieldPolicy)));
    else add(size === 0n ? EMPTY : memory.read(Number(offset), Number(size)));
  };
}

function returning(basicFee: number): QuickInstruction {
  return (state) => takeOutput(state, basicFee, () => state.end());
}

function reverting(basicFee: number): QuickInstruction {
  const revert = (): never => {
    throw new EVMError(EVMError.errorMessages.REVERT);
  };
  return (state) => takeOutput(state, basicFee, revert);
}

function takeOutput(state: FrameState, basicFee: number, halt: () => void): void {
  const { stack, memory, interpreter } = state;
  const size = stack.at(1);
  const offset = stack.at(0);
  state.charge(basicFee + expansionGas(state, offset, size));
  stack.drop(2);
  const output = (bytes: Uint8Array): void => {
    interpreter._result.returnValue = bytes;
    halt();
  };
  if (size > LONG_BYTES)
    state.defer(async () => output(await state.takeOutput(Number(offset), Number(size))));
  else output(size === 0n ? EMPTY : memory.read(Number(offset), Number(size)));
}

/** The library's error type allows only its own messages. */
function haltWith(message: string): EVMError {
  return new EVMError(message as EVMError["error"]);
}

const EMPTY = new Uint8Array(0);
const HASH_WORD_GAS = 6;
const COPY_WORD_GAS = 3;
/** Maximum memory of a log, and of each of its topics. */
const LOG_BYTES = 500;
const TOPIC_BYTES = 250;
const LOG_TOPIC_GAS = 375;
const LOG_BYTE_GAS = 8;
