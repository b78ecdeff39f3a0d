import type { SimulationRefusal, SimulationResult } from "../execution/simulation.ts";
import { assertNever } from "../primitives/assert.ts";
import { toHex, toKey, viewAsBuffer } from "../primitives/hex.ts";
import { ERRORS, RpcError, withDetail } from "./errors.ts";

/** A simulation that has no result to show. */
export type FailedSimulation = Exclude<SimulationResult, { readonly kind: "returned" }>;

/** What eth_call answers for a call that failed: bare messages (json-rpc.md, eth_call). */
export function callError(failure: FailedSimulation): RpcError {
  switch (failure.kind) {
    case "reverted":
      return revertError(failure.data);
    case "halted":
      return ERRORS.executionHalted;
    case "refused":
      return REFUSAL_ERRORS[failure.code];
    case "stateUnavailable":
      return ERRORS.internalError;
    case "timedOut":
      return ERRORS.timeoutExpired;
    default:
      return assertNever(failure);
  }
}

/** What eth_estimateGas and eth_createAccessList answer: the reason of a halt and the detail of a refusal follow. */
export function estimateError(failure: FailedSimulation): RpcError {
  if (failure.kind === "stateUnavailable") return ERRORS.worldStateUnavailable;
  const error = callError(failure);
  if (failure.kind === "halted") return withDetail(error, failure.reason);
  return failure.kind === "refused" && failure.detail !== "" ? withDetail(error, failure.detail) : error;
}

const REFUSAL_ERRORS: Readonly<Record<SimulationRefusal, RpcError>> = {
  intrinsicGasAboveLimit: ERRORS.intrinsicGasAboveLimit,
  upfrontCostAboveBalance: ERRORS.upfrontCostAboveBalance,
  gasPriceBelowBaseFee: ERRORS.gasPriceBelowBaseFee,
  priorityFeeAboveFeeCap: ERRORS.priorityFeeAboveFeeCap,
  initCodeTooLarge: ERRORS.internalError,
  nonceOverflow: ERRORS.internalError,
  upfrontCostOverflow: ERRORS.internalError,
  invalidTransactionType: ERRORS.invalidTransactionType,
  invalidBlobs: ERRORS.totalBlobGasTooHigh,
  blobFeeBelowBaseFee: ERRORS.blobGasPriceBelowBaseFee,
};

/**
 * A REVERT: the standard's code 3, by which client libraries know that `data` holds the revert bytes, with the
 * incumbent's words (architecture.md §7).
 */
export function revertError(output: Uint8Array): RpcError {
  return new RpcError(REVERTED, `Execution reverted${revertText(output)}`, toHex(output));
}

const REVERTED = 3;
/** Selector of Error(string). */
const ERROR_SELECTOR = "08c379a0";
const SELECTOR_BYTES = 4;
const WORD_BYTES = 32;

/** Custom errors and panics stay without words; a text that does not decode is said to be so. */
function revertText(output: Uint8Array): string {
  if (toKey(output.subarray(0, SELECTOR_BYTES)) !== ERROR_SELECTOR) return "";
  return `: ${decodeAbiString(output.subarray(SELECTOR_BYTES)) ?? "ABI decode error"}`;
}

/** The one string of an ABI encoding; undefined when it points outside of its bytes. */
function decodeAbiString(encoded: Uint8Array): string | undefined {
  const start = readWord(encoded, 0);
  if (start === undefined) return undefined;
  const length = readWord(encoded, start);
  if (length === undefined || start + WORD_BYTES + length > encoded.length) return undefined;
  return viewAsBuffer(encoded).toString("utf8", start + WORD_BYTES, start + WORD_BYTES + length);
}

/** The word at `offset` as a position in the same bytes; undefined when there is no such word or place. */
function readWord(bytes: Uint8Array, offset: number): number | undefined {
  if (offset + WORD_BYTES > bytes.length) return undefined;
  const word = BigInt(`0x${toKey(bytes.subarray(offset, offset + WORD_BYTES))}`);
  return word <= BigInt(bytes.length) ? Number(word) : undefined;
}
