import { ERRORS, type RpcError } from "./errors.ts";

/** The name of an error in Besu's metrics: its own constant (metrics.md#rpc). */
export function errorTypeOf(error: RpcError): string {
  return (
    TYPES.get(error) ??
    (error.code === REVERTED ? "REVERT_ERROR" : (BY_CODE.get(error.code) ?? "INTERNAL_ERROR"))
  );
}

/** Code of a reverted call, whose message and data vary. */
const REVERTED = 3;

/** Constants that differ from our name in capitals. */
const OTHER_NAMES: Readonly<Partial<Record<keyof typeof ERRORS, string>>> = {
  timeoutExpired: "TIMEOUT_ERROR",
  sendTransactionUnsupported: "ETH_SEND_TX_NOT_AVAILABLE",
  accountNotFound: "NO_ACCOUNT_FOUND",
  rangeTooLarge: "EXCEEDS_RPC_MAX_BLOCK_RANGE",
  batchTooLarge: "EXCEEDS_RPC_MAX_BATCH_SIZE",
  knownTransaction: "ETH_SEND_TX_ALREADY_KNOWN",
  replacementUnderpriced: "ETH_SEND_TX_REPLACEMENT_UNDERPRICED",
  feeCapExceeded: "TX_FEECAP_EXCEEDED",
  chainIdNotSupported: "REPLAY_PROTECTED_SIGNATURES_NOT_SUPPORTED",
  chainIdRequired: "REPLAY_PROTECTED_SIGNATURE_REQUIRED",
  priorityFeeAboveFeeCap: "MAX_PRIORITY_FEE_PER_GAS_EXCEEDS_MAX_FEE_PER_GAS",
  nonceTooDistant: "NONCE_TOO_FAR_IN_FUTURE_FOR_SENDER",
  invalidSignature: "INVALID_TRANSACTION_SIGNATURE",
  intrinsicGasAboveLimit: "INTRINSIC_GAS_EXCEEDS_LIMIT",
  upfrontCostAboveBalance: "TRANSACTION_UPFRONT_COST_EXCEEDS_BALANCE",
  gasLimitAboveBlock: "EXCEEDS_BLOCK_GAS_LIMIT",
  senderNotAuthorized: "TX_SENDER_NOT_AUTHORIZED",
  initialSyncRunning: "CHAIN_HEAD_WORLD_STATE_NOT_AVAILABLE",
  gasPriceBelowBaseFee: "GAS_PRICE_BELOW_CURRENT_BASE_FEE",
  blobGasPriceBelowBaseFee: "BLOB_GAS_PRICE_BELOW_CURRENT_BLOB_BASE_FEE",
  noTargetGasLimit: "TARGET_GAS_LIMIT_MODIFICATION_UNSUPPORTED",
  peerToPeerDisabled: "P2P_DISABLED",
  peerToPeerNotRunning: "P2P_NETWORK_NOT_RUNNING",
  invalidNodeId: "ENODE_ID_INVALID",
  enodeDnsDisabled: "DNS_NOT_ENABLED",
  enodeHostUnknown: "CANT_RESOLVE_PEER_ENODE_DNS",
  accountListDisabled: "ACCOUNT_ALLOWLIST_NOT_ENABLED",
  accountListEmpty: "ACCOUNT_ALLOWLIST_EMPTY_ENTRY",
  accountInvalid: "ACCOUNT_ALLOWLIST_INVALID_ENTRY",
  accountDuplicated: "ACCOUNT_ALLOWLIST_DUPLICATED_ENTRY",
  accountExists: "ACCOUNT_ALLOWLIST_EXISTING_ENTRY",
  accountAbsent: "ACCOUNT_ALLOWLIST_ABSENT_ENTRY",
  nodeListDisabled: "NODE_ALLOWLIST_NOT_ENABLED",
  nodeListEmpty: "NODE_ALLOWLIST_EMPTY_ENTRY",
  nodeInvalid: "NODE_ALLOWLIST_INVALID_ENTRY",
  nodeDuplicated: "NODE_ALLOWLIST_DUPLICATED_ENTRY",
  nodeExists: "NODE_ALLOWLIST_EXISTING_ENTRY",
  nodeAbsent: "NODE_ALLOWLIST_MISSING_ENTRY",
  nodeFixed: "NODE_ALLOWLIST_FIXED_NODE_CANNOT_BE_REMOVED",
  permissionsNotPersisted: "ALLOWLIST_PERSIST_FAILURE",
  permissionsOutOfSync: "ALLOWLIST_FILE_SYNC",
  permissionsNotReloaded: "ALLOWLIST_RELOAD_ERROR",
  permissionsDisabled: "PERMISSIONING_NOT_ENABLED",
};

const NAMED = Object.entries(ERRORS).map(([name, error]) => {
  const other = OTHER_NAMES[name as keyof typeof ERRORS];
  return [error, other ?? name.replace(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase()] as const;
});

const TYPES: ReadonlyMap<RpcError, string> = new Map(NAMED);

/** The first type of each code, for errors with a detail, which are not in TYPES. */
const BY_CODE: ReadonlyMap<number, string> = new Map(
  NAMED.map(([{ code }, type]) => [code, type] as const).reverse(),
);
