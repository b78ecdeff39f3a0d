import type { ChainReader } from "../../chain/chainReader.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { followingBaseFee } from "../../execution/baseFee.ts";
import { onceKnown } from "../../primitives/eventual.ts";
import { larger } from "../../primitives/quantity.ts";
import type { NamedHeader } from "../../types/block.ts";
import { BlockSamples } from "./blockSamples.ts";
import { percentileOf } from "./priceSample.ts";

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

/**
 * Suggests prices in wei per gas, derived from those of recent transactions (json-rpc.md#eth_gasprice). The percentile is computed
 * once per head, so only the first request after a block has to wait.
 */
export class GasPriceOracle {
  private readonly settings: GasPriceSettings;
  private readonly chain: ChainReader;
  private readonly spec: ChainSpec;
  private readonly nextBaseFeePerGas: () => bigint | undefined;
  private readonly samples: BlockSamples;
  private isFollowing = false;
  private latest: LatestEstimate | undefined;

  constructor(
    settings: GasPriceSettings,
    {
      chain,
      spec,
      nextBaseFeePerGas,
    }: {
      readonly chain: ChainReader;
      readonly spec: ChainSpec;
      readonly nextBaseFeePerGas: () => bigint | undefined;
    },
  ) {
    this.settings = settings;
    this.chain = chain;
    this.spec = spec;
    this.nextBaseFeePerGas = nextBaseFeePerGas;
    this.samples = new BlockSamples(chain, settings.blocks);
  }

  gasPriceWei(): bigint | Promise<bigint> {
    return onceKnown(this.estimate(), (estimate) => this.withinBounds(estimate));
  }

  maxPriorityFeeWei(): bigint | Promise<bigint> {
    return onceKnown(this.estimate(), (estimate) => this.priorityFee(estimate));
  }

  private estimate(): Estimate | Promise<Estimate> {
    if (!this.isFollowing) {
      this.isFollowing = true;
      this.samples.follow();
    }
    const { head } = this.chain;
    if (this.latest?.head !== head) {
      const started: LatestEstimate = { head, estimate: this.estimateAt(head) };
      started.estimate.then(
        (found) => {
          started.found = found;
        },
        () => undefined,
      );
      this.latest = started;
    }
    return this.latest.found ?? this.latest.estimate;
  }

  private async estimateAt({ header }: NamedHeader): Promise<Estimate> {
    const { percentile } = this.settings;
    const upToHead = await this.samples.upTo(header.number);
    const beforeHead = await this.samples.upTo(header.number - 1n);
    const gasPrices = upToHead.map((sample) => sample.gasPrices);
    const priorityFees = beforeHead.map((sample) => sample.priorityFees);
    return {
      gasPrice: percentileOf(gasPrices, percentile),
      priorityFee: percentileOf(priorityFees, percentile),
    };
  }

  private withinBounds({ gasPrice }: Estimate): bigint {
    const nextBaseFee = this.nextBaseFeePerGas() ?? 0n;
    const { maxWei, minGasPriceWei, minPriorityFeeWei } = this.settings;
    const floor = larger(nextBaseFee + minPriorityFeeWei, minGasPriceWei);
    if (gasPrice === undefined || gasPrice <= floor || maxWei <= floor) return floor;
    if (gasPrice > maxWei) return maxWei;
    return gasPrice;
  }

  /**
   * No less than what reaches the node's own floors together with the base fee, also after the next blocks were empty: a wallet
   * that offers what was suggested would otherwise wait forever where the base fee falls, where blocks have been empty, or full of
   * cheaper transactions of the validators' own callers.
   */
  private priorityFee({ priorityFee = 0n }: Estimate): bigint {
    const { minGasPriceWei, minPriorityFeeWei } = this.settings;
    const missingWei = minGasPriceWei - this.lowestBaseFeeSoon();
    return larger(larger(priorityFee, minPriorityFeeWei), missingWei);
  }

  private lowestBaseFeeSoon(): bigint {
    let baseFeePerGas = this.nextBaseFeePerGas() ?? 0n;
    if (this.spec.isZeroBaseFee || this.spec.fixedBaseFeePerGas !== undefined) return baseFeePerGas;
    for (let block = 0; block < BLOCKS_TO_INCLUSION; block++)
      baseFeePerGas = followingBaseFee({ baseFeePerGas, gasUsed: 0n, gasTarget: 1n });
    return baseFeePerGas;
  }
}

/** Blocks within which a transaction should come that is sent with the suggested tip. */
const BLOCKS_TO_INCLUSION = 8;

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
