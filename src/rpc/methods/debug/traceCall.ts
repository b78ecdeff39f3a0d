import type { BlockOverride, CallRequest } from "../../../execution/simulation/callRequest.ts";
import { toHex } from "../../../primitives/hex.ts";
import type { StoredBlock } from "../../../types/block.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeCall } from "../../parameters/callParameter.ts";
import { overridesOf } from "../../parameters/overrideParameters.ts";
import { EVERYTHING, TRACE_CALL_OPTIONS } from "../../parameters/traceParameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { CALL, NUMBER_OR_TAG, OBJECT } from "../../schemas.ts";

export const debugTraceCall = defineMethod({
  name: "debug_traceCall",
  namespace: "DEBUG",
  summary:
    "Executes a call on the state after a block, or in the middle of it, and returns every instruction.",
  parameters: [
    required("call", decodeCall, CALL),
    optional("block", decodeNumberOrTag, NUMBER_OR_TAG),
    TRACE_CALL_OPTIONS,
  ],
  result: { name: "trace", schema: OBJECT },
  ports: ["chain", "tracer"],
  async run([call, choice = "latest", options], context) {
    const { chain, tracer } = context.backend;
    const block = findBlock(chain, choice);
    if (block instanceof RpcError) return block;
    if (block === undefined) return ERRORS.blockNotFound;
    const { number } = block.header;
    const { style = EVERYTHING, accounts, block: blockOverride, index = null } = options ?? {};
    const position = index === null ? {} : positionIn(block, index);
    if (position instanceof RpcError) return position;
    const overrides = overridesOf(accounts, hasPrice(call) ? blockOverride : { ...FREE, ...blockOverride });
    const job = { kind: "debugCall", blockNumber: number, call, style, ...position, ...overrides } as const;
    const result = await tracer.run(job, context);
    const { code, message } = ERRORS.internalError;
    return result.kind === "refused" ? new RpcError(code, message, result.detail) : traceAnswer(result);
  },
});

/** A call that names no price pays none, as in go-ethereum and, since 24.10, Besu: before, any base fee made it fail. */
const FREE: BlockOverride = { baseFeePerGas: 0n };

function hasPrice({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: CallRequest): boolean {
  return (gasPrice ?? maxFeePerGas ?? maxPriorityFeePerGas) !== undefined;
}

/** The position before a transaction of the block, which must exist unless its index is 0. */
function positionIn(
  { header, hash, transactions: all }: StoredBlock,
  index: bigint,
): { readonly transactions: number } | RpcError {
  if (header.number === 0n) return new RpcError(NO_SUCH_POSITION, "no transaction in genesis");
  if (index < all.length || index === 0n) return { transactions: Number(index) };
  return new RpcError(NO_SUCH_POSITION, `transaction index ${index} out of range for block ${toHex(hash)}`);
}

/** go-ethereum's code, as are the messages; Besu ignores the option. */
const NO_SUCH_POSITION = -32000;
