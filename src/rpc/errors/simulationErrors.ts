import { decodeErrorText, isErrorText } from "../../execution/revertText.ts";
import type { SimulationErrorCode, SimulationResult } from "../../execution/simulation/callRequest.ts";
import { assertNever } from "../../primitives/assert.ts";
import { toHex } from "../../primitives/hex.ts";
import { ERRORS, RpcError, withDetail } from "./errors.ts";

/** A simulation without a result. */
export type FailedSimulation = Exclude<SimulationResult, { readonly kind: "returned" }>;

/** The error of eth_call for a call that failed: a message without a detail (json-rpc.md#eth_call). */
export function callError(failure: FailedSimulation): RpcError {
  switch (failure.kind) {
    case "reverted":
      return revertError(failure.data);
    case "halted":
      return ERRORS.executionHalted;
    case "refused":
      return failure.code === "precompileNotMovable"
        ? new RpcError(PRECOMPILE_NOT_MOVABLE, failure.detail)
        : REFUSAL_ERRORS[failure.code];
    case "stateUnavailable":
      return ERRORS.internalError;
    case "timedOut":
      return ERRORS.timeoutExpired;
    case "tooLarge":
      return ERRORS.callTooLarge;
    case "busy":
      return ERRORS.tooManyCalls;
    default:
      return assertNever(failure);
  }
}

/** The error of eth_estimateGas and eth_createAccessList, with the reason of a halt or the detail of a refusal. */
export function estimateError(failure: FailedSimulation): RpcError {
  if (failure.kind === "stateUnavailable") return ERRORS.worldStateUnavailable;
  const error = callError(failure);
  if (failure.kind === "halted") return withDetail(error, failure.reason);
  if (failure.kind === "refused" && failure.code === "precompileNotMovable") return error;
  return failure.kind === "refused" && failure.detail !== "" ? withDetail(error, failure.detail) : error;
}

const REFUSAL_ERRORS: Readonly<Record<Exclude<SimulationErrorCode, "precompileNotMovable">, RpcError>> = {
  intrinsicGasAboveLimit: ERRORS.intrinsicGasAboveLimit,
  upfrontCostAboveBalance: ERRORS.upfrontCostAboveBalance,
  gasPriceBelowBaseFee: ERRORS.gasPriceBelowBaseFee,
  priorityFeeAboveFeeCap: ERRORS.priorityFeeAboveFeeCap,
  initCodeTooLarge: ERRORS.initCodeTooLarge,
  nonceOverflow: ERRORS.nonceOverflow,
  upfrontCostOverflow: ERRORS.upfrontCostOverflow,
  invalidTransactionType: ERRORS.invalidTransactionType,
  invalidBlobs: ERRORS.totalBlobGasTooHigh,
  blobFeeBelowBaseFee: ERRORS.blobGasPriceBelowBaseFee,
};

/**
 * A REVERT: the standard's code 3, which tells client libraries that `data` holds the revert bytes, with Besu's message
 * (architecture.md#rulings).
 */
export function revertError(output: Uint8Array): RpcError {
  return new RpcError(REVERTED, `Execution reverted${revertText(output)}`, toHex(output));
}

export const REVERTED = 3;
/** go-ethereum's code, as is the message; the standard has codes only for the special cases. */
export const PRECOMPILE_NOT_MOVABLE = -32000;

/** Custom errors and panics have no text; an Error(string) that does not decode is reported as such. */
function revertText(output: Uint8Array): string {
  return isErrorText(output) ? `: ${decodeErrorText(output) ?? "ABI decode error"}` : "";
}
