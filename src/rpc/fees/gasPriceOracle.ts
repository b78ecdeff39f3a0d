import type { ChainReader } from "../../chain/chain.ts";
import { onceKnown } from "../../primitives/eventual.ts";
import { larger } from "../../primitives/quantity.ts";
import type { NamedHeader } from "../../types/block.ts";
import { BlockSamples } from "./blockSamples.ts";
import { percentileOf } from "./priceSample.ts";

/**
 * Suggests prices in wei per gas, derived from those of recent transactions (json-rpc.md#eth_gasprice). Only the first
 * request after a block has to wait.
 */
export interface GasPriceOracle {
  gasPriceWei(): bigint | Promise<bigint>;
  maxPriorityFeeWei(): bigint | Promise<bigint>;
}

/** How eth_gasPrice and eth_maxPriorityFeePerGas are derived. The floors may change while the node runs. */
export interface GasPriceSettings {
  /** --api-gas-price-blocks. */
  readonly blocks: number;
  /** --api-gas-price-percentile, 0 to 100. */
  readonly percentile: number;
  /** --api-gas-price-max, wei. */
  readonly maxWei: bigint;
  /** --min-gas-price, wei. */
  readonly minGasPriceWei: bigint;
  /** --min-priority-fee, wei. */
  readonly minPriorityFeeWei: bigint;
}

/** The percentile is computed once per head. */
export function createGasPriceOracle(
  settings: GasPriceSettings,
  parts: { readonly chain: ChainReader; readonly nextBaseFeePerGas: () => bigint | undefined },
): GasPriceOracle {
  const { chain, nextBaseFeePerGas } = parts;
  const { percentile } = settings;
  const samples = new BlockSamples(chain, settings.blocks);
  let isFollowing = false;
  let latest: LatestEstimate | undefined;

  async function estimateAt({ header }: NamedHeader): Promise<Estimate> {
    const upToHead = await samples.upTo(header.number);
    const beforeHead = await samples.upTo(header.number - 1n);
    const gasPrices = upToHead.map((sample) => sample.gasPrices);
    const priorityFees = beforeHead.map((sample) => sample.priorityFees);
    return {
      gasPrice: percentileOf(gasPrices, percentile),
      priorityFee: percentileOf(priorityFees, percentile),
    };
  }

  function estimate(): Estimate | Promise<Estimate> {
    if (!isFollowing) {
      isFollowing = true;
      samples.follow();
    }
    const { head } = chain;
    if (latest?.head !== head) {
      const started: LatestEstimate = { head, estimate: estimateAt(head) };
      started.estimate.then(
        (found) => {
          started.found = found;
        },
        () => undefined,
      );
      latest = started;
    }
    return latest.found ?? latest.estimate;
  }

  function withinBounds({ gasPrice }: Estimate): bigint {
    const nextBaseFee = nextBaseFeePerGas() ?? 0n;
    const floor = larger(nextBaseFee, settings.minGasPriceWei);
    const { maxWei } = settings;
    if (gasPrice === undefined || gasPrice <= floor || maxWei <= floor) return floor;
    if (gasPrice > maxWei) return maxWei;
    return gasPrice;
  }

  /**
   * No less than what reaches the node's own floors together with the base fee: a wallet that offers what was suggested would
   * otherwise wait for ever where blocks have been empty, or full of cheaper transactions of the validators' own callers.
   */
  function priorityFee({ priorityFee = 0n }: Estimate): bigint {
    const missingWei = settings.minGasPriceWei - (nextBaseFeePerGas() ?? 0n);
    return larger(larger(priorityFee, settings.minPriorityFeeWei), missingWei);
  }

  return {
    gasPriceWei: () => onceKnown(estimate(), withinBounds),
    maxPriorityFeeWei: () => onceKnown(estimate(), priorityFee),
  };
}

interface Estimate {
  readonly gasPrice: bigint | undefined;
  readonly priorityFee: bigint | undefined;
}

interface LatestEstimate {
  readonly head: NamedHeader;
  readonly estimate: Promise<Estimate>;
  /** Set once the promise is fulfilled, so that later requests need not wait. */
  found?: Estimate;
}
