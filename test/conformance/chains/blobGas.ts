import { type ForkName, isAtLeast } from "../../../src/chainspec/forks.ts";
import { BLOB_GAS } from "../../../src/execution/rules.ts";
import type { Header } from "../../../src/types/header.ts";

/*
 * The blob gas market, which an IBFT chain does not have (EIP-4844, with the parameters of EIP-7691 from Prague on).
 */

/** Excess blob gas of the block after `parent`. */
export function nextExcessBlobGas(fork: ForkName, parent: Header): bigint {
  const sum = (parent.excessBlobGas ?? 0n) + (parent.blobGasUsed ?? 0n);
  const { targetBlobGas } = parametersOf(fork);
  return sum > targetBlobGas ? sum - targetBlobGas : 0n;
}

/** Wei per unit of blob gas. */
export function blobBaseFeeOf(fork: ForkName, excessBlobGas: bigint): bigint {
  const { updateFraction } = parametersOf(fork);
  let sum = 0n;
  let term = updateFraction;
  for (let step = 1n; term > 0n; step++) {
    sum += term;
    term = (term * excessBlobGas) / (updateFraction * step);
  }
  return sum / updateFraction;
}

function parametersOf(fork: ForkName): { readonly targetBlobGas: bigint; readonly updateFraction: bigint } {
  return isAtLeast(fork, "prague")
    ? { targetBlobGas: 6n * BLOB_GAS, updateFraction: 5_007_716n }
    : { targetBlobGas: 3n * BLOB_GAS, updateFraction: 3_338_477n };
}
