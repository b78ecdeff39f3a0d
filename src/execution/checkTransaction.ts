import { toQuantity } from "../primitives/quantity.ts";
import { type Err, fail } from "../primitives/result.ts";
import { type Account, EMPTY_ACCOUNT } from "../types/account.ts";
import { effectiveGasPrice, type FeeFields, feeCap, type SentTransaction } from "../types/transaction.ts";
import type { BlockContext } from "./blockContext.ts";
import { isDelegation } from "./delegation.ts";
import { hasNoCode } from "./emptyAccounts.ts";
import { type GasRelevant, minimumGas } from "./intrinsicGas.ts";
import { BLOB_GAS, type Rules } from "./rules.ts";

/** The fields of a transaction that execution needs: all but its signature and encoding. */
export interface Executable
  extends FeeFields,
    GasRelevant,
    Pick<SentTransaction, "type" | "sender" | "nonce" | "gasLimit" | "value" | "blobVersionedHashes"> {
  readonly maxFeePerBlobGas?: bigint | undefined;
}

/** Reason why a transaction is not valid in a block. */
export type TransactionCheckErrorCode =
  | "wrongChainId"
  | "chainIdNotSupported"
  | "invalidSignature"
  | "invalidTransactionType"
  | "invalidBlobs"
  | "nonceOverflow"
  | "initCodeTooLarge"
  | "gasPriceBelowBaseFee"
  | "priorityFeeAboveFeeCap"
  | "blobFeeBelowBaseFee"
  | "intrinsicGasAboveLimit"
  | "upfrontCostOverflow"
  | "upfrontCostAboveBalance"
  | "nonceTooLow"
  | "nonceTooHigh"
  | "senderNotAuthorized";

type TransactionCheck = Err<TransactionCheckErrorCode> | undefined;

/** The parameters of the block and chain for a check. */
interface CheckConfig {
  readonly rules: Rules;
  readonly chainId: bigint;
  readonly block: Pick<BlockContext, "baseFeePerGas" | "blobBaseFee">;
  /** True if nonces are not enforced: a sender with the highest nonce may then call, but not create. */
  readonly ignoresNonce?: boolean;
}

/** Checks a signed transaction by itself, before its sender's account. The signer is already recovered. */
export function checkSignedForm(config: CheckConfig, transaction: SentTransaction): TransactionCheck {
  const { chainId } = transaction;
  if (chainId !== undefined) {
    if (!config.rules.hasReplayProtection)
      return invalid("chainIdNotSupported", "replay protected signatures is not supported");
    if (chainId !== config.chainId)
      return invalid(
        "wrongChainId",
        `transaction was meant for chain id ${chainId} and not this chain id ${config.chainId}`,
      );
  }
  if (config.rules.requiresLowS && !transaction.hasLowS)
    return invalid("invalidSignature", "s lies in the upper half of the curve's order");
  return checkForm(config, transaction);
}

/** Checks what does not depend on a signature: type, bounds, fees, intrinsic gas; in Besu's order. */
export function checkForm(config: CheckConfig, transaction: Executable): TransactionCheck {
  const { rules } = config;
  const { type, nonce, to, data } = transaction;
  if (!rules.acceptedTypes.has(type))
    return invalid("invalidTransactionType", `transactions of type ${type} are not accepted here`);
  if (type >= 3) {
    const refused = checkLaterTypes(rules, transaction);
    if (refused !== undefined) return refused;
  }
  if (nonce === HIGHEST_NONCE && (config.ignoresNonce !== true || to === undefined))
    return invalid("nonceOverflow", "Nonce must be less than 2^64-1");
  const limit = rules.initCodeLimitBytes;
  if (to === undefined && limit !== undefined && data.length > limit)
    return invalid("initCodeTooLarge", `Initcode size of ${data.length} exceeds maximum size of ${limit}`);
  return checkFees(config, transaction) ?? checkGas(rules, transaction);
}

/** Checks what depends on the sender's account: cost, nonce, and whether it may send at all (EIP-3607, EIP-7702). */
export function checkSender(
  transaction: Executable,
  account: Account | undefined,
  codeOf: (account: Account) => Uint8Array,
): TransactionCheck {
  const refused = checkFunds(transaction, account);
  if (refused !== undefined || account === undefined || hasNoCode(account)) return refused;
  return isDelegation(codeOf(account))
    ? undefined
    : invalid(
        "senderNotAuthorized",
        "the sender has deployed code and so is not authorized to send transactions",
      );
}

/** Like checkSender, but also allows senders with code. */
export function checkFunds(transaction: Executable, account: Account | undefined): TransactionCheck {
  const { nonce, balance } = account ?? EMPTY_ACCOUNT;
  const cost = highestCost(transaction);
  if (cost > balance) return invalid("upfrontCostAboveBalance", costMessage(cost, balance));
  if (transaction.nonce < nonce)
    return invalid(
      "nonceTooLow",
      `transaction nonce ${transaction.nonce} below sender account nonce ${nonce}`,
    );
  if (transaction.nonce > nonce)
    return invalid(
      "nonceTooHigh",
      `transaction nonce ${transaction.nonce} does not match sender account nonce ${nonce}`,
    );
  return undefined;
}

/** Wei that the sender must own: all gas at the highest price, plus blobs and value. */
function highestCost(transaction: Executable): bigint {
  const cost = transaction.gasLimit * feeCap(transaction) + transaction.value;
  if (transaction.blobVersionedHashes.length === 0) return cost;
  return cost + blobGasOf(transaction) * (transaction.maxFeePerBlobGas ?? 0n);
}

export function blobGasOf({ blobVersionedHashes }: Pick<Executable, "blobVersionedHashes">): bigint {
  return BLOB_GAS * BigInt(blobVersionedHashes.length);
}

/** Besu's text, which eth_estimateGas shows. */
function costMessage(cost: bigint, balance: bigint): string {
  return `transaction up-front cost ${toQuantity(cost)} exceeds transaction sender account balance ${toQuantity(balance)}`;
}

const HIGHEST_NONCE = 2n ** 64n - 1n;

/** The sender's nonce after its transaction. Wraps to zero after the highest, if that may be used, as in go-ethereum. */
export function nonceAfter(nonce: bigint): bigint {
  return BigInt.asUintN(64, nonce + 1n);
}

const UINT256_END = 2n ** 256n;

function checkLaterTypes(rules: Rules, transaction: Executable): TransactionCheck {
  const { type, to, blobVersionedHashes, authorizationList } = transaction;
  if (to === undefined)
    return invalid("invalidTransactionType", `a transaction of type ${type} needs a recipient`);
  if (type === 4)
    return authorizationList.length > 0
      ? undefined
      : invalid("invalidTransactionType", "a set-code transaction names at least one authorization");
  if (blobVersionedHashes.length === 0)
    return invalid("invalidBlobs", "transaction blob transactions must specify one or more versioned hashes");
  if (blobVersionedHashes.some((hash) => hash[0] !== BLOB_HASH_VERSION))
    return invalid("invalidBlobs", "transaction blobs commitment version is not supported");
  const blobGas = blobGasOf(transaction);
  return blobGas > rules.blobGasLimit
    ? invalid(
        "invalidBlobs",
        `total blob gas ${blobGas} exceeds max blob gas per block ${rules.blobGasLimit}`,
      )
    : undefined;
}

const BLOB_HASH_VERSION = 1;

function checkFees({ rules, block }: CheckConfig, transaction: Executable): TransactionCheck {
  if (!rules.hasBaseFee) return undefined;
  if (effectiveGasPrice(transaction, block.baseFeePerGas) < (block.baseFeePerGas ?? 0n))
    return invalid("gasPriceBelowBaseFee", "gasPrice is less than the current BaseFee");
  const { maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (maxFeePerGas !== undefined && (maxPriorityFeePerGas ?? 0n) > maxFeePerGas)
    return invalid(
      "priorityFeeAboveFeeCap",
      "max priority fee per gas cannot be greater than max fee per gas",
    );
  if (transaction.type === 3 && (transaction.maxFeePerBlobGas ?? 0n) < block.blobBaseFee)
    return invalid("blobFeeBelowBaseFee", "tx max fee per blob gas less than block blob gas fee");
  return undefined;
}

function checkGas(rules: Rules, transaction: Executable): TransactionCheck {
  const { gasLimit } = transaction;
  const least = minimumGas(rules, transaction);
  if (gasLimit < least)
    return invalid("intrinsicGasAboveLimit", `intrinsic gas cost ${least} exceeds gas limit ${gasLimit}`);
  if (gasLimit * feeCap(transaction) >= UINT256_END)
    return invalid("upfrontCostOverflow", "Upfront gas cost cannot exceed 2^256 Wei");
  return undefined;
}

function invalid(code: TransactionCheckErrorCode, message: string): Err<TransactionCheckErrorCode> {
  return fail("peer", code, message);
}
