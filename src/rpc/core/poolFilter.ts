import type { Address } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { feeCap, type SentTransaction } from "../../types/transaction.ts";

/** Conditions that a pooled transaction must all fulfil. */
export type PoolFilter = readonly PoolCondition[];

export type PoolCondition =
  | { readonly field: "from" | "to"; readonly address: Address }
  | { readonly field: "creation" }
  | { readonly field: NumericField; readonly operator: Comparison; readonly bound: bigint };

export type NumericField = "gas" | "gasPrice" | "value" | "nonce";
export type Comparison = "eq" | "lt" | "gt";

export function passesPoolFilter(filter: PoolFilter, transaction: SentTransaction): boolean {
  return filter.every((condition) => passes(condition, transaction));
}

function passes(condition: PoolCondition, transaction: SentTransaction): boolean {
  const { sender, to } = transaction;
  switch (condition.field) {
    case "from":
      return equalBytes(sender, condition.address);
    case "to":
      return to !== undefined && equalBytes(to, condition.address);
    case "creation":
      return to === undefined;
    default:
      return compares(READERS[condition.field](transaction), condition);
  }
}

function compares(
  value: bigint,
  { operator, bound }: { readonly operator: Comparison; readonly bound: bigint },
): boolean {
  if (operator === "eq") return value === bound;
  return operator === "lt" ? value < bound : value > bound;
}

/** The gasPrice of a fee-market transaction is its fee cap, as in pool listings. */
const READERS: Readonly<Record<NumericField, (transaction: SentTransaction) => bigint>> = {
  gas: ({ gasLimit }) => gasLimit,
  gasPrice: feeCap,
  value: ({ value }) => value,
  nonce: ({ nonce }) => nonce,
};
