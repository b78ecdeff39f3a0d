import { assertNever } from "../primitives/assert.ts";
import { effectiveGasPrice, effectivePriorityFee, type FeeFields } from "../types/transaction.ts";
import { type BlockFloors, missedFloor } from "./limits.ts";

/** Why blocks may pass over a transaction, as far as one node can know: it sees only the base fee and its own floors. */
export type UnminedReason = "belowBaseFee" | "belowMinGasPrice" | "belowMinPriorityFee" | "unknown";

/** The reason in words, after "no block took a local transaction for a minute, although blocks had room". */
export const UNMINED_WORDS: Readonly<Record<UnminedReason, string>> = {
  belowBaseFee: "it offers less than the base fee",
  belowMinGasPrice: "it offers less than --min-gas-price, which validators with the same floor require",
  belowMinPriorityFee:
    "its priority fee is less than --min-priority-fee, which validators with the same floor require",
  unknown: "validators may require a higher price",
};

/** What a transaction pays, and whether that is enough. */
export interface PriceJudgement {
  readonly reason: UnminedReason;
  /** The price that it would pay in a block with the base fee: at most what it offers. */
  readonly priceWei: bigint;
  /** The price that it would have to pay, by its reason; undefined when that is not known. */
  readonly askedWei: bigint | undefined;
}

interface PriceRules {
  readonly floors: BlockFloors;
  readonly baseFeePerGas: bigint | undefined;
}

/** Judges the price of a transaction; the reason is the first that applies, in the order in which a validator checks (ordering.ts). */
export function judgePrice(transaction: FeeFields, rules: PriceRules): PriceJudgement {
  const reason = whyUnmined(transaction, rules);
  return {
    reason,
    priceWei: effectiveGasPrice(transaction, rules.baseFeePerGas),
    askedWei: askedBy(reason, rules),
  };
}

function whyUnmined(transaction: FeeFields, { floors, baseFeePerGas }: PriceRules): UnminedReason {
  const tipWei = effectivePriorityFee(transaction, baseFeePerGas);
  if (tipWei < 0n) return "belowBaseFee";
  return missedFloor(tipWei, baseFeePerGas, floors) ?? "unknown";
}

function askedBy(
  reason: UnminedReason,
  { floors, baseFeePerGas: baseFeeWei = 0n }: PriceRules,
): bigint | undefined {
  switch (reason) {
    case "belowBaseFee":
      return baseFeeWei;
    case "belowMinGasPrice":
      return floors.minGasPriceWei;
    case "belowMinPriorityFee":
      return baseFeeWei + floors.minPriorityFeeWei;
    case "unknown":
      return undefined;
    default:
      return assertNever(reason);
  }
}
