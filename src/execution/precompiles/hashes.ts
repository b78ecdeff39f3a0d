import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import type { IHasher } from "hash-wasm";
import { expectDefined } from "../../primitives/assert.ts";
import {
  failed,
  type PrecompileCall,
  type PrecompileResult,
  type RunPrecompile,
  type SlicedWork,
  succeeded,
} from "./contract.ts";

// The package is loaded by require, because an import reads its 280 KB twice, the first time for the names of its exports.
const { createRIPEMD160, createSHA256 } = createRequire(import.meta.url)(
  "hash-wasm",
) as typeof import("hash-wasm");
/**
 * Made when they are first needed, and not while this file is evaluated: a file that waits for something makes all that import it
 * asynchronous, and a thread that is terminated while it imports them ends the process (Node.js 24).
 */
let hashers: { readonly sha256: IHasher; readonly ripemd160: IHasher } | undefined;

/** Makes the hashes of the contracts ready; undefined if they are. */
export function prepareHashes(): Promise<void> | undefined {
  if (hashers !== undefined) return undefined;
  return Promise.all([createSHA256(), createRIPEMD160()]).then(([sha256Hasher, ripemd160Hasher]) => {
    hashers ??= { sha256: sha256Hasher, ripemd160: ripemd160Hasher };
  });
}

function prepared(): NonNullable<typeof hashers> {
  return expectDefined(hashers, "the hashes of precompiled contracts");
}

/** Precompiled contract 0x02. */
export const SHA256: RunPrecompile = (call) => {
  const gas = priceOf(call.data, 60n, 12n);
  if (gas > call.gasLimit) return failed(call, "outOfGas");
  return call.data.length <= HASHED_IN_SLICE
    ? succeeded(gas, sha256(call.data))
    : sha256InSlices(call.data, gas);
};

/** SHA-256 of a short input. Throws unless prepareHashes has ended. */
export function sha256(data: Uint8Array): Uint8Array {
  return data.length <= SHORT_SHA256_BYTES
    ? hashOf(prepared().sha256, data)
    : Uint8Array.from(createHash("sha256").update(data).digest());
}

/** Precompiled contract 0x03: 20 bytes, in a word. */
export const RIPEMD160: RunPrecompile = (call) => {
  const gas = priceOf(call.data, 600n, 120n);
  if (gas > call.gasLimit) return failed(call, "outOfGas");
  return call.data.length <= HASHED_IN_SLICE
    ? succeeded(gas, inWord(hashOf(prepared().ripemd160, call.data)))
    : ripemd160InSlices(call.data, gas);
};

/** Precompiled contract 0x04. */
export const IDENTITY: RunPrecompile = (call) => {
  const gas = priceOf(call.data, 15n, 3n);
  if (gas > call.gasLimit) return failed(call, "outOfGas");
  if (call.data.length > COPIED_IN_SLICE) return copyInSlices(call, gas);
  return succeeded(gas, Uint8Array.prototype.slice.call(call.data));
};

/** Longest input for which WebAssembly is faster, because a call costs half as much. */
const SHORT_SHA256_BYTES = 128;
/** Bytes per slice: a millisecond or two. */
const HASHED_IN_SLICE = 256 * 1024;
const COPIED_IN_SLICE = 2 * 1024 * 1024;

function hashOf(hasher: IHasher, data: Uint8Array): Uint8Array {
  hasher.init();
  hasher.update(data);
  return hasher.digest("binary");
}

function* sha256InSlices(data: Uint8Array, gas: bigint): SlicedWork {
  const hashing = createHash("sha256");
  for (let at = 0; at < data.length; at += HASHED_IN_SLICE) {
    if (at > 0) yield;
    hashing.update(data.subarray(at, at + HASHED_IN_SLICE));
  }
  return succeeded(gas, Uint8Array.from(hashing.digest()));
}

function* ripemd160InSlices(data: Uint8Array, gas: bigint): SlicedWork {
  const hasher = prepared().ripemd160;
  hasher.init();
  for (let at = 0; at < data.length; at += HASHED_IN_SLICE) {
    if (at > 0) {
      // Other calls may use the instance in between.
      const state = hasher.save();
      yield;
      hasher.load(state);
    }
    hasher.update(data.subarray(at, at + HASHED_IN_SLICE));
  }
  return succeeded(gas, inWord(hasher.digest("binary")));
}

function* copyInSlices({ data, memoryBudget }: PrecompileCall, gas: bigint): SlicedWork<PrecompileResult> {
  memoryBudget?.take(data.length);
  const copy = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at += COPIED_IN_SLICE) {
    copy.set(data.subarray(at, at + COPIED_IN_SLICE), at);
    yield;
  }
  memoryBudget?.release(data.length);
  return succeeded(gas, copy);
}

function inWord(digest: Uint8Array): Uint8Array {
  const word = new Uint8Array(32);
  word.set(digest, 32 - digest.length);
  return word;
}

function priceOf(data: Uint8Array, gas: bigint, gasPerWord: bigint): bigint {
  return gas + gasPerWord * BigInt(Math.ceil(data.length / 32));
}
