import { type ForkName, isAtLeast } from "../chainspec/forks.ts";
import type { TransactionType } from "../types/transaction.ts";

/** A fork's rules for transactions and blocks as flags: execution reads these, never a fork's name. */
export interface Rules {
  readonly fork: ForkName;
  /** Signatures may include a chain id (EIP-155). */
  readonly hasReplayProtection: boolean;
  /** s lies in the lower half of the order (EIP-2). */
  readonly requiresLowS: boolean;
  /** A creation costs 32,000 intrinsic gas, and fails without the gas to store its code (EIP-2). */
  readonly chargesCreation: boolean;
  /** Touched accounts that are empty are deleted; a new contract starts with nonce 1 (EIP-161). */
  readonly clearsEmptyAccounts: boolean;
  /** Receipts hold a status instead of a state root (EIP-658). */
  readonly hasStatusReceipts: boolean;
  /** Gas for a non-zero byte of transaction data: 68, from Istanbul 16 (EIP-2028). */
  readonly nonZeroByteGas: number;
  /** True if the first access to an account or slot in a transaction costs more (EIP-2929). */
  readonly hasColdAccess: boolean;
  /** Blocks carry a base fee (EIP-1559). */
  readonly hasBaseFee: boolean;
  /** The refund is at most the gas used divided by this: 2, from London 5 (EIP-3529). */
  readonly refundQuotient: bigint;
  /** The beneficiary is warm from the start (EIP-3651). */
  readonly hasWarmBeneficiary: boolean;
  /** Largest init code in bytes (EIP-3860). The genesis option contractSizeLimit does not change it, as in Besu. */
  readonly initCodeLimitBytes: number | undefined;
  /** SELFDESTRUCT deletes only contracts created in the same transaction (EIP-6780). */
  readonly keepsOldContracts: boolean;
  /** Maximum blob gas of one transaction (EIP-4844, EIP-7691). */
  readonly blobGasLimit: bigint;
  /** Transactions pay a minimum for their data (EIP-7623). */
  readonly hasCalldataFloor: boolean;
  /** Accounts may delegate to code (EIP-7702). */
  readonly hasDelegation: boolean;
  /** Block hashes are stored in a contract, and request queues are drained (EIP-2935, EIP-7002, EIP-7251). */
  readonly hasSystemCalls: boolean;
  readonly acceptedTypes: ReadonlySet<TransactionType>;
}

/** The rules of a fork; the same object each time, so it can be a map key. */
export function rulesOf(fork: ForkName): Rules {
  let rules = known.get(fork);
  if (rules === undefined) {
    rules = deriveRules(fork);
    known.set(fork, rules);
  }
  return rules;
}

const known = new Map<ForkName, Rules>();

/** Limit of EIP-3860: twice the code size limit of EIP-170. */
const INIT_CODE_LIMIT_BYTES = 49_152;

export const BLOB_GAS = 131_072n;
const CANCUN_BLOBS = 6n;
const PRAGUE_BLOBS = 9n;

function deriveRules(fork: ForkName): Rules {
  const from = (other: ForkName): boolean => isAtLeast(fork, other);
  return {
    fork,
    hasReplayProtection: from("spuriousDragon"),
    requiresLowS: from("homestead"),
    chargesCreation: from("homestead"),
    clearsEmptyAccounts: from("spuriousDragon"),
    hasStatusReceipts: from("byzantium"),
    nonZeroByteGas: from("istanbul") ? 16 : 68,
    hasColdAccess: from("berlin"),
    hasBaseFee: from("london"),
    refundQuotient: from("london") ? 5n : 2n,
    hasWarmBeneficiary: from("shanghai"),
    initCodeLimitBytes: from("shanghai") ? INIT_CODE_LIMIT_BYTES : undefined,
    keepsOldContracts: from("cancun"),
    blobGasLimit: BLOB_GAS * (from("prague") ? PRAGUE_BLOBS : CANCUN_BLOBS),
    hasCalldataFloor: from("prague"),
    hasDelegation: from("prague"),
    hasSystemCalls: from("prague"),
    acceptedTypes: new Set(TYPE_ORIGINS.filter(([, origin]) => from(origin)).map(([type]) => type)),
  };
}

const TYPE_ORIGINS: readonly (readonly [TransactionType, ForkName])[] = [
  [0, "frontier"],
  [1, "berlin"],
  [2, "london"],
  [3, "cancun"],
  [4, "prague"],
];
