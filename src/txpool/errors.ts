import { type Err, err, type Fault } from "../primitives/result.ts";
import type { TransactionOrigin } from "./entry.ts";

/**
 * Why a transaction was not taken (json-rpc-errors.md#transaction-errors); the RPC door gives each its number
 * and words.
 */
export type PoolErrorCode =
  | "knownTransaction"
  | "feeCapExceeded"
  | "gasPriceTooLow"
  | "wrongChainId"
  | "chainIdNotSupported"
  | "replayProtectionRequired"
  | "invalidSignature"
  | "invalidTransactionType"
  | "nonceOverflow"
  | "initCodeTooLarge"
  | "upfrontCostOverflow"
  | "priorityFeeAboveFeeCap"
  | "intrinsicGasAboveLimit"
  | "gasLimitAboveBlock"
  | "stateUnavailable"
  | "senderNotAuthorized"
  | "upfrontCostAboveBalance"
  | "nonceTooLow"
  | "nonceTooDistant"
  | "replacementUnderpriced"
  | "poolDisabled";

/**
 * A refusal with its fault. Only what no honest peer would relay, whatever its head and settings, is held against a
 * peer; all else may be news that came late or early.
 */
export function poolError(
  code: PoolErrorCode,
  origin: TransactionOrigin,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): Err<PoolErrorCode> {
  return err({ code, message, fault: faultOf(code, origin), facts });
}

const NEVER_SOUND: ReadonlySet<PoolErrorCode> = new Set([
  "wrongChainId",
  "invalidSignature",
  "nonceOverflow",
  "upfrontCostOverflow",
  "priorityFeeAboveFeeCap",
]);

function faultOf(code: PoolErrorCode, origin: TransactionOrigin): Fault {
  if (code === "stateUnavailable" || code === "poolDisabled") return "local";
  return origin === "remote" && NEVER_SOUND.has(code) ? "peer" : "caller";
}
