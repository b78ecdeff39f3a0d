import type { CallRequest } from "../../../execution/simulation/callRequest.ts";
import { asAddress } from "../../../primitives/address.ts";
import { larger } from "../../../primitives/quantity.ts";
import { RpcError } from "../../errors/errors.ts";
import { estimateError } from "../../errors/simulationErrors.ts";
import { type ContextOf, defineMethod, required } from "../../method.ts";
import { decodePartialTransaction } from "../../parameters/fillParameter.ts";
import { unsignedTransactionJson } from "../../results/unsignedTransaction.ts";
import { CALL, OBJECT } from "../../schemas.ts";
import { completeTransaction } from "../../signing/completeTransaction.ts";

/** Works as in go-ethereum, whose clients sign what it returns. */
export const ethFillTransaction = defineMethod({
  name: "eth_fillTransaction",
  namespace: "ETH",
  summary: "Fills in what an unsigned transaction lacks: nonce, gas limit, prices and chain id.",
  parameters: [required("transaction", decodePartialTransaction, CALL)],
  result: { name: "filled", schema: OBJECT },
  ports: ["chain", "pool", "gasPrices", "simulator", "spec"],
  mayOverlap: "few",
  async run([wanted], context) {
    const completed = await completeTransaction(wanted, context, (call) => estimate(call, context));
    if (completed instanceof RpcError) return completed;
    const nonce = wanted.nonce ?? (await nextNonce(wanted.call, context));
    return unsignedTransactionJson({ ...completed, nonce });
  },
});

/** The sender of a call without one, as in eth_call. */
const NOBODY = asAddress(new Uint8Array(20));

async function nextNonce(
  { from = NOBODY }: CallRequest,
  context: ContextOf<"chain" | "pool">,
): Promise<bigint> {
  const { chain, pool } = context.backend;
  const next = await pool.nextNonce(from, context);
  return larger(next, chain.stateAt(chain.head.header.number)?.account(from)?.nonce ?? 0n);
}

async function estimate(
  call: CallRequest,
  context: ContextOf<"chain" | "simulator">,
): Promise<bigint | RpcError> {
  const { chain, simulator } = context.backend;
  const blockNumber = chain.head.header.number;
  const result = await simulator.run({ kind: "estimateGas", call, blockNumber }, context);
  return result.kind === "returned" ? result.gas : estimateError(result);
}
