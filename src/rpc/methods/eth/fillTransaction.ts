import type { CallRequest } from "../../../execution/simulation/callRequest.ts";
import { asAddress } from "../../../primitives/address.ts";
import { larger, smaller } from "../../../primitives/quantity.ts";
import { RpcError } from "../../errors/errors.ts";
import { estimateError } from "../../errors/simulationErrors.ts";
import { type ContextOf, defineMethod, required } from "../../method.ts";
import { decodePartialTransaction, type PartialTransaction } from "../../parameters/fillParameter.ts";
import { type UnsignedTransaction, unsignedTransactionJson } from "../../results/unsignedTransaction.ts";
import { CALL, OBJECT } from "../../schemas.ts";

type Prices = Pick<UnsignedTransaction, "gasPrice" | "maxPriorityFeePerGas" | "maxFeePerGas">;

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
    const { call } = wanted;
    const { chainId } = context.backend.spec;
    if (wanted.chainId !== undefined && wanted.chainId !== chainId)
      return refused(`chainId does not match node's (have=${wanted.chainId}, want=${chainId})`);
    if ((call.blobVersionedHashes ?? []).length > 0) return refused("no block of this chain has blobs");
    const nonce = wanted.nonce ?? (await nextNonce(call, context));
    const prices = await pricesOf(wanted, context);
    const gasLimit = call.gasLimit ?? (await estimate(call, context));
    if (gasLimit instanceof RpcError) return gasLimit;
    const { to, value = 0n, data = new Uint8Array(0), accessList = [], authorizationList = [] } = call;
    return unsignedTransactionJson({
      ...{
        type: typeOf(call, prices),
        chainId,
        nonce,
        gasLimit,
        to,
        value,
        data,
        accessList,
        authorizationList,
      },
      ...prices,
    });
  },
});

function refused(message: string): RpcError {
  return new RpcError(-32000, message);
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

/**
 * Fee caps where the head has a base fee: the suggested tip, and room for a base fee twice as high. A gas price where it
 * has none, and where the transaction has one already or is of an older type.
 */
async function pricesOf(
  { call, hasOldType }: PartialTransaction,
  { backend: { chain, gasPrices } }: ContextOf<"chain" | "gasPrices">,
): Promise<Prices> {
  const { baseFeePerGas } = chain.head.header;
  const hasCaps = call.maxFeePerGas !== undefined || call.maxPriorityFeePerGas !== undefined;
  const isSetCode = (call.authorizationList ?? []).length > 0;
  if (call.gasPrice !== undefined && !isSetCode) return { gasPrice: call.gasPrice };
  if (!isSetCode && !hasCaps && (hasOldType || baseFeePerGas === undefined))
    return { gasPrice: await gasPrices.gasPriceWei() };
  const suggestedWei = call.maxPriorityFeePerGas ?? (await gasPrices.maxPriorityFeeWei());
  const maxFeePerGas = call.maxFeePerGas ?? suggestedWei + 2n * (baseFeePerGas ?? 0n);
  // A cap that the caller gave bounds the tip that it did not give.
  const maxPriorityFeePerGas = call.maxPriorityFeePerGas ?? smaller(suggestedWei, maxFeePerGas);
  return { maxPriorityFeePerGas, maxFeePerGas };
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

function typeOf(
  { accessList, authorizationList = [] }: CallRequest,
  prices: Prices,
): UnsignedTransaction["type"] {
  if (authorizationList.length > 0) return 4;
  if (prices.gasPrice === undefined) return 2;
  return accessList === undefined ? 0 : 1;
}
