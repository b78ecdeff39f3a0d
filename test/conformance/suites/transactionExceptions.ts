import type { ExecutionErrorCode } from "../../../src/execution/executeTransaction.ts";
import type { TransactionErrorCode } from "../../../src/types/transaction.ts";

/** Why a transaction is refused: our error codes, and three codes of the suites. */
export type RefusalCode =
  | ExecutionErrorCode
  | TransactionErrorCode
  | "notHexadecimal"
  | "noSender"
  | "gasLimitAboveBlock";

/** The tests' names for bytes that are not a transaction, for which we have one code. */
const MALFORMED = [
  "1559LeadingZerosBaseFee",
  "1559LeadingZerosPriorityFee",
  "2930AccessListAddressTooLong",
  "2930AccessListAddressTooShort",
  "2930AccessListStorageHashTooLong",
  "2930AccessListStorageHashTooShort",
  "AddressTooLong",
  "AddressTooShort",
  "InvalidData",
  "InvalidGasLimit4",
  "InvalidGasLimit5",
  "InvalidGasPrice",
  "InvalidMaxFeePerGas",
  "InvalidMaxPriorityFeePerGas",
  "InvalidNonce",
  "InvalidR",
  "InvalidS",
  "InvalidTo",
  "InvalidV",
  "InvalidValue",
  "LeadingZerosDataSize",
  "LeadingZerosGasLimit",
  "LeadingZerosGasPrice",
  "LeadingZerosNonce",
  "LeadingZerosNonceSize",
  "LeadingZerosR",
  "LeadingZerosS",
  "LeadingZerosV",
  "LeadingZerosValue",
  "NonceTooLong",
  "RLP_Error_EOF",
  "RLP_Error_RLP_Size",
  "RLP_Error_Size_Information",
  "RLP_TooFewElements",
  "RLP_TooManyElements",
  "TR_BLOBCREATE",
  "TR_RLP_WRONGVALUE",
];

/** The tests' names of exceptions, with our codes. */
const REASONS: ReadonlyMap<string, readonly RefusalCode[]> = new Map<string, readonly RefusalCode[]>([
  ...MALFORMED.map((name): [string, RefusalCode[]] => [
    name,
    ["malformedTransaction", "unsupportedV", "notHexadecimal"],
  ]),
  ["1559PriorityFeeGreaterThanBaseFee", ["priorityFeeAboveFeeCap"]],
  ["TR_TipGtFeeCap", ["priorityFeeAboveFeeCap"]],
  ["ECRecoveryFail", ["noSender"]],
  ["GasLimitPriceProductOverflow", ["upfrontCostOverflow"]],
  ["InvalidChainID", ["wrongChainId", "malformedTransaction", "unsupportedV"]],
  // Before EIP-155 a v with a chain id is invalid.
  [
    "InvalidVRS",
    ["malformedTransaction", "unsupportedV", "noSender", "invalidSignature", "chainIdNotSupported"],
  ],
  ["IntrinsicGas", ["intrinsicGasAboveLimit"]],
  ["NonceMax", ["nonceOverflow"]],
  ["TR_NonceHasMaxValue", ["nonceOverflow"]],
  ["TR_NonceTooHigh", ["nonceTooHigh"]],
  ["TR_NonceTooLow", ["nonceTooLow"]],
  ["SenderNotEOAorNoCASH", ["senderNotAuthorized", "upfrontCostAboveBalance", "upfrontCostOverflow"]],
  ["SenderNotEOA", ["senderNotAuthorized"]],
  ["TR_BLOBLIST_OVERSIZE", ["invalidBlobs"]],
  ["TR_BLOBVERSION_INVALID", ["invalidBlobs"]],
  ["TR_EMPTYBLOB", ["invalidBlobs"]],
  ["TR_FeeCapLessThanBlocks", ["gasPriceBelowBaseFee"]],
  ["TR_FeeCapLessThanBlocksORGasLimitReached", ["gasPriceBelowBaseFee", "gasLimitAboveBlock"]],
  [
    "TR_FeeCapLessThanBlocksORNoFunds",
    ["gasPriceBelowBaseFee", "upfrontCostAboveBalance", "upfrontCostOverflow"],
  ],
  ["TR_GasLimitReached", ["gasLimitAboveBlock"]],
  ["TR_InitCodeLimitExceeded", ["initCodeTooLarge"]],
  ["TR_IntrinsicGas", ["intrinsicGasAboveLimit"]],
  // A cost above 256 bits exceeds every balance.
  ["TR_NoFunds", ["upfrontCostAboveBalance", "upfrontCostOverflow"]],
  ["TR_NoFundsOrGas", ["upfrontCostAboveBalance", "upfrontCostOverflow", "intrinsicGasAboveLimit"]],
  ["TR_NoFundsX", ["upfrontCostOverflow", "upfrontCostAboveBalance"]],
  // A typed transaction has a chain id, which is checked first before EIP-155.
  [
    "TR_TypeNotSupported",
    [
      "invalidTransactionType",
      "unknownTransactionType",
      "malformedTransaction",
      "unsupportedV",
      "chainIdNotSupported",
    ],
  ],
  ["TransactionException.GAS_ALLOWANCE_EXCEEDED", ["gasLimitAboveBlock"]],
  ["TransactionException.INITCODE_SIZE_EXCEEDED", ["initCodeTooLarge"]],
  ["TransactionException.INSUFFICIENT_ACCOUNT_FUNDS", ["upfrontCostAboveBalance", "upfrontCostOverflow"]],
  ["TransactionException.INTRINSIC_GAS_TOO_LOW", ["intrinsicGasAboveLimit"]],
  ["TransactionException.INTRINSIC_GAS_BELOW_FLOOR_GAS_COST", ["intrinsicGasAboveLimit"]],
  ["TransactionException.NONCE_IS_MAX", ["nonceOverflow"]],
  ["TransactionException.NONCE_MISMATCH_TOO_HIGH", ["nonceTooHigh"]],
  ["TransactionException.NONCE_MISMATCH_TOO_LOW", ["nonceTooLow"]],
  ["TransactionException.PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS", ["priorityFeeAboveFeeCap"]],
  ["TransactionException.SENDER_NOT_EOA", ["senderNotAuthorized"]],
  ["TransactionException.TYPE_3_TX_BLOB_COUNT_EXCEEDED", ["invalidBlobs"]],
  ["TransactionException.TYPE_3_TX_CONTRACT_CREATION", ["malformedTransaction"]],
  ["TransactionException.TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED", ["invalidBlobs"]],
  ["TransactionException.INSUFFICIENT_MAX_FEE_PER_BLOB_GAS", ["blobFeeBelowBaseFee"]],
  ["TransactionException.INSUFFICIENT_MAX_FEE_PER_GAS", ["gasPriceBelowBaseFee"]],
  ["TransactionException.TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH", ["invalidBlobs"]],
  ["TransactionException.TYPE_3_TX_PRE_FORK", ["invalidTransactionType"]],
  ["TransactionException.TYPE_3_TX_ZERO_BLOBS", ["invalidBlobs"]],
]);

/** Whether our code matches a test's exception; "A|B" means either. */
export function explains(exception: string, refusal: RefusalCode): boolean {
  return exception.split("|").some((name) => {
    const reasons = REASONS.get(name);
    if (reasons === undefined) throw new RangeError(`unknown exception ${name}`);
    return reasons.includes(refusal);
  });
}
