import type { ForkName } from "../../src/chainspec/forks.ts";
import type { BlockContext } from "../../src/execution/blockContext.ts";
import type { BlockRules } from "../../src/execution/blockRules.ts";
import { BlockSession } from "../../src/execution/blockSession.ts";
import { executeTransaction, type TransactionOutcome } from "../../src/execution/executeTransaction.ts";
import { rulesOf } from "../../src/execution/rules.ts";
import type { TransactionResult } from "../../src/execution/transactionResult.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { type Address, addressFromHex } from "../../src/primitives/address.ts";
import { asHash, type Hash, keccak256 } from "../../src/primitives/hash.ts";
import { EMPTY_BYTES, hexToBytes } from "../../src/primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { JournaledOverlay, type Overlay } from "../../src/state/overlay.ts";
import type { StateReader } from "../../src/state/stateReader.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { account } from "../builders/testAccounts.ts";

/** A state without accounts. */
export const EMPTY_STATE: StateReader = {
  account: () => undefined,
  storage: () => EMPTY_BYTES,
  code: () => EMPTY_BYTES,
};

export const BENEFICIARY = addressFromHex("0xbe00000000000000000000000000000000000001");
export const ETHER = 10n ** 18n;
export const CHAIN_ID = 1337n;

/** An address for a contract of a test. */
export function contractAt(n: number): Address {
  return addressFromHex(`0xc0de${n.toString(16).padStart(36, "0")}`);
}

export interface ContextAccount {
  readonly balance?: bigint;
  readonly nonce?: bigint;
  /** Hex. */
  readonly code?: string;
  readonly storage?: Readonly<Record<number, bigint>>;
}

/** An overlay on which the ten test accounts own ten ether each, plus `accounts`. */
export function anOverlay(
  accounts: readonly (readonly [Address, ContextAccount])[] = [],
  below = EMPTY_STATE,
): Overlay {
  const overlay = new JournaledOverlay(below);
  for (let index = 0; index < 10; index++)
    overlay.putAccount(account(index).address, { ...EMPTY_ACCOUNT, balance: 10n * ETHER });
  for (const [address, { balance = 0n, nonce = 0n, code, storage = {} }] of accounts) {
    overlay.putAccount(address, { ...EMPTY_ACCOUNT, balance, nonce });
    if (code !== undefined) overlay.putCode(address, hexToBytes(code));
    for (const [slot, value] of Object.entries(storage))
      overlay.putStorage(address, slotOf(Number(slot)), bigintToBytes(value));
  }
  // A second overlay, so that the accounts count as committed.
  return new JournaledOverlay(overlay);
}

export function slotOf(n: number): Uint8Array {
  return bigintToFixedBytes(BigInt(n), 32);
}

/** Block 100 of the development chain, with a gas limit of 30 million. */
export function aContext(changes: Partial<BlockContext> = {}): BlockContext {
  return {
    number: 100n,
    timestamp: 1_700_000_000n,
    gasLimit: 30_000_000n,
    beneficiary: BENEFICIARY,
    baseFeePerGas: 0n,
    difficulty: 1n,
    mixHash: asHash(keccak256(Uint8Array.of(1))),
    blobBaseFee: 0n,
    hashOf: chainHashOf,
    ...changes,
  };
}

/** The chain hash of an earlier block in these tests. */
export function chainHashOf(number: bigint): Hash {
  return keccak256(bigintToBytes(number));
}

export function theRules(fork: ForkName, context: Partial<BlockContext> = {}, rewardWei = 0n): BlockRules {
  return {
    rules: rulesOf(fork),
    config: { chainId: CHAIN_ID, contractSizeLimitBytes: 24_576, stackLimit: 1024 },
    block: aContext(context),
    parentHash: chainHashOf((context.number ?? 100n) - 1n),
    rewardWei,
  };
}

export function aSession(
  fork: ForkName,
  overlay: Overlay,
  context: Partial<BlockContext> = {},
): BlockSession {
  return new BlockSession({ ...theRules(fork, context), overlay, yieldPolicy: NEVER_YIELD });
}

/** Executes one transaction as the first of its block. */
export async function execute(
  fork: ForkName,
  overlay: Overlay,
  transaction: SentTransaction,
  context: Partial<BlockContext> = {},
): Promise<TransactionOutcome> {
  overlay.beginTransaction();
  return executeTransaction(aSession(fork, overlay, context), transaction);
}

/** As execute, for a transaction that must be valid. */
export async function executed(
  fork: ForkName,
  overlay: Overlay,
  transaction: SentTransaction,
  context: Partial<BlockContext> = {},
): Promise<TransactionResult> {
  const result = await execute(fork, overlay, transaction, context);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

export function word(value: bigint | Uint8Array): Uint8Array {
  if (typeof value === "bigint") return bigintToFixedBytes(value, 32);
  const padded = new Uint8Array(32);
  padded.set(value, 32 - value.length);
  return padded;
}
