import { effectiveGasPrice, effectivePriorityFee, type Transaction } from "../types/transaction.ts";

const DEFAULT_PRICE_BUMP_PERCENT = 10;

/**
 * The price increase that a replacement must offer. Where gas is free nobody can raise a price, so an equal price
 * replaces, unless the operator configured a bump (json-rpc.md#eth_sendrawtransaction).
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
 * Whether `replacement` pays enough more than `existing`, which has the same sender and nonce. Two transactions with a
 * plain gas price compare that. If either has fee caps, the payments in the next block are compared: a price raised by
 * the bump with no lower tip, or the same price with a tip raised by the bump.
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
