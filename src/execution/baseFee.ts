import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt, isAtLeast } from "../chainspec/forks.ts";
import type { Header } from "../types/header.ts";

/** The parent's fields that determine the next base fee. */
type BaseFeeParent = Pick<Header, "number" | "timestamp" | "gasLimit" | "gasUsed" | "baseFeePerGas">;

/**
 * Base fee in wei of the block after `parent` with the given timestamp; undefined before London. The genesis file may
 * pin it to zero or to a fixed value; otherwise it follows EIP-1559 (elasticity 2, denominator 8), starting from the
 * initial value in the first London block (ibft2.md#base-fee).
 */
export function nextBaseFee(spec: ChainSpec, parent: BaseFeeParent, timestamp: bigint): bigint | undefined {
  const isLondon = (number: bigint, time: bigint): boolean =>
    isAtLeast(forkAt(spec.forks, number, time), "london");
  if (!isLondon(parent.number + 1n, timestamp)) return undefined;
  if (spec.isZeroBaseFee) return 0n;
  if (spec.fixedBaseFeePerGas !== undefined) return spec.fixedBaseFeePerGas;
  if (parent.baseFeePerGas === undefined) return spec.initialBaseFeePerGas;
  return followingBaseFee({
    baseFeePerGas: parent.baseFeePerGas,
    gasUsed: parent.gasUsed,
    gasTarget: parent.gasLimit / ELASTICITY,
  });
}

/** EIP-1559: rises by an eighth after a full block, falls by an eighth after an empty one. */
export function followingBaseFee(parent: {
  readonly baseFeePerGas: bigint;
  readonly gasUsed: bigint;
  readonly gasTarget: bigint;
}): bigint {
  const { baseFeePerGas, gasUsed, gasTarget } = parent;
  if (gasUsed === gasTarget) return baseFeePerGas;
  if (gasUsed > gasTarget) {
    const rise = (baseFeePerGas * (gasUsed - gasTarget)) / gasTarget / CHANGE_DENOMINATOR;
    return baseFeePerGas + (rise > 0n ? rise : 1n);
  }
  return baseFeePerGas - (baseFeePerGas * (gasTarget - gasUsed)) / gasTarget / CHANGE_DENOMINATOR;
}

const ELASTICITY = 2n;
const CHANGE_DENOMINATOR = 8n;
