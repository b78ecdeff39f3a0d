import type { PoolErrorCode } from "./errors.ts";
import type { RemovalCause, SubPool } from "./events.ts";

/*
 * Besu's names, for metrics (metrics.md#transaction-pool) and for the responses of debug_batchSendRawTransaction:
 * dashboards and alert rules use them.
 */

/** Besu's layers. All pending transactions may go into the next block, so nothing corresponds to its "ready". */
export const LAYERS: Readonly<Record<SubPool, string>> = { pending: "prioritized", queued: "sparse" };

/** Besu's operations of `removed_total`; "evicted" means moved to a lower layer there, so it is not used. */
export const REMOVAL_OPERATIONS: Readonly<Record<RemovalCause, string>> = {
  mined: "confirmed",
  superseded: "confirmed",
  replaced: "replaced",
  evicted: "dropped",
  expired: "dropped",
  notPermitted: "invalidated",
  invalid: "invalidated",
};

/** Besu's names of reasons for a rejection. */
export const REJECTION_REASONS: Readonly<Record<PoolErrorCode, string>> = {
  knownTransaction: "TRANSACTION_ALREADY_KNOWN",
  feeCapExceeded: "TX_FEECAP_EXCEEDED",
  gasPriceTooLow: "GAS_PRICE_TOO_LOW",
  wrongChainId: "WRONG_CHAIN_ID",
  chainIdNotSupported: "REPLAY_PROTECTED_SIGNATURES_NOT_SUPPORTED",
  replayProtectionRequired: "REPLAY_PROTECTED_SIGNATURE_REQUIRED",
  invalidSignature: "INVALID_SIGNATURE",
  invalidTransactionType: "INVALID_TRANSACTION_FORMAT",
  nonceOverflow: "NONCE_OVERFLOW",
  initCodeTooLarge: "INITCODE_TOO_LARGE",
  upfrontCostOverflow: "UPFRONT_COST_EXCEEDS_UINT256",
  priorityFeeAboveFeeCap: "MAX_PRIORITY_FEE_PER_GAS_EXCEEDS_MAX_FEE_PER_GAS",
  intrinsicGasAboveLimit: "INTRINSIC_GAS_EXCEEDS_GAS_LIMIT",
  gasLimitAboveBlock: "EXCEEDS_BLOCK_GAS_LIMIT",
  stateUnavailable: "CHAIN_HEAD_WORLD_STATE_NOT_AVAILABLE",
  senderNotAuthorized: "TX_SENDER_NOT_AUTHORIZED",
  upfrontCostAboveBalance: "UPFRONT_COST_EXCEEDS_BALANCE",
  nonceTooLow: "NONCE_TOO_LOW",
  nonceTooDistant: "NONCE_TOO_FAR_IN_FUTURE_FOR_SENDER",
  replacementUnderpriced: "TRANSACTION_REPLACEMENT_UNDERPRICED",
  // Besu has no name for this: it drops the transaction and returns its hash.
  poolFull: "TX_POOL_FULL",
};
