import { EVMError } from "@ethereumjs/evm";
import { keccak256 } from "../../primitives/hash.ts";
import { RETURN_DATA_OUT_OF_BOUNDS } from "../haltReason.ts";
import type { FrameState } from "./frame.ts";
import type { QuickInstruction } from "./instruction.ts";
import { expansionGas, wordCount } from "./memoryGas.ts";
import { bytesOfWord, wordOfBytes } from "./words.ts";

/** Looks at the frame's own surroundings; they take the fork's fixed fee. */
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

/** These charge for themselves, on top of the fork's basic fee: for memory, and for what they read or write. */
export const CHARGING: ReadonlyMap<number, (basicFee: number) => QuickInstruction> = new Map([
  [0x20, hash],
  [0x37, copier(({ env }) => env.callData)],
  [0x39, copier(({ env }) => env.code)],
  [0x3e, copyReturnData],
  ...[0, 1, 2, 3, 4].map((topics) => [0xa0 + topics, log(topics)] as const),
  [0xf3, returning],
  [0xfd, reverting],
]);

function stop(state: FrameState): void {
  state.isStopped = true;
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
    const bytes = size === 0n ? NOTHING : memory.read(Number(offset), Number(size), true);
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
    memory.copy(Number(offset), source, from < source.length ? Number(from) : source.length, Number(size));
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

function log(topicCount: number): (basicFee: number) => QuickInstruction {
  return (basicFee) => (state) => {
    const { stack, memory, env } = state;
    if (env.isStatic) throw new EVMError(EVMError.errorMessages.STATIC_STATE_CHANGE);
    stack.need(2 + topicCount);
    const offset = stack.at(0);
    const size = stack.at(1);
    const expansion = expansionGas(state, offset, size);
    state.charge(basicFee + LOG_TOPIC_GAS * topicCount + LOG_BYTE_GAS * Number(size) + expansion);
    stack.drop(2);
    const topics = stack.popN(topicCount).map(bytesOfWord);
    const data = size === 0n ? NOTHING : memory.read(Number(offset), Number(size));
    state.evm.keep(LOG_BYTES + TOPIC_BYTES * topicCount + data.length);
    state.interpreter._result.logs.push([env.address.bytes, topics, data]);
  };
}

function returning(basicFee: number): QuickInstruction {
  return (state) => {
    takeOutput(state, basicFee);
    state.isStopped = true;
  };
}

function reverting(basicFee: number): QuickInstruction {
  return (state) => {
    takeOutput(state, basicFee);
    throw new EVMError(EVMError.errorMessages.REVERT);
  };
}

function takeOutput(state: FrameState, basicFee: number): void {
  const { stack, memory, interpreter } = state;
  const size = stack.at(1);
  const offset = stack.at(0);
  state.charge(basicFee + expansionGas(state, offset, size));
  stack.drop(2);
  interpreter._result.returnValue = size === 0n ? NOTHING : memory.read(Number(offset), Number(size));
}

/** The library's error type admits only the messages it knows itself. */
function haltWith(message: string): EVMError {
  return new EVMError(message as EVMError["error"]);
}

const NOTHING = new Uint8Array(0);
const HASH_WORD_GAS = 6;
const COPY_WORD_GAS = 3;
/** What a log takes at most, and each of its topics. */
const LOG_BYTES = 500;
const TOPIC_BYTES = 250;
const LOG_TOPIC_GAS = 375;
const LOG_BYTE_GAS = 8;
