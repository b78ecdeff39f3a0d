import { createHash, getHashes } from "node:crypto";
import { EVMError, type ExecResult } from "@ethereumjs/evm";
import { failed } from "./failure.ts";
import type { PrecompileCall, SlicedPrecompile } from "./yieldingPrecompile.ts";

/** Precompiled contract 0x02. */
export const SHA256: SlicedPrecompile = (call) => hash(call, { name: "sha256", gas: 60n, gasPerWord: 12n });

/** Precompiled contract 0x03: 20 bytes, in a word. Undefined if the runtime's OpenSSL lacks RIPEMD-160. */
export const RIPEMD160: SlicedPrecompile | undefined = getHashes().includes("ripemd160")
  ? (call) => hash(call, { name: "ripemd160", gas: 600n, gasPerWord: 120n })
  : undefined;

/** Precompiled contract 0x04. */
export const IDENTITY: SlicedPrecompile = function* ({ data, gasLimit, memoryBudget }) {
  const gas = 15n + 3n * wordsOf(data);
  if (gas > gasLimit) return failed(gasLimit, EVMError.errorMessages.OUT_OF_GAS);
  if (data.length <= COPIED_IN_SLICE)
    return { executionGasUsed: gas, returnValue: Uint8Array.prototype.slice.call(data) };
  memoryBudget?.take(data.length);
  const copy = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at += COPIED_IN_SLICE) {
    copy.set(data.subarray(at, at + COPIED_IN_SLICE), at);
    yield;
  }
  memoryBudget?.release(data.length);
  return { executionGasUsed: gas, returnValue: copy };
};

/** A millisecond or two each. */
const HASHED_IN_SLICE = 256 * 1024;
const COPIED_IN_SLICE = 2 * 1024 * 1024;

interface HashContract {
  readonly name: "sha256" | "ripemd160";
  readonly gas: bigint;
  readonly gasPerWord: bigint;
}

function* hash(
  { data, gasLimit }: PrecompileCall,
  { name, gas, gasPerWord }: HashContract,
): Generator<undefined, ExecResult> {
  const cost = gas + gasPerWord * wordsOf(data);
  if (cost > gasLimit) return failed(gasLimit, EVMError.errorMessages.OUT_OF_GAS);
  const hashing = createHash(name);
  for (let at = 0; at < data.length; at += HASHED_IN_SLICE) {
    if (at > 0) yield;
    hashing.update(data.subarray(at, at + HASHED_IN_SLICE));
  }
  const digest = hashing.digest();
  const word = new Uint8Array(32);
  word.set(digest, 32 - digest.length);
  return { executionGasUsed: cost, returnValue: word };
}

function wordsOf(data: Uint8Array): bigint {
  return BigInt(Math.ceil(data.length / 32));
}
