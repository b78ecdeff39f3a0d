import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainReader } from "../../chain/chainReader.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { StoredBlock } from "../../types/block.ts";
import { createPriceSample, type PriceSample } from "./priceSample.ts";

/** The prices of one block. */
interface BlockSample {
  /** Prices of the transactions with a gas price. */
  readonly gasPrices: PriceSample;
  /** Fees of the transactions with a priority fee. */
  readonly priorityFees: PriceSample;
}

/**
 * Samples of the latest blocks. Each block is sampled once: a new block when it becomes the head, others at the first request,
 * with a yield to the event loop between them. Only the last of the blocks of a bulk import becomes the head.
 */
export class BlockSamples {
  private readonly chain: ChainReader;
  /** Blocks that one request takes samples of. */
  private readonly blocks: number;
  private readonly samples = new Map<string, BlockSample>();

  constructor(chain: ChainReader, blocks: number) {
    this.chain = chain;
    this.blocks = blocks;
  }

  /** Samples each new head from now on. */
  follow(): void {
    this.chain.onHeadChanged("feeSamples", ({ head: { header } }) => {
      const block = header.gasUsed > 0n ? this.chain.blockByNumber(header.number) : undefined;
      if (block !== undefined) this.remember(block);
    });
  }

  /** Samples of up to `blocks` blocks that end with `last`, without those of empty blocks. */
  async upTo(last: bigint): Promise<BlockSample[]> {
    const { chain } = this;
    const found: BlockSample[] = [];
    const first = last - BigInt(this.blocks) + 1n;
    for (let number = first < 0n ? 0n : first; number <= last; number++) {
      const named = chain.headerByNumber(number);
      if (named === undefined || named.header.gasUsed === 0n) continue;
      const known = this.samples.get(toKey(named.hash));
      const block = known === undefined ? chain.blockByNumber(number) : undefined;
      if (block !== undefined) await yieldToEventLoop();
      const sample = known ?? (block && this.remember(block));
      if (sample !== undefined) found.push(sample);
    }
    return found;
  }

  private remember(block: StoredBlock): BlockSample {
    const sample = sampleOf(block);
    this.samples.set(toKey(block.hash), sample);
    for (const key of this.samples.keys()) {
      if (this.samples.size <= 2 * (this.blocks + 1)) break;
      this.samples.delete(key);
    }
    return sample;
  }
}

function sampleOf({ transactions }: StoredBlock): BlockSample {
  return {
    gasPrices: createPriceSample(transactions.flatMap(({ gasPrice }) => gasPrice ?? [])),
    priorityFees: createPriceSample(
      transactions.flatMap(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas ?? []),
    ),
  };
}
