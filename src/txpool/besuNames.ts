import type { PoolErrorCode } from "./errors.ts";
import type { RemovalCause, SubPool } from "./events.ts";

/*
 * What the incumbent calls the same things, for metrics (metrics.md#transaction-pool) and for the answers of
 * debug_batchSendRawTransaction: its dashboards and alert rules know these words.
 */

/** Its layers. Whatever is pending here may go into the next block, so nothing corresponds to its "ready". */
export const LAYERS: Readonly<Record<SubPool, string>> = { pending: "prioritized", queued: "sparse" };

/** Its operations of `removed_total`; "evicted" there means moved to a lower layer, of which there is none here. */
export const REMOVAL_OPERATIONS: Readonly<Record<RemovalCause, string>> = {
  mined: "confirmed",
  superseded: "confirmed",
  replaced: "replaced",
  evicted: "dropped",
  poolFull: "dropped",
  expired: "dropped",
  notPermitted: "invalidated",
  invalid: "invalidated",
};

/** Its constants for refusals. */
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
  poolDisabled: "TX_POOL_DISABLED",
};
