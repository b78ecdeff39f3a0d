import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainReader } from "../../chain/chain.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { blobBaseFee } from "../../execution/blockRules.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { EventLoopSlice } from "../../primitives/eventLoopSlice.ts";
import { equalBytes, type Hex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { effectivePriorityFee } from "../../types/transaction.ts";
import { javaDouble } from "../results/javaDouble.ts";

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
export interface FeeHistory {
  readonly oldestBlock: Hex;
  /** One more than the blocks: the last one belongs to the block after them. */
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
export interface FeeHistoryReader {
  read(request: FeeHistoryRequest): Promise<FeeHistory>;
}

export function createFeeHistoryReader(parts: {
  readonly chain: ChainReader;
  readonly spec: ChainSpec;
  readonly nextBaseFeePerGas: () => bigint | undefined;
}): FeeHistoryReader {
  const { chain, spec, nextBaseFeePerGas } = parts;
  const curves = createCurveCache();

  async function headersOf({ newest, blockCount, isAbandoned }: FeeHistoryRequest): Promise<NamedHeader[]> {
    const headers: NamedHeader[] = [];
    const slice = new EventLoopSlice();
    const first = newest - BigInt(blockCount) + 1n;
    for (let number = first < 0n ? 0n : first; number <= newest; number++) {
      const named = chain.headerByNumber(number);
      if (named !== undefined) headers.push(named);
      if (slice.isOver) await slice.yield();
      if (isAbandoned?.() === true) break;
    }
    return headers;
  }

  function baseFeeAfter(number: bigint): bigint {
    const next = chain.headerByNumber(number + 1n);
    return (next === undefined ? nextBaseFeePerGas() : next.header.baseFeePerGas) ?? 0n;
  }

  async function rewardsOf(named: NamedHeader, percentiles: readonly number[]): Promise<Hex[]> {
    if (percentiles.length === 0 || named.header.gasUsed === 0n) return percentiles.map(() => "0x0");
    let curve = curves.get(named);
    if (curve === undefined) {
      await yieldToEventLoop();
      const block = chain.blockByNumber(named.header.number);
      // A rewind in between replaced or removed the block, so no fee was paid in it.
      if (block === undefined || !equalBytes(block.hash, named.hash)) return percentiles.map(() => "0x0");
      curve = curves.put(block);
    }
    return rewardsAt(curve, percentiles);
  }

  return {
    async read(request) {
      const headers = await headersOf(request);
      const baseFees = headers.map(({ header }) => header.baseFeePerGas ?? 0n);
      const blobFees = headers.map(({ header }) => blobFeeOf(spec, header));
      const last = headers.at(-1)?.header;
      if (last !== undefined) blobFees.push(blobBaseFee(spec, last.number + 1n, last.timestamp));
      const history: FeeHistory = {
        oldestBlock: toQuantity(headers[0]?.header.number ?? 0n),
        baseFeePerGas: [...baseFees, baseFeeAfter(request.newest)].map(toQuantity),
        baseFeePerBlobGas: blobFees.map(toQuantity),
        gasUsedRatio: headers.map(({ header }) => Number(header.gasUsed) / Number(header.gasLimit)),
        blobGasUsedRatio: headers.map(() => 0),
      };
      if (request.percentiles === undefined) return history;
      const percentiles = [...request.percentiles].sort((a, b) => a - b);
      const reward: Hex[][] = [];
      for (const named of headers) {
        if (request.isAbandoned?.() === true) break;
        reward.push(await rewardsOf(named, percentiles));
      }
      return { ...history, reward };
    },
  };
}

/** The genesis block has no parent whose blob gas could set a price. */
function blobFeeOf(spec: ChainSpec, { number, timestamp }: Header): bigint {
  return number === 0n ? 0n : blobBaseFee(spec, number, timestamp);
}

/** The priority fees that a block's transactions paid, each once and rising, with the gas used by all up to that fee. */
interface RewardCurve {
  readonly feesWei: readonly bigint[];
  readonly gasUpTo: readonly number[];
  readonly gasUsed: number;
}

function curveOf({ header, transactions, receipts }: StoredBlock): RewardCurve {
  const paid = transactions
    .map((transaction, index) => ({
      feeWei: effectivePriorityFee(transaction, header.baseFeePerGas),
      gas: Number(receipts[index]?.gasUsed ?? 0n),
    }))
    .sort((a, b) => (a.feeWei < b.feeWei ? -1 : a.feeWei > b.feeWei ? 1 : 0));
  const feesWei: bigint[] = [];
  const gasUpTo: number[] = [];
  let sum = 0;
  for (const { feeWei, gas } of paid) {
    sum += gas;
    if (feesWei.at(-1) === feeWei) gasUpTo.pop();
    else feesWei.push(feeWei);
    gasUpTo.push(sum);
  }
  return { feesWei, gasUpTo, gasUsed: Number(header.gasUsed) };
}

/** For each percentile, rising, the fee at which that share of the gas is reached; the highest fee where it never is. */
function rewardsAt({ feesWei, gasUpTo, gasUsed }: RewardCurve, percentiles: readonly number[]): Hex[] {
  let index = 0;
  return percentiles.map((percentile) => {
    const wantedGas = (percentile * gasUsed) / 100;
    while (index < feesWei.length - 1 && (gasUpTo[index] ?? 0) < wantedGas) index++;
    return toQuantity(feesWei[index] ?? 0n);
  });
}

interface CurveCache {
  get(named: NamedHeader): RewardCurve | undefined;
  put(block: StoredBlock): RewardCurve;
}

/** Most fees in all cached curves together. */
const CURVE_FEES_LIMIT = 300_000;

/** Drops the oldest curves first. */
function createCurveCache(): CurveCache {
  const curves = new Map<string, RewardCurve>();
  let fees = 0;
  return {
    get: ({ hash }) => curves.get(toKey(hash)),
    put(block) {
      const key = toKey(block.hash);
      const curve = curves.get(key) ?? curveOf(block);
      if (curves.has(key)) return curve;
      curves.set(key, curve);
      fees += curve.feesWei.length;
      for (const [oldest, { feesWei }] of curves) {
        if (fees <= CURVE_FEES_LIMIT) break;
        curves.delete(oldest);
        fees -= feesWei.length;
      }
      return curve;
    },
  };
}
