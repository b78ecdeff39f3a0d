import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import { failed, type RunPrecompile, succeeded } from "./contract.ts";
import { sha256 } from "./hashes.ts";
import { BLS_MODULUS, isKzgProofValid } from "./kzg.ts";

/**
 * Precompiled contract 0x0a (EIP-4844). Input: versioned hash, z, y, commitment and proof. Output, if the proof is
 * valid: the length of a blob and the order of its field. Takes some 3 ms.
 */
export const POINT_EVALUATION: RunPrecompile = (call) => {
  const { data, gasLimit } = call;
  if (gasLimit < GAS) return failed(call, "outOfGas");
  if (data.length !== INPUT_BYTES) return failed(call, "invalidInput");
  const commitment = data.subarray(96, 144);
  if (!equalBytes(versionedHash(commitment), data.subarray(0, 32))) return failed(call, "invalidInput");
  const claim = { commitment, z: data.subarray(32, 64), y: data.subarray(64, 96), proof: data.subarray(144) };
  return isKzgProofValid(claim) ? succeeded(GAS, OUTPUT.slice()) : failed(call, "invalidInput");
};

const GAS = 50_000n;
const INPUT_BYTES = 192;
const FIELD_ELEMENTS_PER_BLOB = 4096n;
const VERSION = 1;
const OUTPUT = concatBytes(
  bigintToFixedBytes(FIELD_ELEMENTS_PER_BLOB, 32),
  bigintToFixedBytes(BLS_MODULUS, 32),
);

function versionedHash(commitment: Uint8Array): Uint8Array {
  const hash = sha256(commitment);
  hash[0] = VERSION;
  return hash;
}
