import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt, isAtLeast } from "../chainspec/forks.ts";
import { parametersAt } from "../chainspec/ibftParameters.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Header } from "../types/header.ts";
import type { BlockContext } from "./blockContext.ts";
import type { ChainConfig } from "./chainConfig.ts";
import { type Rules, rulesOf } from "./rules.ts";

/** Everything the chain spec determines about executing one block. */
export interface BlockRules {
  readonly rules: Rules;
  readonly config: ChainConfig;
  readonly block: BlockContext;
  readonly parentHash: Hash;
  /** Paid to the beneficiary after all transactions; zero touches no account (ibft2.md#reward-and-fees). */
  readonly rewardWei: bigint;
}

/** The header fields that execution depends on, of a finished block or one in progress. */
type BlockFields = Pick<
  Header,
  "parentHash" | "number" | "timestamp" | "gasLimit" | "coinbase" | "difficulty" | "mixHash" | "baseFeePerGas"
>;

/** `ancestorHash` gives the hashes of earlier blocks of the same chain; the parent's hash comes from the fields. */
export function blockRules(
  spec: ChainSpec,
  fields: BlockFields,
  ancestorHash: (number: bigint) => Hash | undefined,
): BlockRules {
  const { number, timestamp, gasLimit, coinbase, difficulty, mixHash, baseFeePerGas, parentHash } = fields;
  const { blockRewardWei, miningBeneficiary } = parametersAt(spec.ibft, number);
  const hashOfAncestor = onceForEach(ancestorHash);
  return {
    rules: rulesOf(forkAt(spec.forks, number, timestamp)),
    config: {
      chainId: spec.chainId,
      contractSizeLimitBytes: spec.contractSizeLimitBytes,
      stackLimit: spec.evmStackSize,
    },
    parentHash,
    rewardWei: blockRewardWei,
    block: {
      number,
      timestamp,
      gasLimit,
      beneficiary: miningBeneficiary ?? coinbase,
      baseFeePerGas,
      difficulty,
      mixHash,
      blobBaseFee: blobBaseFee(spec, number, timestamp),
      hashOf: (earlier) => (earlier === number - 1n ? parentHash : hashOfAncestor(earlier)),
    },
  };
}

/**
 * Caches hashes, at most the 256 that BLOCKHASH knows: the opcode costs 20 gas however often a hash is read, and reading a
 * header from disk takes a thousand times as long as running it.
 */
function onceForEach(
  ancestorHash: (number: bigint) => Hash | undefined,
): (number: bigint) => Hash | undefined {
  let known: Map<bigint, Hash | undefined> | undefined;
  return (number) => {
    known ??= new Map();
    let hash = known.get(number);
    if (hash === undefined && !known.has(number)) {
      hash = ancestorHash(number);
      known.set(number, hash);
    }
    return hash;
  };
}

/**
 * Wei per unit of blob gas. An IBFT header carries no blob gas (ibft2.md#later-forks), so the excess is always zero
 * and the price is the minimum. Zero if the base fee is pinned, as in Besu.
 */
export function blobBaseFee(spec: ChainSpec, number: bigint, timestamp: bigint): bigint {
  const isPinned = spec.isZeroBaseFee || spec.fixedBaseFeePerGas !== undefined;
  return isAtLeast(forkAt(spec.forks, number, timestamp), "cancun") && !isPinned ? LOWEST_BLOB_BASE_FEE : 0n;
}

const LOWEST_BLOB_BASE_FEE = 1n;
