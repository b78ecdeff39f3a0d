import type { JsonSchema } from "./method.ts";

/** JSON schemas of the values that parameters and results are made of (json-rpc.md §0.1), for the OpenRPC document. */

export const QUANTITY: JsonSchema = { type: "string", pattern: "^0x(0|[1-9a-f][0-9a-f]*)$" };
export const DATA: JsonSchema = { type: "string", pattern: "^0x([0-9a-f]{2})*$" };
export const ADDRESS: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" };
export const HASH: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" };
export const TEXT: JsonSchema = { type: "string" };
export const BOOLEAN: JsonSchema = { type: "boolean" };
export const INTEGER: JsonSchema = { type: "integer" };
export const OBJECT: JsonSchema = { type: "object" };

const TAG: JsonSchema = { enum: ["latest", "earliest", "pending", "finalized", "safe"] };

export const NUMBER_OR_TAG: JsonSchema = { oneOf: [QUANTITY, TAG] };
export const NUMBER_TAG_OR_HASH: JsonSchema = {
  oneOf: [
    QUANTITY,
    TAG,
    HASH,
    { type: "object", properties: { blockHash: HASH, blockNumber: QUANTITY, requireCanonical: BOOLEAN } },
  ],
};

const ACCESS_LIST: JsonSchema = listOf({
  type: "object",
  properties: { address: ADDRESS, storageKeys: listOf(HASH) },
});

export const CALL: JsonSchema = {
  type: "object",
  properties: {
    from: ADDRESS,
    to: ADDRESS,
    gas: QUANTITY,
    gasPrice: QUANTITY,
    maxFeePerGas: QUANTITY,
    maxPriorityFeePerGas: QUANTITY,
    value: QUANTITY,
    data: DATA,
    input: DATA,
    accessList: ACCESS_LIST,
    strict: BOOLEAN,
  },
};

export const LOG_FILTER: JsonSchema = {
  type: "object",
  properties: {
    fromBlock: NUMBER_OR_TAG,
    toBlock: NUMBER_OR_TAG,
    blockHash: HASH,
    address: { oneOf: [ADDRESS, listOf(ADDRESS)] },
    topics: listOf({ oneOf: [{ type: "null" }, HASH, listOf({ oneOf: [{ type: "null" }, HASH] })] }),
  },
  additionalProperties: false,
};

export function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** The same, or null where nothing was found. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { oneOf: [schema, { type: "null" }] };
}
