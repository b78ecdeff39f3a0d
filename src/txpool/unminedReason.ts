import { effectivePriorityFee, type FeeFields } from "../types/transaction.ts";
import type { BlockFloors } from "./limits.ts";

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

/** The first reason that applies, in the order in which a validator checks (ordering.ts). */
export function whyUnmined(
  transaction: FeeFields,
  { floors, baseFeePerGas }: { readonly floors: BlockFloors; readonly baseFeePerGas: bigint | undefined },
): UnminedReason {
  const tipWei = effectivePriorityFee(transaction, baseFeePerGas);
  if (tipWei < 0n) return "belowBaseFee";
  if (tipWei + (baseFeePerGas ?? 0n) < floors.minGasPriceWei) return "belowMinGasPrice";
  return tipWei < floors.minPriorityFeeWei ? "belowMinPriorityFee" : "unknown";
}
