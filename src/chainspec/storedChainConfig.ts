import { toHex } from "../primitives/hex.ts";
import type { ChainSpec } from "./chainSpec.ts";
import type { ForkActivation } from "./forks.ts";
import type { IbftEra } from "./ibftParameters.ts";

/**
 * The settings that affect block results but are not covered by the genesis hash. They are stored beside the chain, so that
 * a genesis file edited later cannot change rules silently (options.md#changed-genesis). This is plain data, for JSON.
 * Settings that existing blocks do not depend on are left out: block period (only a minimum), timeouts, limits, boot nodes.
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

export interface ChainConfigDifference {
  /** The setting's name in the genesis file. */
  readonly name: string;
  readonly stored: string;
  readonly given: string;
}

export function storedConfigOf(spec: ChainSpec): StoredChainConfig {
  return {
    chainId: spec.chainId.toString(),
    contractSizeLimitBytes: spec.contractSizeLimitBytes,
    evmStackSize: spec.evmStackSize,
    isZeroBaseFee: spec.isZeroBaseFee,
    fixedBaseFeePerGas: spec.fixedBaseFeePerGas === undefined ? null : "minGasPrice",
    initialBaseFeePerGas: spec.initialBaseFeePerGas.toString(),
    epochLength: spec.ibft.epochLength.toString(),
    forks: spec.forks.activations.map(storedActivation),
    eras: spec.ibft.eras.map(storedEra),
  };
}

/**
 * Differences that affect blocks up to the head, given by number and timestamp. Settings that take effect later may still
 * change, as is needed when a network schedules its next fork.
 */
export function differencesUpTo(
  head: { readonly number: bigint; readonly timestamp: bigint },
  { stored, given }: { readonly stored: StoredChainConfig; readonly given: StoredChainConfig },
): readonly ChainConfigDifference[] {
  const before = settingsUpTo(head, stored);
  const after = settingsUpTo(head, given);
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, stored: before.get(name) ?? "absent", given: after.get(name) ?? "absent" }))
    .filter((difference) => difference.stored !== difference.given);
}

function settingsUpTo(
  head: { readonly number: bigint; readonly timestamp: bigint },
  config: StoredChainConfig,
): ReadonlyMap<string, string> {
  const settings = new Map<string, string>([
    ["chainId", config.chainId],
    ["contractSizeLimit", String(config.contractSizeLimitBytes)],
    ["evmStackSize", String(config.evmStackSize)],
    ["zeroBaseFee", String(config.isZeroBaseFee)],
    ["fixedBaseFee", String(config.fixedBaseFeePerGas !== null)],
    ["baseFeePerGas", config.initialBaseFeePerGas],
    ["ibft2.epochlength", config.epochLength],
  ]);
  for (const { fork, block, time } of config.forks) {
    if (block !== undefined && BigInt(block) <= head.number) settings.set(`fork ${fork}`, `block ${block}`);
    if (time !== undefined && BigInt(time) <= head.timestamp) settings.set(`fork ${fork}`, `time ${time}`);
  }
  for (const era of config.eras) {
    if (BigInt(era.fromBlock) > head.number) continue;
    settings.set(`ibft2.blockreward from block ${era.fromBlock}`, era.blockRewardWei);
    settings.set(`ibft2.miningbeneficiary from block ${era.fromBlock}`, era.miningBeneficiary ?? "none");
    settings.set(`ibft2.validators from block ${era.fromBlock}`, era.validators?.join(",") ?? "by votes");
  }
  return settings;
}

function storedActivation({ fork, at }: ForkActivation): StoredChainConfig["forks"][number] {
  return "block" in at ? { fork, block: at.block.toString() } : { fork, time: at.time.toString() };
}

function storedEra({ fromBlock, parameters, validators }: IbftEra): StoredChainConfig["eras"][number] {
  return {
    fromBlock: fromBlock.toString(),
    blockRewardWei: parameters.blockRewardWei.toString(),
    miningBeneficiary:
      parameters.miningBeneficiary === undefined ? null : toHex(parameters.miningBeneficiary),
    validators: validators?.map(toHex) ?? null,
  };
}
