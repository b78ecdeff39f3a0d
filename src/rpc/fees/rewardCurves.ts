import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainReader } from "../../chain/chainReader.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, type Hex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import { effectivePriorityFee } from "../../types/transaction.ts";

/** Most fees in all cached curves together. */
const CURVE_FEES_LIMIT = 300_000;

/** The rewards of eth_feeHistory. Their curves are cached, because wallets request the same blocks again; the oldest go first. */
export class RewardCurves {
  private readonly chain: Pick<ChainReader, "blockByNumber">;
  private readonly curves = new Map<string, RewardCurve>();
  private fees = 0;

  constructor(chain: Pick<ChainReader, "blockByNumber">) {
    this.chain = chain;
  }

  /** The priority fee at each percentile of a block's gas, rising; zeros for an empty block. */
  async rewards({ header, hash }: NamedHeader, percentiles: readonly number[]): Promise<readonly Hex[]> {
    if (percentiles.length === 0 || header.gasUsed === 0n) return percentiles.map(() => "0x0");
    let curve = this.curves.get(toKey(hash));
    if (curve === undefined) {
      await yieldToEventLoop();
      const block = this.chain.blockByNumber(header.number);
      // A rewind in between replaced or removed the block, so no fee was paid in it.
      if (block === undefined || !equalBytes(block.hash, hash)) return percentiles.map(() => "0x0");
      curve = this.put(block);
    }
    return rewardsAt(curve, percentiles);
  }

  private put(block: StoredBlock): RewardCurve {
    const key = toKey(block.hash);
    const curve = this.curves.get(key) ?? curveOf(block);
    if (this.curves.has(key)) return curve;
    this.curves.set(key, curve);
    this.fees += curve.feesWei.length;
    for (const [oldest, { feesWei }] of this.curves) {
      if (this.fees <= CURVE_FEES_LIMIT) break;
      this.curves.delete(oldest);
      this.fees -= feesWei.length;
    }
    return curve;
  }
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
