import type { Err } from "../primitives/result.ts";
import { isImpersonated } from "../types/impersonatedSignature.ts";
import { feeCap, type SentTransaction, type Transaction } from "../types/transaction.ts";
import type { TransactionOrigin } from "./entry.ts";
import { type PoolErrorCode, poolError } from "./errors.ts";
import type { TxPoolLimits } from "./limits.ts";
import type { PoolChainView, PoolParts, SenderPermission } from "./ports.ts";
import type { SenderAccount } from "./senderQueue.ts";

/** A transaction submitted to the pool. */
export interface IncomingTransaction<T extends Transaction = SentTransaction> {
  readonly transaction: T;
  readonly origin: TransactionOrigin;
  readonly isPrioritized: boolean;
  /** What the account contract says; absent before it was asked. */
  readonly permission?: SenderPermission;
}

/** The first check that failed, or undefined when all hold. */
export type AdmissionError = Err<PoolErrorCode> | undefined;

/*
 * The checks below stand in the order of the table in json-rpc.md#eth_sendrawtransaction: callers get the first that fails.
 * TxPool (txPool.ts) checks before all whether the pool knows the transaction, and after all its place in the sender's queue and
 * whether the full pool has room for it.
 */

/** Checks the operator's price limits, which do not depend on the block. */
export function checkPrice(
  incoming: IncomingTransaction<Transaction>,
  limits: TxPoolLimits,
  chain: PoolChainView,
): AdmissionError {
  const { transaction, origin, isPrioritized } = incoming;
  const priceWei = feeCap(transaction);
  if (origin === "local" && limits.feeCapWei !== 0n && priceWei > limits.feeCapWei) {
    return poolError(
      "feeCapExceeded",
      origin,
      `offers ${priceWei} wei per gas, more than ${limits.feeCapWei}`,
    );
  }
  const floorWei = isPrioritized ? protocolFloorWei(chain) : limits.admissionFloorWei;
  if (priceWei < floorWei) {
    return poolError("gasPriceTooLow", origin, `offers ${priceWei} wei per gas, less than ${floorWei}`);
  }
  return undefined;
}

/** Checks what needs only the transaction and the rules. */
export function checkSoundness(
  incoming: IncomingTransaction<Transaction>,
  limits: TxPoolLimits,
  chain: PoolChainView,
): AdmissionError {
  return (
    checkChainId(incoming, chain) ??
    checkSignature(incoming) ??
    checkType(incoming, chain) ??
    checkBounds(incoming, chain) ??
    checkFees(incoming) ??
    checkIntrinsicGas(incoming, chain) ??
    checkReplayProtection(incoming, limits) ??
    checkGasLimit(incoming, chain)
  );
}

/** Checks what needs the head's state: who may send, and the sender's account. */
export function checkSender(
  incoming: IncomingTransaction,
  parts: PoolParts,
  readAccount: () => SenderAccount,
): AdmissionError {
  const { transaction, origin } = incoming;
  const { chain, isSenderPermitted } = parts;
  if (chain.isStateAvailable === false) {
    return poolError("stateUnavailable", origin, "the state of the head is not available yet");
  }
  if (isSenderPermitted !== undefined && !isSenderPermitted(transaction.sender)) {
    return poolError("senderNotAuthorized", origin, "the sender is not on the account allowlist");
  }
  if (incoming.permission === "denied") {
    return poolError("senderNotAuthorized", origin, "the account contract does not permit it");
  }
  if (incoming.permission === "unknown") {
    return poolError("stateUnavailable", origin, "the account contract gives no answer");
  }
  return checkAccount(incoming, readAccount());
}

/** Checks balance and nonce, and that the sender is no contract (EIP-3607). */
export function checkAccount(
  { transaction, origin }: IncomingTransaction,
  { balanceWei, nonce, isContract }: SenderAccount,
): AdmissionError {
  const costWei = transaction.gasLimit * feeCap(transaction) + transaction.value;
  if (costWei > balanceWei) {
    const message = `may cost ${costWei} wei, and the sender has ${balanceWei}`;
    return poolError("upfrontCostAboveBalance", origin, message, { costWei, balanceWei });
  }
  if (transaction.nonce < nonce) {
    const message = `nonce ${transaction.nonce} is used, the sender's next is ${nonce}`;
    return poolError("nonceTooLow", origin, message, { nonce: transaction.nonce, expected: nonce });
  }
  if (isContract && !isImpersonated(transaction))
    return poolError("senderNotAuthorized", origin, "the sender is a contract");
  return undefined;
}

/**
 * Lowest price of the protocol, wei per gas: the base fee does not fall below 7 wei, unless it begins at zero or is fixed
 * there (Besu's LondonFeeMarket).
 */
function protocolFloorWei({ rules }: PoolChainView): bigint {
  return rules.hasBaseFee && !rules.isFreeFromStart ? LOWEST_BASE_FEE_WEI : 0n;
}

const LOWEST_BASE_FEE_WEI = 7n;

function checkChainId(
  { transaction, origin }: IncomingTransaction<Transaction>,
  { rules }: PoolChainView,
): AdmissionError {
  const { chainId } = transaction;
  if (chainId === undefined || chainId === rules.chainId) return undefined;
  return rules.chainId === undefined
    ? poolError("chainIdNotSupported", origin, "this chain has no replay protection yet")
    : poolError("wrongChainId", origin, `meant for chain ${chainId}, not for ${rules.chainId}`);
}

/** Checks s alone: the known sender proves that the signer could be recovered. */
function checkSignature({ transaction, origin }: IncomingTransaction<Transaction>): AdmissionError {
  return transaction.hasLowS
    ? undefined
    : poolError("invalidSignature", origin, "s lies in the upper half of the curve's order (EIP-2)");
}

/**
 * A blob transaction needs its blobs, and the canonical form that is decoded here does not carry them. A
 * set-code transaction needs at least one authorization (EIP-7702).
 */
function checkType(
  { transaction, origin }: IncomingTransaction<Transaction>,
  { rules }: PoolChainView,
): AdmissionError {
  const { type, authorizationList } = transaction;
  if (!rules.acceptedTypes.has(type) || type === 3) {
    return poolError("invalidTransactionType", origin, `transactions of type ${type} are not accepted`);
  }
  if (type === 4 && authorizationList.length === 0) {
    return poolError(
      "invalidTransactionType",
      origin,
      "a set-code transaction names at least one authorization",
    );
  }
  return undefined;
}

const HIGHEST_NONCE = 2n ** 64n - 1n;
const UINT256_END = 2n ** 256n;

/** Checks what no block could hold: the last nonce, init code above the limit, and a cost above 256 bits. */
function checkBounds(
  { transaction, origin }: IncomingTransaction<Transaction>,
  { rules }: PoolChainView,
): AdmissionError {
  if (transaction.nonce === HIGHEST_NONCE) {
    return poolError("nonceOverflow", origin, "no nonce could follow this one");
  }
  const limit = rules.initCodeLimit;
  const { length } = transaction.data;
  if (transaction.to === undefined && limit !== undefined && length > limit) {
    return poolError("initCodeTooLarge", origin, `the init code has ${length} bytes, more than ${limit}`);
  }
  if (transaction.gasLimit * feeCap(transaction) >= UINT256_END) {
    return poolError("upfrontCostOverflow", origin, "gas limit times price does not fit in 256 bits");
  }
  return undefined;
}

function checkFees({ transaction, origin }: IncomingTransaction<Transaction>): AdmissionError {
  const { maxPriorityFeePerGas, maxFeePerGas } = transaction;
  if (maxPriorityFeePerGas === undefined || maxFeePerGas === undefined) return undefined;
  return maxPriorityFeePerGas <= maxFeePerGas
    ? undefined
    : poolError(
        "priorityFeeAboveFeeCap",
        origin,
        `a tip of ${maxPriorityFeePerGas} wei under a cap of ${maxFeePerGas}`,
      );
}

function checkIntrinsicGas(
  { transaction, origin }: IncomingTransaction<Transaction>,
  { rules }: PoolChainView,
): AdmissionError {
  const intrinsicGas = rules.intrinsicGas(transaction);
  if (transaction.gasLimit >= intrinsicGas) return undefined;
  const message = `needs ${intrinsicGas} gas before its first instruction, and allows ${transaction.gasLimit}`;
  return poolError("intrinsicGasAboveLimit", origin, message, { intrinsicGas });
}

function checkReplayProtection(
  { transaction, origin }: IncomingTransaction<Transaction>,
  limits: TxPoolLimits,
): AdmissionError {
  return limits.requiresReplayProtection && origin === "local" && transaction.chainId === undefined
    ? poolError("replayProtectionRequired", origin, "the transaction names no chain id")
    : undefined;
}

function checkGasLimit(
  { transaction, origin }: IncomingTransaction<Transaction>,
  { headGasLimit }: PoolChainView,
): AdmissionError {
  return transaction.gasLimit <= headGasLimit
    ? undefined
    : poolError(
        "gasLimitAboveBlock",
        origin,
        `asks for ${transaction.gasLimit} gas, a block has ${headGasLimit}`,
      );
}
