import { equalBytes } from "../../primitives/hex.ts";
import { feeCap, type SentTransaction } from "../../types/transaction.ts";
import type { JsonSchema } from "../method.ts";
import { ADDRESS, GIVEN_QUANTITY } from "../schemas.ts";
import { decodeAddress, decodeJavaLong, decodeWei, isAbsent, isObject } from "./parameters.ts";

export type PoolFilter = (transaction: SentTransaction) => boolean;

const BOUND = condition({ eq: GIVEN_QUANTITY, lt: GIVEN_QUANTITY, gt: GIVEN_QUANTITY });

export const POOL_FILTER: JsonSchema = {
  type: "object",
  properties: {
    from: condition({ eq: ADDRESS }),
    to: condition({ eq: ADDRESS, action: { enum: ["contract_creation"] } }),
    gas: BOUND,
    gasPrice: BOUND,
    value: BOUND,
    nonce: BOUND,
  },
};

/**
 * The `fields` object of txpool_nodePendingTransactions (json-rpc.md#txpool): each known field has exactly one operator
 * with its value, and all conditions must hold. `from` supports only eq, `to` eq and action, the rest eq, lt and gt.
 */
export function decodePoolFilter(value: unknown): PoolFilter | undefined {
  if (!isObject(value)) return undefined;
  const filters: PoolFilter[] = [];
  for (const [field, decode] of FIELDS) {
    const condition = value[field];
    if (isAbsent(condition)) continue;
    if (!isObject(condition)) return undefined;
    const [first, ...others] = Object.entries(condition);
    if (first === undefined) continue;
    const [operator, operand] = first;
    const filter = others.length === 0 ? decode(operator.toLowerCase(), String(operand)) : undefined;
    if (filter === undefined) return undefined;
    filters.push(filter);
  }
  return (transaction) => filters.every((filter) => filter(transaction));
}

/** One operator with its value. */
function condition(operators: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties: operators, additionalProperties: false, maxProperties: 1 };
}

type ConditionDecoder = (operator: string, operand: string) => PoolFilter | undefined;

/** The gasPrice of a fee-market transaction is its fee cap, as in pool listings. */
const FIELDS: readonly (readonly [field: string, decode: ConditionDecoder])[] = [
  ["from", decodeSender],
  ["to", decodeRecipient],
  ["gas", comparison((transaction) => transaction.gasLimit, decodeWei)],
  ["gasPrice", comparison(feeCap, decodeWei)],
  ["value", comparison((transaction) => transaction.value, decodeWei)],
  ["nonce", comparison((transaction) => transaction.nonce, decodeJavaLong)],
];

function decodeSender(operator: string, operand: string): PoolFilter | undefined {
  const address = decodeAddress(operand);
  if (operator !== "eq" || address === undefined) return undefined;
  return ({ sender }) => equalBytes(sender, address);
}

/** The only action is contract_creation; its name is not checked. A contract creation has no recipient to compare. */
function decodeRecipient(operator: string, operand: string): PoolFilter | undefined {
  if (operator === "action") return ({ to }) => to === undefined;
  const address = decodeAddress(operand);
  if (operator !== "eq" || address === undefined) return undefined;
  return ({ to }) => to !== undefined && equalBytes(to, address);
}

function comparison(
  read: (transaction: SentTransaction) => bigint,
  decode: (operand: string) => bigint | undefined,
): ConditionDecoder {
  return (operator, operand) => {
    const bound = decode(operand);
    if (bound === undefined) return undefined;
    switch (operator) {
      case "eq":
        return (transaction) => read(transaction) === bound;
      case "lt":
        return (transaction) => read(transaction) < bound;
      case "gt":
        return (transaction) => read(transaction) > bound;
      default:
        return undefined;
    }
  };
}
