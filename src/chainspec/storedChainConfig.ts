import { type Hash, keccak256 } from "../primitives/hash.ts";
import { toHex } from "../primitives/hex.ts";
import type { ChainSpec } from "./chainSpec.ts";
import type { ForkActivation } from "./forks.ts";
import type { IbftEra } from "./ibftParameters.ts";

/**
 * What decides the results of a chain's blocks and is not covered by the genesis hash: kept beside the chain, so that
 * a genesis file edited later cannot change rules silently (options.md#changed-genesis). Plain data, for
 * JSON. Settings that blocks already made do not depend on are left out: block period (only a minimum),
 * timeouts, limits, boot nodes.
 */
export interface StoredChainConfig {
  readonly chainId: string;
  readonly contractSizeLimitBytes: number;
  readonly evmStackSize: number;
  readonly isZeroBaseFee: boolean;
  readonly fixedBaseFeePerGas: string | null;
  readonly initialBaseFeePerGas: string;
  readonly epochLength: string;
  readonly forks: readonly { readonly fork: string; readonly block?: string; readonly time?: string }[];
  readonly eras: readonly {
    readonly fromBlock: string;
    readonly blockRewardWei: string;
    readonly miningBeneficiary: string | null;
    readonly validators: readonly string[] | null;
  }[];
}

export interface RecordDifference {
  /** What differs, by its name in the genesis file. */
  readonly name: string;
  readonly stored: string;
  readonly given: string;
}

export function recordOf(spec: ChainSpec): StoredChainConfig {
  return {
    chainId: spec.chainId.toString(),
    contractSizeLimitBytes: spec.contractSizeLimitBytes,
    evmStackSize: spec.evmStackSize,
    isZeroBaseFee: spec.isZeroBaseFee,
    fixedBaseFeePerGas: spec.fixedBaseFeePerGas?.toString() ?? null,
    initialBaseFeePerGas: spec.initialBaseFeePerGas.toString(),
    epochLength: spec.ibft.epochLength.toString(),
    forks: spec.forks.activations.map(recordActivation),
    eras: spec.ibft.eras.map(recordEra),
  };
}

/** One hash of the whole record: equal digests need no further comparison. */
export function chainDigest(spec: ChainSpec): Hash {
  return keccak256(new TextEncoder().encode(JSON.stringify(recordOf(spec))));
}

/**
 * How two records differ for the blocks up to the head (its number and timestamp): what only begins later may still
 * be changed, as it must be when a network agrees on its next fork.
 */
export function differencesUpTo(
  head: { readonly number: bigint; readonly timestamp: bigint },
  { stored, given }: { readonly stored: StoredChainConfig; readonly given: StoredChainConfig },
): readonly RecordDifference[] {
  const before = namedFacts(stored, head);
  const after = namedFacts(given, head);
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, stored: before.get(name) ?? "absent", given: after.get(name) ?? "absent" }))
    .filter((difference) => difference.stored !== difference.given);
}

function namedFacts(
  record: StoredChainConfig,
  head: { readonly number: bigint; readonly timestamp: bigint },
): ReadonlyMap<string, string> {
  const facts = new Map<string, string>([
    ["chainId", record.chainId],
    ["contractSizeLimit", String(record.contractSizeLimitBytes)],
    ["evmStackSize", String(record.evmStackSize)],
    ["zeroBaseFee", String(record.isZeroBaseFee)],
    ["fixedBaseFee", record.fixedBaseFeePerGas ?? "false"],
    ["baseFeePerGas", record.initialBaseFeePerGas],
    ["ibft2.epochlength", record.epochLength],
  ]);
  for (const { fork, block, time } of record.forks) {
    if (block !== undefined && BigInt(block) <= head.number) facts.set(`fork ${fork}`, `block ${block}`);
    if (time !== undefined && BigInt(time) <= head.timestamp) facts.set(`fork ${fork}`, `time ${time}`);
  }
  for (const era of record.eras) {
    if (BigInt(era.fromBlock) > head.number) continue;
    facts.set(`ibft2.blockreward from block ${era.fromBlock}`, era.blockRewardWei);
    facts.set(`ibft2.miningbeneficiary from block ${era.fromBlock}`, era.miningBeneficiary ?? "none");
    facts.set(`ibft2.validators from block ${era.fromBlock}`, era.validators?.join(",") ?? "by votes");
  }
  return facts;
}

function recordActivation({ fork, at }: ForkActivation): StoredChainConfig["forks"][number] {
  return "block" in at ? { fork, block: at.block.toString() } : { fork, time: at.time.toString() };
}

function recordEra({ fromBlock, parameters, validators }: IbftEra): StoredChainConfig["eras"][number] {
  return {
    fromBlock: fromBlock.toString(),
    blockRewardWei: parameters.blockRewardWei.toString(),
    miningBeneficiary:
      parameters.miningBeneficiary === undefined ? null : toHex(parameters.miningBeneficiary),
    validators: validators?.map(toHex) ?? null,
  };
}
