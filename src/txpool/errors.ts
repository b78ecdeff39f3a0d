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
  /** The pool is full and would evict this transaction first. */
  | "poolFull";

/** Why a caller's transaction was not added: it could not be decoded, the pool rejected it, or too many wait for the pool. */
export type SubmissionErrorCode = PoolErrorCode | TransactionErrorCode | "tooManyWaiting";

/** A rejection with its fault. */
export function poolError(
  code: PoolErrorCode,
  origin: TransactionOrigin,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): Err<PoolErrorCode> {
  return err({ code, message, fault: faultOf(code, origin), facts });
}

/**
 * Who is to blame. A peer is only for what honest peers never relay, whatever their head: other rejections may just be early or
 * late transactions, or depend on a node's settings.
 */
export function faultOf(code: PoolErrorCode, origin: TransactionOrigin): Fault {
  if (code === "stateUnavailable" || code === "poolFull") return "local";
  return origin === "remote" && NEVER_VALID.has(code) ? "peer" : "caller";
}

const NEVER_VALID: ReadonlySet<PoolErrorCode> = new Set([
  "wrongChainId",
  "chainIdNotSupported",
  "invalidSignature",
  "invalidTransactionType",
  "nonceOverflow",
  "initCodeTooLarge",
  "upfrontCostOverflow",
  "priorityFeeAboveFeeCap",
  "intrinsicGasAboveLimit",
]);
