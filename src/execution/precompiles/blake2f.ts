import { blake2Module, MESSAGE_AT, VECTOR_AT } from "./blake2Module.ts";
import { failed, type RunPrecompile, type SlicedWork, succeeded } from "./contract.ts";
import { instantiate } from "./wasm.ts";

/**
 * Precompiled contract 0x09 (EIP-152): BLAKE2b's compression function, one gas per round. Input: rounds (4 bytes),
 * state h (64), message m (128), offset t (16), flag for the last block (1).
 */
export const BLAKE2F: RunPrecompile = (call) => {
  const { data, gasLimit } = call;
  const isLast = data[INPUT_BYTES - 1];
  if (data.length !== INPUT_BYTES || (isLast !== 0 && isLast !== 1)) return failed(call, "invalidInput");
  const rounds = roundsOf(data);
  if (rounds > gasLimit) return failed(call, "outOfGas");
  instance ??= createInstance();
  if (rounds > ROUNDS_IN_SLICE) return mixInSlices(instance, data, rounds);
  load(instance, data);
  instance.mix(rounds);
  return succeeded(BigInt(rounds), outputOf(instance, data));
};

const INPUT_BYTES = 213;
const [STATE_AT, STATE_END, MESSAGE_END, OFFSET_END] = [4, 68, 196, 212];
/** Rounds that take some milliseconds: a multiple of the ten rows of the order, because each slice starts at the first row. */
const ROUNDS_IN_SLICE = 50_000;
const VECTOR_BYTES = 128;

function roundsOf(data: Uint8Array): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = data;
  return first * 2 ** 24 + (second << 16) + (third << 8) + fourth;
}

/** Fills the working vector: the state, then constants, into which the offset and the flag are mixed. */
function load({ bytes }: MixInstance, data: Uint8Array): void {
  bytes.set(data.subarray(STATE_AT, STATE_END), VECTOR_AT);
  bytes.set(INITIAL, VECTOR_AT + 64);
  for (let at = 0; at < OFFSET_END - MESSAGE_END; at++)
    bytes[VECTOR_AT + 96 + at] = (INITIAL[32 + at] as number) ^ (data[MESSAGE_END + at] as number);
  if (data[INPUT_BYTES - 1] === 1)
    for (let at = 0; at < 8; at++) bytes[VECTOR_AT + 112 + at] = (INITIAL[48 + at] as number) ^ 0xff;
  bytes.set(data.subarray(STATE_END, MESSAGE_END), MESSAGE_AT);
}

function* mixInSlices(mixing: MixInstance, data: Uint8Array, rounds: number): SlicedWork {
  const { bytes, mix } = mixing;
  load(mixing, data);
  let left = rounds;
  let vector = bytes.slice(VECTOR_AT, VECTOR_AT + VECTOR_BYTES);
  for (; left > ROUNDS_IN_SLICE; left -= ROUNDS_IN_SLICE) {
    bytes.set(vector, VECTOR_AT);
    bytes.set(data.subarray(STATE_END, MESSAGE_END), MESSAGE_AT);
    mix(ROUNDS_IN_SLICE);
    // Other calls may use the memory in between.
    vector = bytes.slice(VECTOR_AT, VECTOR_AT + VECTOR_BYTES);
    yield;
  }
  bytes.set(vector, VECTOR_AT);
  bytes.set(data.subarray(STATE_END, MESSAGE_END), MESSAGE_AT);
  mix(left);
  return succeeded(BigInt(rounds), outputOf(mixing, data));
}

/** The state, into which both halves of the vector are mixed. */
function outputOf({ bytes }: MixInstance, data: Uint8Array): Uint8Array {
  const output = data.slice(STATE_AT, STATE_END);
  for (let at = 0; at < output.length; at++)
    output[at] =
      (output[at] as number) ^ (bytes[VECTOR_AT + at] as number) ^ (bytes[VECTOR_AT + 64 + at] as number);
  return output;
}

/** RFC 7693 §2.6, in bytes as they are in memory. */
const INITIAL = Uint8Array.from(
  [
    "6a09e667f3bcc908",
    "bb67ae8584caa73b",
    "3c6ef372fe94f82b",
    "a54ff53a5f1d36f1",
    "510e527fade682d1",
    "9b05688c2b3e6c1f",
    "1f83d9abfb41bd6b",
    "5be0cd19137e2179",
  ].flatMap((word) => [...Buffer.from(word, "hex").reverse()]),
);

interface MixInstance {
  readonly bytes: Uint8Array;
  mix(rounds: number): void;
}

let instance: MixInstance | undefined;

function createInstance(): MixInstance {
  const { memory, mix } = instantiate(blake2Module()) as {
    memory: { readonly buffer: ArrayBuffer };
    mix(rounds: number): void;
  };
  return { bytes: new Uint8Array(memory.buffer), mix };
}
