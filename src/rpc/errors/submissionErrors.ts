import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import { ERRORS, invalidParams, type RpcError } from "./errors.ts";

/**
 * What eth_sendRawTransaction answers for each refused transaction (json-rpc.md#eth_sendrawtransaction): the
 * message without a detail.
 */
export const SUBMISSION_ERRORS: Readonly<Record<SubmissionErrorCode, RpcError>> = {
  malformedTransaction: invalidParams("parameter 1 (transaction) is no signed transaction"),
  unsupportedV: invalidParams("the transaction's v is impossible"),
  unknownTransactionType: invalidParams("the transaction's type is unknown"),
  knownTransaction: ERRORS.knownTransaction,
  feeCapExceeded: ERRORS.feeCapExceeded,
  gasPriceTooLow: ERRORS.gasPriceTooLow,
  wrongChainId: ERRORS.wrongChainId,
  chainIdNotSupported: ERRORS.chainIdNotSupported,
  replayProtectionRequired: ERRORS.chainIdRequired,
  invalidSignature: ERRORS.invalidSignature,
  invalidTransactionType: ERRORS.invalidTransactionType,
  nonceOverflow: ERRORS.nonceOverflow,
  initCodeTooLarge: ERRORS.initCodeTooLarge,
  upfrontCostOverflow: ERRORS.upfrontCostOverflow,
  priorityFeeAboveFeeCap: ERRORS.priorityFeeAboveFeeCap,
  intrinsicGasAboveLimit: ERRORS.intrinsicGasAboveLimit,
  gasLimitAboveBlock: ERRORS.gasLimitAboveBlock,
  stateUnavailable: ERRORS.initialSyncRunning,
  senderNotAuthorized: ERRORS.senderNotAuthorized,
  upfrontCostAboveBalance: ERRORS.upfrontCostAboveBalance,
  nonceTooLow: ERRORS.nonceTooLow,
  nonceTooDistant: ERRORS.nonceTooDistant,
  replacementUnderpriced: ERRORS.replacementUnderpriced,
  poolFull: ERRORS.poolFull,
  tooManyWaiting: ERRORS.tooManyCalls,
};
