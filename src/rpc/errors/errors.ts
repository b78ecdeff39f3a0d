/** A JSON-RPC error object. `data` is left out when absent. */
export class RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: string | undefined;

  constructor(code: number, message: string, data?: string) {
    this.code = code;
    this.message = message;
    this.data = data;
  }
}

/** Adds a detail to an error's message, as estimates do to say why a call was not executed. */
export function withDetail({ code, message, data }: RpcError, detail: string): RpcError {
  return new RpcError(code, `${message}: ${detail}`, data);
}

/**
 * Besu's error for parameters that are missing or unreadable, with `problem` as data for the author of the call: the
 * message has to stay Besu's, and Besu says no more. `problem` repeats nothing that the caller sent.
 */
export function invalidParams(problem: string): RpcError {
  return new RpcError(ERRORS.invalidParams.code, ERRORS.invalidParams.message, problem);
}

/** Besu's error for a range of too many blocks, with the limit and the option that sets it as data. */
export function rangeAbove(
  limit: bigint,
  option: "rpc-max-logs-range" | "rpc-max-trace-filter-range",
): RpcError {
  const { code, message } = ERRORS.rangeTooLarge;
  return new RpcError(code, message, `--${option} allows ${limit} blocks from the first to the last`);
}

/**
 * Errors of the JSON-RPC interface that more than one method answers, with Besu's codes and messages
 * (json-rpc-errors.md#error-codes). Errors that name a value, or belong to one method, are made beside it.
 */
export const ERRORS = {
  // Protocol and general
  parseError: new RpcError(-32700, "Parse error"),
  invalidRequest: new RpcError(-32600, "Invalid Request"),
  methodNotFound: new RpcError(-32601, "Method not found"),
  invalidParams: new RpcError(-32602, "Invalid params"),
  internalError: new RpcError(-32603, "Internal error"),
  timeoutExpired: new RpcError(-32603, "Timeout expired"),
  methodNotEnabled: new RpcError(-32604, "Method not enabled"),
  sendTransactionUnsupported: new RpcError(
    -32604,
    "The method eth_sendTransaction is not supported. Use eth_sendRawTransaction to send a signed transaction to Besu.",
  ),
  unknownBlock: new RpcError(-39001, "Unknown block"),
  blockNotFound: new RpcError(-32000, "Block not found"),
  parentBlockNotFound: new RpcError(-32000, "Parent block not found"),
  /** Not in Besu; the code of execution-apis for what a node has not, because its history begins later. */
  historyNotStored: new RpcError(4444, "Pruned history unavailable"),
  worldStateUnavailable: new RpcError(-32000, "World state unavailable"),
  /** The message is Erigon's. */
  transactionNotFound: new RpcError(-32000, "transaction not found"),
  /** The message is Erigon's. */
  pageTooLarge: new RpcError(-32000, "max allowed page size: 25"),
  accountNotFound: new RpcError(-32000, "Account not found"),
  invalidInput: new RpcError(-32000, "Invalid input"),
  filterNotFound: new RpcError(-32000, "Filter not found"),
  logsFilterNotFound: new RpcError(-32000, "Logs filter not found"),
  subscriptionNotFound: new RpcError(-32000, "Subscription not found"),
  executionHalted: new RpcError(-32000, "Transaction processing could not be completed due to an exception"),
  /** Not in Besu. */
  accountIndexOff: new RpcError(
    -32000,
    "The index by address is off. Start the node with --explorer-index-enabled.",
  ),
  rangeTooLarge: new RpcError(-32005, "Requested range exceeds maximum RPC range limit"),
  batchTooLarge: new RpcError(-32005, "Number of requests exceeds max batch size"),
  /** Not in Besu, which has no limit on memory. */
  callTooLarge: new RpcError(-32005, "The call takes more than 256 MB of memory, or returns more than 16 MB"),
  /** Not in Besu, which has no such limit (server/parseMessage.ts). */
  messageTooLarge: new RpcError(-32005, "The message has more than 200,000 lists, objects and members"),
  /** Not in Besu, whose messages over a Unix socket are what one read gives (server/limits.ts). */
  messageTooLong: new RpcError(-32005, "The message has more than 5242880 bytes"),
  /** Not in Besu, which lets any number of calls wait. */
  tooManyCalls: new RpcError(-32005, "Too many calls are waiting. Try again later."),
  /** Not in Besu, which answers the hash of a transaction that it drops at once. */
  poolFull: new RpcError(
    -32005,
    "The transaction pool is full. Try again later, or with a higher gas price.",
  ),
  /** Not in Besu, which lists a pool of any size. */
  listingTooLarge: new RpcError(
    -32005,
    "The listing has more than 32 MB. Ask txpool_besuPendingTransactions for fewer transactions by its number of results.",
  ),
  unauthorized: new RpcError(-40100, "Unauthorized"),

  // Transactions
  knownTransaction: new RpcError(-32000, "Known transaction"),
  replacementUnderpriced: new RpcError(-32000, "Replacement transaction underpriced"),
  feeCapExceeded: new RpcError(-32000, "Transaction fee cap exceeded"),
  wrongChainId: new RpcError(-32000, "Wrong chainId"),
  chainIdNotSupported: new RpcError(-32000, "ChainId not supported"),
  chainIdRequired: new RpcError(-32000, "ChainId is required"),
  priorityFeeAboveFeeCap: new RpcError(-32000, "Max priority fee per gas exceeds max fee per gas"),
  nonceTooDistant: new RpcError(-32000, "Transaction nonce is too distant from current sender nonce"),
  totalBlobGasTooHigh: new RpcError(-32000, "Total blob gas too high"),
  nonceTooLow: new RpcError(-32001, "Nonce too low"),
  invalidSignature: new RpcError(-32002, "Invalid signature"),
  /** Besu answers -32603 for these three, as for a fault of its own. */
  initCodeTooLarge: new RpcError(-32000, "Initcode too large"),
  nonceOverflow: new RpcError(-32000, "Nonce overflow"),
  upfrontCostOverflow: new RpcError(-32000, "Upfront cost overflow"),
  intrinsicGasAboveLimit: new RpcError(-32003, "Intrinsic gas exceeds gas limit"),
  upfrontCostAboveBalance: new RpcError(-32004, "Upfront cost exceeds account balance"),
  gasLimitAboveBlock: new RpcError(-32005, "Transaction gas limit exceeds block gas limit"),
  nonceTooHigh: new RpcError(-32006, "Nonce too high"),
  senderNotAuthorized: new RpcError(-32007, "Sender account not authorized to send transactions"),
  initialSyncRunning: new RpcError(-32008, "Initial sync is still in progress"),
  gasPriceTooLow: new RpcError(-32009, "Gas price below configured minimum gas price"),
  gasPriceBelowBaseFee: new RpcError(-32009, "Gas price below current base fee"),
  blobGasPriceBelowBaseFee: new RpcError(-32009, "blob gas price below current blob base fee"),
  invalidTransactionType: new RpcError(-32602, "Invalid transaction type"),

  // Mining, peers and others
  noTargetGasLimit: new RpcError(
    -32011,
    "The node is not attempting to target a gas limit so the target can't be changed",
  ),
  peerToPeerDisabled: new RpcError(-32000, "P2P has been disabled. This functionality is not available"),
  peerToPeerNotRunning: new RpcError(-32000, "P2P network is not running"),
  invalidNodeId: new RpcError(
    -32000,
    "Invalid node ID: node ID must have exactly 128 hexadecimal characters and should not include any '0x' hex prefix.",
  ),
  enodeDnsDisabled: new RpcError(-32100, "Enode DNS support is disabled"),
  enodeHostUnknown: new RpcError(-32100, "Cannot resolve enode DNS hostname"),
  pluginNotFound: new RpcError(-60000, "Plugin not found"),

  // Permissions
  accountListDisabled: new RpcError(-32000, "Account allowlist has not been enabled"),
  accountListEmpty: new RpcError(-32000, "Request contains an empty list of accounts"),
  accountInvalid: new RpcError(-32000, "Request contains an invalid account"),
  accountDuplicated: new RpcError(-32000, "Request contains duplicate accounts"),
  accountExists: new RpcError(-32000, "Cannot add an existing account to allowlist"),
  accountAbsent: new RpcError(-32000, "Cannot remove an absent account from allowlist"),
  nodeListDisabled: new RpcError(-32000, "Node allowlist has not been enabled"),
  nodeListEmpty: new RpcError(-32000, "Request contains an empty list of nodes"),
  nodeInvalid: new RpcError(-32000, "Request contains an invalid node"),
  nodeDuplicated: new RpcError(-32000, "Request contains duplicate nodes"),
  nodeExists: new RpcError(-32000, "Cannot add an existing node to allowlist"),
  nodeAbsent: new RpcError(-32000, "Cannot remove an absent node from allowlist"),
  nodeFixed: new RpcError(-32000, "Cannot remove a fixed node (bootnode or static node) from allowlist"),
  permissionsNotPersisted: new RpcError(
    -32000,
    "Unable to persist changes to allowlist configuration file. Changes reverted",
  ),
  permissionsOutOfSync: new RpcError(
    -32000,
    "The permissioning allowlist configuration file is out of sync.  The changes have been applied, but not persisted to disk",
  ),
  permissionsNotReloaded: new RpcError(
    -32000,
    "Error reloading permissions file. Please use perm_getAccountsAllowlist and perm_getNodesAllowlist to review the current state of the allowlists",
  ),
  /** Not in Besu, which takes any number (methods/perm/allowlists.ts). */
  tooManyListed: new RpcError(-32005, "The request has more than 1,000 entries"),
  permissionsDisabled: new RpcError(-32000, "Node/Account allowlist has not been enabled"),
} as const;
