import type { Comparison, NumericField, PoolCondition, PoolFilter } from "../core/poolFilter.ts";
import type { JsonSchema } from "../method.ts";
import { ADDRESS, GIVEN_QUANTITY } from "../schemas.ts";
import { decodeAddress, decodeJavaLong, decodeWei, isAbsent, isObject } from "./parameters.ts";

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
  const conditions: PoolCondition[] = [];
  for (const [field, decode] of FIELDS) {
    const condition = value[field];
    if (isAbsent(condition)) continue;
    if (!isObject(condition)) return undefined;
    const [first, ...others] = Object.entries(condition);
    if (first === undefined) continue;
    const [operator, operand] = first;
    const decoded = others.length === 0 ? decode(operator.toLowerCase(), String(operand)) : undefined;
    if (decoded === undefined) return undefined;
    conditions.push(decoded);
  }
  return conditions;
}

/** One operator with its value. */
function condition(operators: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties: operators, additionalProperties: false, maxProperties: 1 };
}

type ConditionDecoder = (operator: string, operand: string) => PoolCondition | undefined;

const FIELDS: readonly (readonly [field: string, decode: ConditionDecoder])[] = [
  ["from", decodeSender],
  ["to", decodeRecipient],
  ["gas", comparison("gas", decodeWei)],
  ["gasPrice", comparison("gasPrice", decodeWei)],
  ["value", comparison("value", decodeWei)],
  ["nonce", comparison("nonce", decodeJavaLong)],
];

function decodeSender(operator: string, operand: string): PoolCondition | undefined {
  const address = decodeAddress(operand);
  return operator !== "eq" || address === undefined ? undefined : { field: "from", address };
}

/** The only action is contract_creation; its name is not checked. */
function decodeRecipient(operator: string, operand: string): PoolCondition | undefined {
  if (operator === "action") return { field: "creation" };
  const address = decodeAddress(operand);
  return operator !== "eq" || address === undefined ? undefined : { field: "to", address };
}

function comparison(field: NumericField, decode: (operand: string) => bigint | undefined): ConditionDecoder {
  return (operator, operand) => {
    const bound = decode(operand);
    if (bound === undefined || !isComparison(operator)) return undefined;
    return { field, operator, bound };
  };
}

function isComparison(operator: string): operator is Comparison {
  return operator === "eq" || operator === "lt" || operator === "gt";
}
