import { type Err, err, type Fault } from "../primitives/result.ts";
import type { TransactionErrorCode } from "../types/transaction.ts";
import type { TransactionOrigin } from "./entry.ts";

/**
 * Why a transaction was rejected (json-rpc-errors.md#transaction-errors); the RPC server maps each code to its number
 * and text.
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
  | "poolDisabled"
  /** The pool is full and would evict this transaction first. */
  | "poolFull";

/** Why a caller's transaction was not added: it could not be decoded, the pool rejected it, or too many wait for the pool. */
export type SubmissionErrorCode = PoolErrorCode | TransactionErrorCode | "tooManyWaiting";

/**
 * A rejection with its fault. A peer is at fault only for what no honest peer relays, whatever its head and settings;
 * other rejections may just be early or late transactions.
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
  if (code === "stateUnavailable" || code === "poolDisabled" || code === "poolFull") return "local";
  return origin === "remote" && NEVER_SOUND.has(code) ? "peer" : "caller";
}
