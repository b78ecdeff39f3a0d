import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainReader } from "../../chain/chain.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { onceKnown } from "../../primitives/onceKnown.ts";
import { larger } from "../../primitives/quantity.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import { createPriceSample, type PriceSample, percentileOf } from "./priceSample.ts";

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

/**
 * Each block is sampled once: a new block when it becomes the head, older ones at the first request, with a yield to the
 * event loop between them. The percentile is computed once per head.
 */
export function createGasPriceOracle(
  settings: GasPriceSettings,
  parts: { readonly chain: ChainReader; readonly nextBaseFeePerGas: () => bigint | undefined },
): GasPriceOracle {
  const { chain, nextBaseFeePerGas } = parts;
  const samples = new Map<string, BlockSample>();
  let isFollowing = false;
  let latest:
    | { readonly head: NamedHeader; readonly estimate: Promise<Estimate>; found?: Estimate }
    | undefined;

  function remember(block: StoredBlock): BlockSample {
    const sample = sampleOf(block);
    samples.set(toKey(block.hash), sample);
    dropOldest(samples, 2 * (settings.blocks + 1));
    return sample;
  }

  /** Samples of up to `settings.blocks` blocks that end with `last`. */
  async function samplesUpTo(last: bigint): Promise<BlockSample[]> {
    const found: BlockSample[] = [];
    const first = last - BigInt(settings.blocks) + 1n;
    for (let number = first < 0n ? 0n : first; number <= last; number++) {
      const named = chain.headerByNumber(number);
      if (named === undefined || named.header.gasUsed === 0n) continue;
      const known = samples.get(toKey(named.hash));
      const block = known === undefined ? chain.blockByNumber(number) : undefined;
      if (block !== undefined) await yieldToEventLoop();
      const sample = known ?? (block && remember(block));
      if (sample !== undefined) found.push(sample);
    }
    return found;
  }

  async function estimateAt({ header }: NamedHeader): Promise<Estimate> {
    const upToHead = await samplesUpTo(header.number);
    const beforeHead = await samplesUpTo(header.number - 1n);
    return {
      gasPrice: percentileOf(
        upToHead.map(({ gasPrices }) => gasPrices),
        settings.percentile,
      ),
      priorityFee: percentileOf(
        beforeHead.map(({ priorityFees }) => priorityFees),
        settings.percentile,
      ),
    };
  }

  function estimate(): Estimate | Promise<Estimate> {
    if (!isFollowing) {
      isFollowing = true;
      chain.onHeadChanged(({ added }) => {
        for (const block of added) if (block.header.gasUsed > 0n) remember(block);
      });
    }
    const { head } = chain;
    if (latest?.head !== head) {
      const started: NonNullable<typeof latest> = { head, estimate: estimateAt(head) };
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

  function priorityFee(found: Estimate): bigint {
    return found.priorityFee ?? settings.minPriorityFeeWei;
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

interface BlockSample {
  /** Of transactions with a gas price. */
  readonly gasPrices: PriceSample;
  /** Of transactions with a priority fee. */
  readonly priorityFees: PriceSample;
}

function sampleOf({ transactions }: StoredBlock): BlockSample {
  return {
    gasPrices: createPriceSample(transactions.flatMap(({ gasPrice }) => gasPrice ?? [])),
    priorityFees: createPriceSample(
      transactions.flatMap(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas ?? []),
    ),
  };
}
