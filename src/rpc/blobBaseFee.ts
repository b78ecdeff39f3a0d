import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt, isAtLeast } from "../chainspec/forks.ts";

/**
 * Wei per unit of blob gas in a block. An IBFT header carries no blob gas (ibft2.md §17), so the excess is always zero
 * and the price the smallest there is; a chain whose base fee is pinned knows no blob market at all.
 */
export function blobBaseFee(spec: ChainSpec, number: bigint, timestamp: bigint): bigint {
  const isPinned = spec.isZeroBaseFee || spec.fixedBaseFeePerGas !== undefined;
  return isAtLeast(forkAt(spec.forks, number, timestamp), "cancun") && !isPinned ? MIN_BLOB_BASE_FEE_WEI : 0n;
}

const MIN_BLOB_BASE_FEE_WEI = 1n;
