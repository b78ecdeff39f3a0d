import type { CallRequest, SimulationResult } from "../../../execution/simulation/callRequest.ts";
import { asAddress } from "../../../primitives/address.ts";
import { EMPTY_BYTES } from "../../../primitives/hex.ts";
import type { Header } from "../../../types/header.ts";
import { ERRORS } from "../../errors/errors.ts";
import { callError } from "../../errors/simulationErrors.ts";
import { rpcError } from "../graphQlError.ts";
import { bytesOf, type FieldContext, longOf, type Resolve, type ResolverTable } from "./resolverTable.ts";

/** The fields `call` and `estimateGas` of an object that stands for the state after a block. */
export function callFields<Source>(
  headerOf: (source: Source, context: FieldContext) => Header,
): Readonly<Record<"call" | "estimateGas", Resolve>> {
  const run = (source: Source, data: unknown, context: FieldContext): Promise<CallResult> =>
    runCall(headerOf(source, context), data, context);
  return {
    call: (source: Source, { data }, context) => run(source, data, context),
    estimateGas: async (source: Source, { data }, context) => (await run(source, data, context)).gasUsed,
  };
}

export const CALL_FIELDS: ResolverTable = {
  CallResult: {
    data: ({ data }: CallResult) => data,
    gasUsed: ({ gasUsed }: CallResult) => gasUsed,
    status: ({ status }: CallResult) => status,
  },
};

interface CallResult {
  readonly data: Uint8Array;
  readonly gasUsed: bigint;
  readonly status: 0 | 1;
}

/** Runs a call after a block. One that fails has a result, too: the gas that it used, and no data. */
async function runCall(header: Header, data: unknown, { request }: FieldContext): Promise<CallResult> {
  const call = callOf(data as Record<string, unknown>);
  const job = { kind: "call", call, blockNumber: header.number } as const;
  return callResult(await request.backend.simulator.run(job, request), call.gasLimit ?? header.gasLimit);
}

function callResult(result: SimulationResult, gasLimit: bigint): CallResult {
  switch (result.kind) {
    case "returned":
      return { data: result.data, gasUsed: result.gas, status: 1 };
    case "reverted":
    case "halted":
      return { data: EMPTY_BYTES, gasUsed: result.gas, status: 0 };
    case "refused":
      // Besu counts one unit more than the limit for a call that is not executed.
      return { data: EMPTY_BYTES, gasUsed: gasLimit + 1n, status: 0 };
    case "stateUnavailable":
      throw rpcError(ERRORS.worldStateUnavailable);
    default:
      throw rpcError(callError(result));
  }
}

/** A negative gas limit is none, as in Besu. */
function callOf(members: Readonly<Record<string, unknown>>): CallRequest {
  const from = bytesOf(members["from"]);
  const to = bytesOf(members["to"]);
  const gasLimit = longOf(members["gas"]);
  const gasPrice = longOf(members["gasPrice"]);
  const maxFeePerGas = longOf(members["maxFeePerGas"]);
  const maxPriorityFeePerGas = longOf(members["maxPriorityFeePerGas"]);
  const value = longOf(members["value"]);
  const data = bytesOf(members["data"]);
  return {
    ...(from !== undefined && { from: asAddress(from) }),
    ...(to !== undefined && { to: asAddress(to) }),
    ...(gasLimit !== undefined && gasLimit >= 0n && { gasLimit }),
    ...(gasPrice !== undefined && { gasPrice }),
    ...(maxFeePerGas !== undefined && { maxFeePerGas }),
    ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas }),
    ...(value !== undefined && { value }),
    ...(data !== undefined && { data }),
  };
}
