import type { ChainReader } from "../../chain/chainReader.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { blobBaseFee } from "../../execution/blockRules.ts";
import type { Hex } from "../../primitives/hex.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import { smaller, toQuantity } from "../../primitives/quantity.ts";
import type { NamedHeader } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { javaDouble } from "../results/javaDouble.ts";
import { RewardCurves } from "./rewardCurves.ts";

interface FeeHistoryRequest {
  /** The last block, at most the head. */
  readonly newest: bigint;
  readonly blockCount: number;
  /** Percentiles of the gas used in each block; like Besu, checks neither their order nor their range. */
  readonly percentiles: readonly number[] | undefined;
  /** True when the requester no longer waits, so the answer may be incomplete. */
  readonly isAbandoned?: () => boolean;
}

/** The answer of eth_feeHistory. */
interface FeeHistory {
  readonly oldestBlock: Hex;
  /** Base fees, one more than there are blocks: the last one belongs to the block after them. */
  readonly baseFeePerGas: readonly Hex[];
  readonly baseFeePerBlobGas: readonly Hex[];
  readonly gasUsedRatio: readonly number[];
  readonly blobGasUsedRatio: readonly number[];
  readonly reward?: readonly (readonly Hex[])[];
}

/** The answer as JSON, with the ratios as Java doubles, as in Besu. */
export function feeHistoryJson({ gasUsedRatio, blobGasUsedRatio, reward, ...fees }: FeeHistory): string {
  const ratios = (values: readonly number[]): string => `[${values.map(javaDouble).join(",")}]`;
  const before = JSON.stringify(fees).slice(0, -1);
  const rewards = reward === undefined ? "" : `,"reward":${JSON.stringify(reward)}`;
  return `${before},"gasUsedRatio":${ratios(gasUsedRatio)},"blobGasUsedRatio":${ratios(blobGasUsedRatio)}${rewards}}`;
}

/**
 * Answers eth_feeHistory (json-rpc.md#eth_feehistory). The fees of blocks are cached, because wallets request the same
 * blocks again.
 */
export class FeeHistoryReader {
  private readonly chain: ChainReader;
  private readonly spec: ChainSpec;
  private readonly nextBaseFeePerGas: () => bigint | undefined;
  private readonly curves: RewardCurves;

  constructor({
    chain,
    spec,
    nextBaseFeePerGas,
  }: {
    readonly chain: ChainReader;
    readonly spec: ChainSpec;
    readonly nextBaseFeePerGas: () => bigint | undefined;
  }) {
    this.chain = chain;
    this.spec = spec;
    this.nextBaseFeePerGas = nextBaseFeePerGas;
    this.curves = new RewardCurves(chain);
  }

  async read(request: FeeHistoryRequest): Promise<FeeHistory> {
    const { spec } = this;
    const headers = await this.headersOf(request);
    const baseFees = headers.map(({ header }) => header.baseFeePerGas ?? 0n);
    const blobFees = headers.map(({ header }) => blobFeeOf(spec, header));
    const last = headers.at(-1)?.header;
    if (last !== undefined) blobFees.push(blobBaseFee(spec, last.number + 1n, last.timestamp));
    const history: FeeHistory = {
      oldestBlock: toQuantity(headers[0]?.header.number ?? 0n),
      baseFeePerGas: [...baseFees, this.baseFeeAfter(request.newest)].map(toQuantity),
      baseFeePerBlobGas: blobFees.map(toQuantity),
      gasUsedRatio: headers.map(({ header }) => Number(header.gasUsed) / Number(header.gasLimit)),
      blobGasUsedRatio: headers.map(() => 0),
    };
    if (request.percentiles === undefined) return history;
    const percentiles = [...request.percentiles].sort((a, b) => a - b);
    const reward: (readonly Hex[])[] = [];
    // Curves that are cached take no turn of the event loop, and an answer may have 204,800 fees of them.
    const pacer = new EventLoopPacer();
    for (const named of headers) {
      if (request.isAbandoned?.() === true) break;
      reward.push(await this.curves.rewards(named, percentiles));
      if (pacer.isDue()) await pacer.yield();
    }
    return { ...history, reward };
  }

  private async headersOf({ newest, blockCount, isAbandoned }: FeeHistoryRequest): Promise<NamedHeader[]> {
    const { chain } = this;
    const headers: NamedHeader[] = [];
    const pacer = new EventLoopPacer();
    const first = newest - BigInt(blockCount) + 1n;
    const start = chain.historyStart.blocks;
    // The rewards of a block follow from its body, so the answer begins where bodies do; the genesis block is whole anyway.
    for (let number = first < start ? smaller(start, newest) : first; number <= newest; number++) {
      const named = chain.headerByNumber(number);
      if (named !== undefined) headers.push(named);
      if (pacer.isDue()) await pacer.yield();
      if (isAbandoned?.() === true) break;
    }
    return headers;
  }

  private baseFeeAfter(number: bigint): bigint {
    const next = this.chain.headerByNumber(number + 1n);
    return (next === undefined ? this.nextBaseFeePerGas() : next.header.baseFeePerGas) ?? 0n;
  }
}

/** The genesis block has no parent whose blob gas could set a price. */
function blobFeeOf(spec: ChainSpec, { number, timestamp }: Header): bigint {
  return number === 0n ? 0n : blobBaseFee(spec, number, timestamp);
}
