import type { CallRequest } from "../../execution/simulation/callRequest.ts";
import { smaller } from "../../primitives/quantity.ts";
import type { UnsignedTransaction } from "../../types/unsignedTransaction.ts";
import { RpcError } from "../errors/errors.ts";
import type { ContextOf } from "../method.ts";
import type { PartialTransaction } from "../parameters/fillParameter.ts";

type Prices = Pick<UnsignedTransaction, "gasPrice" | "maxPriorityFeePerGas" | "maxFeePerGas">;

/** The transaction with all that it lacks but its nonce. `gasLimitOf` is asked when it has no gas limit. */
export async function completeTransaction(
  wanted: PartialTransaction,
  context: ContextOf<"chain" | "gasPrices" | "spec">,
  gasLimitOf: (call: CallRequest) => Promise<bigint | RpcError>,
): Promise<Omit<UnsignedTransaction, "nonce"> | RpcError> {
  const { call } = wanted;
  const { chainId } = context.backend.spec;
  if (wanted.chainId !== undefined && wanted.chainId !== chainId)
    return refused(`chainId does not match node's (have=${wanted.chainId}, want=${chainId})`);
  if ((call.blobVersionedHashes ?? []).length > 0) return refused("no block of this chain has blobs");
  const prices = await pricesOf(wanted, context);
  const gasLimit = call.gasLimit ?? (await gasLimitOf(call));
  if (gasLimit instanceof RpcError) return gasLimit;
  const { to, value = 0n, data = new Uint8Array(0), accessList = [], authorizationList = [] } = call;
  const type = typeOf(call, prices);
  return { type, chainId, gasLimit, to, value, data, accessList, authorizationList, ...prices };
}

function refused(message: string): RpcError {
  return new RpcError(-32000, message);
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

function typeOf(
  { accessList, authorizationList = [] }: CallRequest,
  prices: Prices,
): UnsignedTransaction["type"] {
  if (authorizationList.length > 0) return 4;
  if (prices.gasPrice === undefined) return 2;
  return accessList === undefined ? 0 : 1;
}
