import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import { ERRORS, type RpcError } from "./errors.ts";

/**
 * What eth_sendRawTransaction answers for each refused transaction (json-rpc.md#eth_sendrawtransaction): the
 * message without a detail.
 */
export const SUBMISSION_ERRORS: Readonly<Record<SubmissionErrorCode, RpcError>> = {
  malformedTransaction: ERRORS.invalidParams,
  unsupportedV: ERRORS.invalidParams,
  unknownTransactionType: ERRORS.invalidParams,
  knownTransaction: ERRORS.knownTransaction,
  feeCapExceeded: ERRORS.feeCapExceeded,
  gasPriceTooLow: ERRORS.gasPriceTooLow,
  wrongChainId: ERRORS.wrongChainId,
  chainIdNotSupported: ERRORS.chainIdNotSupported,
  replayProtectionRequired: ERRORS.chainIdRequired,
  invalidSignature: ERRORS.invalidSignature,
  invalidTransactionType: ERRORS.invalidTransactionType,
  nonceOverflow: ERRORS.internalError,
  initCodeTooLarge: ERRORS.internalError,
  upfrontCostOverflow: ERRORS.internalError,
  priorityFeeAboveFeeCap: ERRORS.priorityFeeAboveFeeCap,
  intrinsicGasAboveLimit: ERRORS.intrinsicGasAboveLimit,
  gasLimitAboveBlock: ERRORS.gasLimitAboveBlock,
  stateUnavailable: ERRORS.initialSyncRunning,
  senderNotAuthorized: ERRORS.senderNotAuthorized,
  upfrontCostAboveBalance: ERRORS.upfrontCostAboveBalance,
  nonceTooLow: ERRORS.nonceTooLow,
  nonceTooDistant: ERRORS.nonceTooDistant,
  replacementUnderpriced: ERRORS.replacementUnderpriced,
  poolDisabled: ERRORS.poolDisabled,
  tooManyWaiting: ERRORS.tooManyCalls,
};
