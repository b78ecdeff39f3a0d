import type { Common } from "@ethereumjs/common";

/**
 * The price of a precompiled contract for an input on which it fails: the price is computed before the failure is
 * found. Undefined for contracts that cannot fail, and for those of BLS12-381, whose prices come from tables.
 */
export function priceOfFailure(number: number, inputBytes: number, common: Common): bigint | undefined {
  switch (number) {
    case 0x06:
      return common.param("bn254AddGas");
    case 0x07:
      return common.param("bn254MulGas");
    case 0x08: {
      const pairs = BigInt(Math.floor(inputBytes / PAIR_BYTES));
      return common.param("bn254PairingGas") + pairs * common.param("bn254PairingWordGas");
    }
    case 0x09:
      // An input of the wrong length, or with an invalid flag, has no rounds to pay for.
      return 0n;
    case 0x0a:
      return common.param("kzgPointEvaluationPrecompileGas");
    default:
      return undefined;
  }
}

const PAIR_BYTES = 192;
