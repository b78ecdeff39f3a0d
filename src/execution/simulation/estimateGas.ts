import type { Eventual } from "../../primitives/eventual.ts";
import { nothingObserved, type Observed } from "../evm.ts";
import { toSimulationResult } from "./call.ts";
import type { CallRequest, SimulationResult } from "./callRequest.ts";
import { type CallContext, type Simulated, simulate } from "./simulate.ts";

/**
 * eth_estimateGas with Besu's search, so that the numbers match (json-rpc.md#eth_estimategas): a run with the whole
 * block's gas gives the gas used before refunds; if a run with that much fails, because of the 63/64 rule or a stipend,
 * an inflated figure becomes the upper end of a binary search. Where a run with that fails as well, Besu answers it
 * nevertheless, and we go on above it: a call with value leaves its stipend over, which was paid for.
 */
export async function estimateGas(context: CallContext, request: CallRequest): Promise<SimulationResult> {
  const observed = nothingObserved();
  const run = (gasLimit: bigint): Eventual<Simulated> =>
    simulate(context, forEstimate(request), { gasLimit, enforcesBalance: request.strict === true, observed });
  const first = await run(context.header.gasLimit);
  if (!hasSucceeded(first)) return toSimulationResult(first);
  const { gasBeforeRefund, output } = first.result;
  const estimated = (gas: bigint): SimulationResult => ({ kind: "returned", data: output, gas });

  let low = gasBeforeRefund;
  if (hasSucceeded(await run(low))) return estimated(low);
  const { gasLimit } = context.header;
  let high = inflatedGas(gasBeforeRefund, observed);
  while (high < gasLimit && !hasSucceeded(await run(high))) {
    low = high;
    high = high * 2n < gasLimit ? high * 2n : gasLimit;
  }
  while (low + 1n < high) {
    const middle = (high + low) / 2n;
    if (hasSucceeded(await run(middle))) high = middle;
    else low = middle;
  }
  return estimated(high);
}

/** Estimates ignore blobs and their price. The call's gas limit is ignored too. */
export function forEstimate({ maxFeePerBlobGas, blobVersionedHashes, ...call }: CallRequest): CallRequest {
  return call;
}

export function hasSucceeded(simulated: Simulated): simulated is Simulated & { readonly kind: "executed" } {
  return simulated.kind === "executed" && simulated.result.outcome.kind === "succeeded";
}

/**
 * Gas used plus SSTORE's required remainder, times nearly 64/63 for each level of calls: Besu multiplies by 65/64 in
 * floating point and truncates.
 */
export function inflatedGas(gasBeforeRefund: bigint, { maxDepth, hasStored }: Observed): bigint {
  const stipend = hasStored ? SSTORE_STIPEND : 0n;
  return BigInt(Math.trunc(Number(gasBeforeRefund + stipend) * CALL_RATIO ** Math.max(maxDepth, 0)));
}

const CALL_RATIO = 65 / 64;
/** SSTORE fails unless more gas than this is left (EIP-2200). */
const SSTORE_STIPEND = 2300n;
