import { buildSchema, graphql } from "graphql";
import { toQuantity } from "../../primitives/quantity.ts";
import { prettySlices } from "../results/prettyJson.ts";
import type { GraphQlAnswer, GraphQlContext, GraphQlRequest } from "./request.ts";
import { SCHEMA_TEXT } from "./schemaText.ts";

const SCHEMA = buildSchema(SCHEMA_TEXT);

/**
 * Answers a GraphQL request. A caller who goes away is told by `context.isAbandoned` or by `signal`, and ends the work; the
 * answer is then of no interest.
 */
export async function answerGraphQl(
  { query, operationName, variables }: GraphQlRequest,
  { backend }: GraphQlContext,
  signal: AbortSignal,
): Promise<GraphQlAnswer> {
  signal.throwIfAborted();
  const result = await graphql({
    schema: SCHEMA,
    source: query,
    operationName: operationName ?? null,
    variableValues: variables,
    rootValue: { gasPrice: async () => toQuantity(await backend.gasPrices.gasPriceWei()) },
  });
  return {
    status: result.errors === undefined ? 200 : 400,
    body: prettySlices([JSON.stringify(result)]),
  };
}
