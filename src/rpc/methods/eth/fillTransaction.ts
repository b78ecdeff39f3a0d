import type { CallRequest } from "../../../execution/simulation/callRequest.ts";
import type { RpcError } from "../../errors/errors.ts";
import { estimateError } from "../../errors/simulationErrors.ts";
import { type ContextOf, defineMethod, required } from "../../method.ts";
import { decodePartialTransaction } from "../../parameters/fillParameter.ts";
import { CALL, OBJECT } from "../../schemas.ts";
import { filledAnswer } from "../../signing/filledAnswer.ts";

/** Works as in go-ethereum, whose clients sign what it returns. */
export const ethFillTransaction = defineMethod({
  name: "eth_fillTransaction",
  namespace: "ETH",
  summary: "Fills in what an unsigned transaction lacks: nonce, gas limit, prices and chain id.",
  parameters: [required("transaction", decodePartialTransaction, CALL)],
  result: { name: "filled", schema: OBJECT },
  ports: ["chain", "pool", "gasPrices", "simulator", "spec"],
  mayOverlap: "few",
  run: ([wanted], context) => filledAnswer(wanted, context, (call) => estimate(call, context)),
});

async function estimate(
  call: CallRequest,
  context: ContextOf<"chain" | "simulator">,
): Promise<bigint | RpcError> {
  const { chain, simulator } = context.backend;
  const blockNumber = chain.head.header.number;
  const result = await simulator.run({ kind: "estimateGas", call, blockNumber }, context);
  return result.kind === "returned" ? result.gas : estimateError(result);
}
