import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt, isAtLeast } from "../chainspec/forks.ts";
import { larger, smaller } from "../primitives/quantity.ts";
import type { Header } from "../types/header.ts";

/**
 * Gas limit of the block after `parent`: one step towards the operator's target, or the parent's if there is none.
 * A step is parent / 1024 - 1; the first London block doubles the result (ibft2.md#gas-limit).
 */
export function nextGasLimit(
  spec: ChainSpec,
  parent: Pick<Header, "number" | "timestamp" | "gasLimit">,
  timestamp: bigint,
  target: bigint | undefined,
): bigint {
  const isLondon = (number: bigint, time: bigint): boolean =>
    isAtLeast(forkAt(spec.forks, number, time), "london");
  const isActivation = isLondon(parent.number + 1n, timestamp) && !isLondon(parent.number, parent.timestamp);
  const next = stepTowards(target ?? parent.gasLimit, parent.gasLimit);
  return isActivation ? next * LONDON_FACTOR : next;
}

function stepTowards(target: bigint, gasLimit: bigint): bigint {
  const bound = gasLimit / BOUND_DIVISOR;
  const step = bound > 0n ? bound - 1n : 0n;
  return target > gasLimit ? smaller(target, gasLimit + step) : larger(target, gasLimit - step);
}

const BOUND_DIVISOR = 1024n;
const LONDON_FACTOR = 2n;
