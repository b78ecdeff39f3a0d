import { createHash } from "node:crypto";
import { EVMError, type PrecompileFunc } from "@ethereumjs/evm";
import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import { failed } from "./failure.ts";
import { BLS_MODULUS, verifyKzgProof } from "./kzg.ts";

/**
 * Precompiled contract 0x0a (EIP-4844). Input: versioned hash, z, y, commitment and proof. Output, if the proof is
 * valid: the length of a blob and the order of its field.
 */
export const POINT_EVALUATION: PrecompileFunc = async ({ data, gasLimit }) => {
  if (gasLimit < GAS) return failed(gasLimit, EVMError.errorMessages.OUT_OF_GAS);
  if (data.length !== INPUT_BYTES) return failed(gasLimit, EVMError.errorMessages.INVALID_INPUT_LENGTH);
  const commitment = data.slice(96, 144);
  if (!equalBytes(versionedHash(commitment), data.subarray(0, 32)))
    return failed(gasLimit, EVMError.errorMessages.INVALID_COMMITMENT);
  const claim = { commitment, z: data.slice(32, 64), y: data.slice(64, 96), proof: data.slice(144) };
  if (!(await verifyKzgProof(claim))) return failed(gasLimit, EVMError.errorMessages.INVALID_PROOF);
  return {
    executionGasUsed: GAS,
    returnValue: concatBytes(
      bigintToFixedBytes(FIELD_ELEMENTS_PER_BLOB, 32),
      bigintToFixedBytes(BLS_MODULUS, 32),
    ),
  };
};

const GAS = 50_000n;
const INPUT_BYTES = 192;
const FIELD_ELEMENTS_PER_BLOB = 4096n;
const VERSION = 1;

function versionedHash(commitment: Uint8Array): Uint8Array {
  const hash = Uint8Array.from(createHash("sha256").update(commitment).digest());
  hash[0] = VERSION;
  return hash;
}
