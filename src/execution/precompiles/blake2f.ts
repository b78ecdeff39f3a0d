import { EVMError, type PrecompileFunc } from "@ethereumjs/evm";
import { blake2Module, MESSAGE_AT, VECTOR_AT } from "./blake2Module.ts";
import { failed } from "./failure.ts";

/**
 * Precompiled contract 0x09 (EIP-152): BLAKE2b's compression function, a gas a round. Input: rounds (4 bytes), state h
 * (64), message m (128), offset t (16), whether this is the last block (1).
 */
export const BLAKE2F: PrecompileFunc = ({ data, gasLimit }) => {
  const isLast = data[INPUT_BYTES - 1];
  if (data.length !== INPUT_BYTES || (isLast !== 0 && isLast !== 1))
    return failed(gasLimit, EVMError.errorMessages.OUT_OF_RANGE);
  const rounds = new DataView(data.buffer, data.byteOffset).getUint32(0);
  if (BigInt(rounds) > gasLimit) return failed(gasLimit, EVMError.errorMessages.OUT_OF_GAS);
  return { executionGasUsed: BigInt(rounds), returnValue: compress(data, rounds) };
};

const INPUT_BYTES = 213;

function compress(input: Uint8Array, rounds: number): Uint8Array {
  machine ??= instantiate();
  const { bytes, view, mix } = machine;
  const state = new DataView(input.buffer, input.byteOffset + 4, 64);
  const offset = new DataView(input.buffer, input.byteOffset + 196, 16);
  bytes.set(input.subarray(4, 68), VECTOR_AT);
  INITIAL.forEach((word, index) => {
    view.setBigUint64(VECTOR_AT + 64 + 8 * index, word ^ tweakOf(index, offset, input[212] === 1), true);
  });
  bytes.set(input.subarray(68, 196), MESSAGE_AT);
  mix(rounds);
  const output = new Uint8Array(64);
  const written = new DataView(output.buffer);
  for (let at = 0; at < 64; at += 8) {
    const mixed = view.getBigUint64(VECTOR_AT + at, true) ^ view.getBigUint64(VECTOR_AT + 64 + at, true);
    written.setBigUint64(at, state.getBigUint64(at, true) ^ mixed, true);
  }
  return output;
}

/** What is mixed into the initial words: the offset into 4 and 5, and all ones into 6 for the last block. */
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

interface Machine {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  mix(rounds: number): void;
}

/** As much of the runtime's WebAssembly as is used here; its types come with a browser's otherwise. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

let machine: Machine | undefined;

function instantiate(): Machine {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(blake2Module()));
  const { memory, mix } = exports as { memory: { readonly buffer: ArrayBuffer }; mix(rounds: number): void };
  return { bytes: new Uint8Array(memory.buffer), view: new DataView(memory.buffer), mix };
}
