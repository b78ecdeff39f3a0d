import type { CallRequest } from "../../execution/simulation/callRequest.ts";
import { asAddress } from "../../primitives/address.ts";
import { larger } from "../../primitives/quantity.ts";
import { RpcError } from "../errors/errors.ts";
import type { Answer, ContextOf } from "../method.ts";
import type { PartialTransaction } from "../parameters/fillParameter.ts";
import { unsignedTransactionJson } from "../results/unsignedTransaction.ts";
import { completeTransaction } from "./completeTransaction.ts";

/** The answer of eth_fillTransaction. `gasLimitOf` is asked when the transaction has no gas limit. */
export async function filledAnswer(
  wanted: PartialTransaction,
  context: ContextOf<"chain" | "pool" | "gasPrices" | "spec">,
  gasLimitOf: (call: CallRequest) => Promise<bigint | RpcError>,
): Promise<Answer> {
  const completed = await completeTransaction(wanted, context, gasLimitOf);
  if (completed instanceof RpcError) return completed;
  const nonce = wanted.nonce ?? (await nextNonce(wanted.call, context));
  return unsignedTransactionJson({ ...completed, nonce });
}

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
