import { EVMError } from "@ethereumjs/evm";
import { blake2Module, MESSAGE_AT, VECTOR_AT } from "./blake2Module.ts";
import { failed } from "./failure.ts";
import { instantiate } from "./wasm.ts";
import type { SlicedPrecompile } from "./yieldingPrecompile.ts";

/**
 * Precompiled contract 0x09 (EIP-152): BLAKE2b's compression function, one gas per round. Input: rounds (4 bytes),
 * state h (64), message m (128), offset t (16), flag for the last block (1).
 */
export const BLAKE2F: SlicedPrecompile = function* ({ data, gasLimit }) {
  const isLast = data[INPUT_BYTES - 1];
  if (data.length !== INPUT_BYTES || (isLast !== 0 && isLast !== 1))
    return failed(gasLimit, EVMError.errorMessages.OUT_OF_RANGE);
  const rounds = new DataView(data.buffer, data.byteOffset).getUint32(0);
  if (BigInt(rounds) > gasLimit) return failed(gasLimit, EVMError.errorMessages.OUT_OF_GAS);
  return { executionGasUsed: BigInt(rounds), returnValue: yield* compress(data, rounds) };
};

const INPUT_BYTES = 213;
/** Some milliseconds. A multiple of the ten rows of the order, because each slice starts at the first row. */
const ROUNDS_IN_SLICE = 50_000;
const VECTOR_BYTES = 128;

function* compress(input: Uint8Array, rounds: number): Generator<undefined, Uint8Array> {
  instance ??= createInstance();
  const { bytes, view, mix } = instance;
  const state = new DataView(input.buffer, input.byteOffset + 4, 64);
  const offset = new DataView(input.buffer, input.byteOffset + 196, 16);
  bytes.set(input.subarray(4, 68), VECTOR_AT);
  INITIAL.forEach((word, index) => {
    view.setBigUint64(VECTOR_AT + 64 + 8 * index, word ^ tweakOf(index, offset, input[212] === 1), true);
  });
  bytes.set(input.subarray(68, 196), MESSAGE_AT);
  let left = rounds;
  for (; left > ROUNDS_IN_SLICE; left -= ROUNDS_IN_SLICE) {
    mix(ROUNDS_IN_SLICE);
    // Other calls may use the memory in between.
    const vector = bytes.slice(VECTOR_AT, VECTOR_AT + VECTOR_BYTES);
    yield;
    bytes.set(vector, VECTOR_AT);
    bytes.set(input.subarray(68, 196), MESSAGE_AT);
  }
  mix(left);
  const output = new Uint8Array(64);
  const written = new DataView(output.buffer);
  for (let at = 0; at < 64; at += 8) {
    const mixed = view.getBigUint64(VECTOR_AT + at, true) ^ view.getBigUint64(VECTOR_AT + 64 + at, true);
    written.setBigUint64(at, state.getBigUint64(at, true) ^ mixed, true);
  }
  return output;
}

/** The value mixed into an initial word: the offset into 4 and 5, and all ones into 6 for the last block. */
function tweakOf(index: number, offset: DataView, isLast: boolean): bigint {
  if (index === 4) return offset.getBigUint64(0, true);
  if (index === 5) return offset.getBigUint64(8, true);
  return index === 6 && isLast ? ALL_ONES : 0n;
}

const ALL_ONES = 2n ** 64n - 1n;
/** RFC 7693 §2.6. */
const INITIAL = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
];

interface MixInstance {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  mix(rounds: number): void;
}

let instance: MixInstance | undefined;

function createInstance(): MixInstance {
  const { memory, mix } = instantiate(blake2Module()) as {
    memory: { readonly buffer: ArrayBuffer };
    mix(rounds: number): void;
  };
  return { bytes: new Uint8Array(memory.buffer), view: new DataView(memory.buffer), mix };
}
