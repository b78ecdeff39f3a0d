import { type Eventual, onceKnown } from "../../primitives/eventual.ts";
import type { Header } from "../../types/header.ts";
import type { CallRequest, SimulationResult } from "./callRequest.ts";
import { type CallContext, type Simulated, simulate } from "./simulate.ts";

/** eth_call (json-rpc.md#eth_call): without `strict` it never fails for lack of balance. */
export function call(context: CallContext, request: CallRequest): Eventual<SimulationResult> {
  const simulated = simulate(context, request, {
    gasLimit: request.gasLimit ?? context.header.gasLimit,
    enforcesBalance: request.strict ?? hasPrice(request, context.header),
    lendsBalance: request.strict !== true,
  });
  return onceKnown(simulated, toSimulationResult);
}

/** The result of a simulation; `gas` is what the sender would pay for. */
export function toSimulationResult(simulated: Simulated): SimulationResult {
  if (simulated.kind === "refused") return simulated;
  const { outcome, output, gasUsed } = simulated.result;
  switch (outcome.kind) {
    case "succeeded":
      return { kind: "returned", data: output, gas: gasUsed };
    case "reverted":
      return { kind: "reverted", data: output, gas: gasUsed };
    case "halted":
      return { kind: "halted", reason: outcome.reason, gas: gasUsed };
  }
}

/** Whether gas is charged without `strict`: only if the caller gives a price, and what counts as one depends on the chain. */
function hasPrice(request: CallRequest, header: Header): boolean {
  const { gasPrice = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = request;
  if (header.baseFeePerGas === undefined) return gasPrice > 0n;
  const isFreeBlobCall = request.blobVersionedHashes !== undefined && (request.maxFeePerBlobGas ?? 0n) === 0n;
  return !isFreeBlobCall && (gasPrice > 0n || maxFeePerGas > 0n || maxPriorityFeePerGas > 0n);
}
