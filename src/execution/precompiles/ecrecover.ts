import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import { addressOfPublicKey, curve, SECP256K1_ORDER } from "../../primitives/secp256k1.ts";
import { failed, padded, type RunPrecompile, succeeded } from "./contract.ts";

/**
 * Precompiled contract 0x01: the address of a signature's key. Input: digest, v (27 or 28), r and s, a word each; missing
 * bytes at the end are zero. Output: the address in a word, or nothing if no key can be recovered.
 */
export const ECRECOVER: RunPrecompile = (call) => {
  if (call.gasLimit < GAS) return failed(call, "outOfGas");
  const data = padded(call.data, INPUT_BYTES);
  const v = data[V_END - 1] as number;
  if ((v !== 27 && v !== 28) || !isZero(data, V_AT, V_END - 1)) return succeeded(GAS, new Uint8Array(0));
  // The bounds are checked here, because a refusal by the binding takes as long as an exception.
  if (!isBelowOrder(data, V_END) || !isBelowOrder(data, S_AT)) return succeeded(GAS, new Uint8Array(0));
  const publicKey = curve.recover(data.subarray(0, V_AT), data.subarray(V_END, INPUT_BYTES), v - 27);
  if (publicKey === undefined) return succeeded(GAS, new Uint8Array(0));
  const word = new Uint8Array(32);
  word.set(addressOfPublicKey(publicKey), 12);
  return succeeded(GAS, word);
};

const GAS = 3000n;
const INPUT_BYTES = 128;
const V_AT = 32;
const V_END = 64;
const S_AT = 96;
const ORDER = bigintToFixedBytes(SECP256K1_ORDER, 32);

/** Whether the word at `at` is below the order and not zero. */
function isBelowOrder(data: Uint8Array, at: number): boolean {
  for (let index = 0; index < 32; index++) {
    const difference = (data[at + index] as number) - (ORDER[index] as number);
    if (difference !== 0) return difference < 0 && !isZero(data, at, at + 32);
  }
  return false;
}

function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== 0) return false;
  return true;
}
