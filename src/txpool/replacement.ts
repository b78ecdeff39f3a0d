import { effectiveGasPrice, effectivePriorityFee, type Transaction } from "../types/transaction.ts";

const DEFAULT_PRICE_BUMP_PERCENT = 10;

/**
 * The rise in price that a replacement must bring. Where gas is free nobody can raise a price, so there an equal price
 * replaces, unless the operator named a bump (json-rpc.md#eth_sendrawtransaction, row 16).
 */
export function priceBumpPercent(circumstances: {
  readonly givenPercent: number | undefined;
  readonly isZeroBaseFee: boolean;
  readonly minGasPriceWei: bigint;
}): number {
  const { givenPercent, isZeroBaseFee, minGasPriceWei } = circumstances;
  if (givenPercent !== undefined) return givenPercent;
  return isZeroBaseFee || minGasPriceWei === 0n ? 0 : DEFAULT_PRICE_BUMP_PERCENT;
}

/**
 * Whether `newcomer` pays enough more to take the place of `holder`, which has its sender and nonce. Two transactions
 * with a plain gas price compare that. As soon as one has fee caps, what counts is what each would pay in the next
 * block: a price raised by the bump with no lower tip, or the same price with a tip raised by the bump.
 */
export function mayReplace(
  holder: Transaction,
  newcomer: Transaction,
  config: { readonly bumpPercent: number; readonly baseFeePerGas: bigint | undefined },
): boolean {
  const { bumpPercent, baseFeePerGas } = config;
  if (holder.gasPrice !== undefined && newcomer.gasPrice !== undefined) {
    return newcomer.gasPrice >= (holder.gasPrice * BigInt(100 + bumpPercent)) / 100n;
  }
  const oldPrice = effectiveGasPrice(holder, baseFeePerGas);
  const newPrice = effectiveGasPrice(newcomer, baseFeePerGas);
  const oldTip = effectivePriorityFee(holder, baseFeePerGas);
  const newTip = effectivePriorityFee(newcomer, baseFeePerGas);
  if (isRaised(oldPrice, newPrice, bumpPercent)) return newTip >= oldTip;
  return oldPrice === newPrice && isRaised(oldTip, newTip, bumpPercent);
}

function isRaised(from: bigint, to: bigint, percent: number): boolean {
  return from * BigInt(100 + percent) <= to * 100n;
}
