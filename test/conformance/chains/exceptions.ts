import type { ForeignErrorCode } from "./foreignChain.ts";

type Reason = ForeignErrorCode | "malformedBlock";

/**
 * The tests' names of exceptions, with our codes. Some names are broad: a block of the wrong era, for example, may be
 * detected by its fields, its difficulty or its ommers.
 */
const REASONS: Readonly<Record<string, readonly Reason[]>> = {
  "1559BlockImportImpossible_HeaderIsLegacy": ["baseFeeBeforeLondon"],
  LegacyBlockImportImpossible: ["baseFeeMissing"],
  ParisBlockImportImpossible: ["wrongShape"],
  ShanghaiBlockImportImpossible: ["wrongShape"],
  "3675PoSBlockRejected": ["wrongDifficulty"],
  "3675PoWBlockRejected": ["wrongDifficulty", "ommersNotEmpty", "wrongNonce"],
  "3675PreParis1559BlockRejected": ["wrongDifficulty", "ommersNotEmpty", "wrongNonce"],
  PostParisDifficultyIsNot0: ["wrongDifficulty"],
  PostParisUncleHashIsNotEmpty: ["ommersNotEmpty"],
  InvalidDifficulty: ["wrongDifficulty"],
  InvalidGasLimit: ["gasLimitOutOfBounds"],
  // One of these blocks doubles the limit as only London's first block may, and has a base fee.
  InvalidGasLimit2: ["gasLimitJump", "baseFeeBeforeLondon"],
  InvalidGasUsed: ["wrongGasUsed"],
  InvalidLogBloom: ["wrongLogsBloom"],
  InvalidNumber: ["wrongNumber"],
  InvalidStateRoot: ["wrongStateRoot"],
  InvalidUnclesHash: ["wrongOmmersHash"],
  InvalidWithdrawals: ["wrongWithdrawalsRoot"],
  UnknownParent: ["unknownParent"],
  UnknownParent2: ["unknownParent"],
  ExtraDataIncorrectDAO: ["noDaoMark"],
  INPUT_UNMARSHAL_ERROR: ["malformedWithdrawal"],
  INPUT_UNMARSHAL_ADDRESS_ERROR: ["malformedWithdrawal"],
  RLP_ExpectedAsList: ["malformedBlock", "wrongShape"],
  "BlockException.RLP_STRUCTURES_ENCODING": ["malformedBlock"],
  "BlockException.INCORRECT_EXCESS_BLOB_GAS": ["wrongExcessBlobGas"],
  ExtraDataTooBig: ["extraDataTooLong"],
  InvalidReceiptsStateRoot: ["wrongReceiptsRoot"],
  InvalidTransactionsRoot: ["wrongTransactionsRoot"],
  TooManyUncles: ["tooManyOmmers"],
  UncleIsAncestor: ["ommerIsAncestor", "ommerTwice"],
  UncleInChain: ["ommerTwice", "ommerIsAncestor"],
  UncleIsBrother: ["ommerNotKin"],
  UncleParentIsNotAncestor: ["ommerNotKin"],
  InvalidUncleParentHash: ["ommerNotKin"],
  "1559BlockImportImpossible_BaseFeeWrong": ["wrongBaseFee"],
  TR_FeeCapLessThanBlocks: ["gasPriceBelowBaseFee"],
  TR_InitCodeLimitExceeded: ["initCodeTooLarge"],
  TR_NonceTooLow: ["nonceTooLow"],
  TR_TipGtFeeCap: ["priorityFeeAboveFeeCap"],
  SenderNotEOA: ["senderNotAuthorized"],
  IntrinsicGas: ["intrinsicGasAboveLimit"],
  TR_IntrinsicGas: ["intrinsicGasAboveLimit"],
  TR_NoFunds: ["upfrontCostAboveBalance"],
  TR_NonceTooHigh: ["nonceTooHigh"],
  TR_TypeNotSupported: ["invalidTransactionType"],
  SenderNotEOAorNoCASH: ["senderNotAuthorized", "upfrontCostAboveBalance"],
  "TransactionException.INSUFFICIENT_MAX_FEE_PER_BLOB_GAS": ["blobFeeBelowBaseFee"],
  "TransactionException.INSUFFICIENT_MAX_FEE_PER_GAS": ["gasPriceBelowBaseFee"],
  "TransactionException.TYPE_3_TX_BLOB_COUNT_EXCEEDED": ["invalidBlobs", "wrongBlobGasUsed"],
  "TransactionException.TYPE_3_TX_CONTRACT_CREATION": ["malformedBlock"],
  "TransactionException.TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH": ["invalidBlobs"],
  "TransactionException.TYPE_3_TX_ZERO_BLOBS": ["invalidBlobs"],
};

/** Whether our code matches a test's exception; "A|B" means either. */
export function explains(exception: string, code: Reason): boolean {
  return exception.split("|").some((name) => {
    const reasons = REASONS[name];
    if (reasons === undefined) throw new RangeError(`unknown exception ${name}`);
    return reasons.includes(code);
  });
}
