import { effectiveGasPrice, effectivePriorityFee, type Transaction } from "../types/transaction.ts";

const DEFAULT_PRICE_BUMP_PERCENT = 10;

/**
 * The rise in price that a replacement must bring. Where gas is free nobody can raise a price, so there an equal price
 * replaces, unless the operator named a bump (json-rpc.md#eth_sendrawtransaction, row 16).
 */
export function priceBumpPercent(config: {
  readonly configuredPercent: number | undefined;
  readonly isZeroBaseFee: boolean;
  readonly minGasPriceWei: bigint;
}): number {
  const { configuredPercent, isZeroBaseFee, minGasPriceWei } = config;
  if (configuredPercent !== undefined) return configuredPercent;
  return isZeroBaseFee || minGasPriceWei === 0n ? 0 : DEFAULT_PRICE_BUMP_PERCENT;
}

/**
 * Whether `newcomer` pays enough more to take the place of `holder`, which has its sender and nonce. Two transactions
 * with a plain gas price compare that. As soon as one has fee caps, what counts is what each would pay in the next
 * block: a price raised by the bump with no lower tip, or the same price with a tip raised by the bump.
 */
export function mayReplace(
  existing: Transaction,
  replacement: Transaction,
  config: { readonly bumpPercent: number; readonly baseFeePerGas: bigint | undefined },
): boolean {
  const { bumpPercent, baseFeePerGas } = config;
  if (existing.gasPrice !== undefined && replacement.gasPrice !== undefined) {
    return replacement.gasPrice >= (existing.gasPrice * BigInt(100 + bumpPercent)) / 100n;
  }
  const oldPrice = effectiveGasPrice(existing, baseFeePerGas);
  const newPrice = effectiveGasPrice(replacement, baseFeePerGas);
  const oldTip = effectivePriorityFee(existing, baseFeePerGas);
  const newTip = effectivePriorityFee(replacement, baseFeePerGas);
  if (isRaised(oldPrice, newPrice, bumpPercent)) return newTip >= oldTip;
  return oldPrice === newPrice && isRaised(oldTip, newTip, bumpPercent);
}

function isRaised(from: bigint, to: bigint, percent: number): boolean {
  return from * BigInt(100 + percent) <= to * 100n;
}
