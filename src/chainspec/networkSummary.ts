import type { Hash } from "../primitives/hash.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { ChainSpec } from "./chainSpec.ts";
import type { ForkActivation } from "./forks.ts";
import { parametersAt } from "./ibftParameters.ts";

/** Summary of the genesis file for one log line, so that an operator sees which network this is. */
export function networkSummary(spec: ChainSpec, genesisHash: Hash) {
  const { ibft, forks, genesis, contractSizeLimitBytes } = spec;
  const extra = decodeExtraData(genesis.header.extraData);
  return {
    chainId: spec.chainId,
    genesisHash,
    validators: extra.ok ? extra.value.validators : [],
    blockPeriodSeconds: parametersAt(ibft, 0n).blockPeriodSeconds,
    requestTimeoutSeconds: ibft.requestTimeoutSeconds,
    epochLength: ibft.epochLength,
    forks: forks.activations.map(describeActivation).join(", "),
    /** Blocks at which settings change. */
    transitions: ibft.eras.map(({ fromBlock }) => fromBlock).filter((block) => block > 0n),
    contractSizeLimitBytes,
  };
}

function describeActivation({ fork, at }: ForkActivation): string {
  return "block" in at ? `${fork} at block ${at.block}` : `${fork} at time ${at.time}`;
}
