import type { JsonSchema } from "./method.ts";

/**
 * JSON schemas of parameter and result values (json-rpc.md#value-encodings) for the OpenRPC document, in JSON Schema
 * draft 7, which OpenRPC builds on.
 */

export const QUANTITY: JsonSchema = { type: "string", pattern: "^0x(0|[1-9a-f][0-9a-f]*)$" };
export const DATA: JsonSchema = { type: "string", pattern: "^0x([0-9a-f]{2})*$" };
/** Numbers and data as clients may write them: digits in any case, leading zeros in a number. */
export const GIVEN_QUANTITY: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{1,64}$" };
export const GIVEN_DATA: JsonSchema = { type: "string", pattern: "^0x([0-9a-fA-F]{2})*$" };
/** A storage slot or a position among hashes, with or without leading zeros. */
export const POSITION: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{0,64}$" };
export const ADDRESS: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" };
export const HASH: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" };
export const TEXT: JsonSchema = { type: "string" };
export const BOOLEAN: JsonSchema = { type: "boolean" };
export const INTEGER: JsonSchema = { type: "integer" };
export const NUMBER: JsonSchema = { type: "number" };
export const OBJECT: JsonSchema = { type: "object" };
const NOTHING: JsonSchema = { type: "null" };
/** The result of methods that answer null when they have done what was asked. */
export const NULL_RESULT = { name: "nothing", schema: NOTHING };
/** A number in any form in which tools for development send it. */
export const NUMBER_OR_QUANTITY = { oneOf: [{ type: "integer", minimum: 0 }, TEXT] } as const;

const TAG: JsonSchema = { enum: ["latest", "earliest", "pending", "finalized", "safe"] };
/** Shorter than any hash, so that no text matches both schemas. */
const BLOCK_NUMBER: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{1,16}$" };

export const NUMBER_OR_TAG: JsonSchema = { oneOf: [BLOCK_NUMBER, TAG] };
/** Otterscan and tools for go-ethereum send JSON numbers. */
export const OTTERSCAN_NUMBER: JsonSchema = { oneOf: [{ type: "integer", minimum: 0 }, BLOCK_NUMBER] };
export const JSON_NUMBER_OR_TAG: JsonSchema = { oneOf: [{ type: "integer", minimum: 0 }, BLOCK_NUMBER, TAG] };
export const NUMBER_TAG_OR_HASH: JsonSchema = {
  oneOf: [
    BLOCK_NUMBER,
    TAG,
    HASH,
    { type: "object", properties: { blockHash: HASH, blockNumber: BLOCK_NUMBER, requireCanonical: BOOLEAN } },
  ],
};

export const LIST_PAGE: JsonSchema = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 1, maximum: 100 },
    order: { enum: ["newest", "oldest"] },
    cursor: orNull(GIVEN_DATA),
  },
};

const ACCESS_LIST: JsonSchema = listOf({
  type: "object",
  properties: { address: ADDRESS, storageKeys: listOf(HASH) },
});

const AUTHORIZATION_LIST: JsonSchema = listOf({
  type: "object",
  properties: {
    chainId: GIVEN_QUANTITY,
    address: ADDRESS,
    nonce: GIVEN_QUANTITY,
    yParity: GIVEN_QUANTITY,
    r: GIVEN_QUANTITY,
    s: GIVEN_QUANTITY,
  },
  required: ["chainId", "address", "nonce", "yParity", "r", "s"],
});

export const CALL: JsonSchema = {
  type: "object",
  properties: {
    from: ADDRESS,
    to: orNull(ADDRESS),
    gas: GIVEN_QUANTITY,
    gasPrice: GIVEN_QUANTITY,
    maxFeePerGas: GIVEN_QUANTITY,
    maxPriorityFeePerGas: GIVEN_QUANTITY,
    value: GIVEN_QUANTITY,
    data: GIVEN_DATA,
    input: GIVEN_DATA,
    accessList: ACCESS_LIST,
    authorizationList: AUTHORIZATION_LIST,
    strict: BOOLEAN,
  },
};

const ADDRESSES: JsonSchema = orNull({ oneOf: [ADDRESS, listOf(ADDRESS)] });

const LOG_FILTER_MEMBERS: JsonSchema = {
  fromBlock: NUMBER_OR_TAG,
  toBlock: NUMBER_OR_TAG,
  blockHash: HASH,
  blockhash: HASH,
  address: ADDRESSES,
  topics: orNull(listOf({ oneOf: [{ type: "null" }, HASH, listOf({ oneOf: [{ type: "null" }, HASH] })] })),
};

export const LOG_FILTER: JsonSchema = {
  type: "object",
  properties: LOG_FILTER_MEMBERS,
  additionalProperties: false,
};

/** Members of a log filter are allowed and ignored. */
export const TRACE_FILTER: JsonSchema = {
  type: "object",
  properties: {
    ...LOG_FILTER_MEMBERS,
    fromAddress: ADDRESSES,
    toAddress: ADDRESSES,
    mode: { type: "string", enum: ["union", "intersection"] },
    after: INTEGER,
    count: INTEGER,
  },
  additionalProperties: false,
};

export function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** The schema, or null for a result that was not found. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { oneOf: [schema, { type: "null" }] };
}
