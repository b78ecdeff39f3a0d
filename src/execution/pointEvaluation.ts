import { createHash } from "node:crypto";
import { EVMError, type PrecompileFunc } from "@ethereumjs/evm";
import { concatBytes, equalBytes } from "../primitives/hex.ts";
import { bigintToFixedBytes } from "../primitives/quantity.ts";

/**
 * Precompiled contract 0x0a (EIP-4844): versioned hash, z, y, commitment and proof in; the length of a blob and the
 * order of its field out, if the proof holds. The curve is loaded on first use: few chains ever need it.
 */
export const POINT_EVALUATION: { readonly address: `0x${string}`; readonly function: PrecompileFunc } = {
  address: `0x${"0a".padStart(40, "0")}`,
  async function({ data, gasLimit }) {
    if (gasLimit < GAS) return fail(gasLimit, EVMError.errorMessages.OUT_OF_GAS);
    if (data.length !== INPUT_BYTES) return fail(gasLimit, EVMError.errorMessages.INVALID_INPUT_LENGTH);
    const commitment = data.slice(96, 144);
    if (!equalBytes(versionedHash(commitment), data.subarray(0, 32)))
      return fail(gasLimit, EVMError.errorMessages.INVALID_COMMITMENT);
    const { BLS_MODULUS, verifyKzgProof } = await import("../primitives/kzg.ts");
    const claim = { commitment, z: data.slice(32, 64), y: data.slice(64, 96), proof: data.slice(144) };
    if (!verifyKzgProof(claim)) return fail(gasLimit, EVMError.errorMessages.INVALID_PROOF);
    return {
      executionGasUsed: GAS,
      returnValue: concatBytes(
        bigintToFixedBytes(FIELD_ELEMENTS_PER_BLOB, 32),
        bigintToFixedBytes(BLS_MODULUS, 32),
      ),
    };
  },
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

/** A precompiled contract that fails takes all the gas it was given. */
function fail(gasLimit: bigint, error: EVMError["error"]): Awaited<ReturnType<PrecompileFunc>> {
  return { executionGasUsed: gasLimit, returnValue: new Uint8Array(0), exceptionError: new EVMError(error) };
}
