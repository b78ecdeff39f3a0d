import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { AssertionFailed } from "../../primitives/assert.ts";
import { type Eventual, onceKnown } from "../../primitives/eventual.ts";
import type { Hash } from "../../primitives/hash.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { CodedError } from "../../primitives/result.ts";
import type { TimeSlice } from "../../primitives/timeSlice.ts";
import { JournaledOverlay, type Overlay } from "../../state/overlay.ts";
import type { StateReader } from "../../state/stateReader.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import type { Header } from "../../types/header.ts";
import { effectiveGasPrice } from "../../types/transaction.ts";
import type { BlockContext } from "../blockContext.ts";
import { type BlockRules, blockRules } from "../blockRules.ts";
import { BlockSession } from "../blockSession.ts";
import {
  blobGasOf,
  checkForm,
  checkFunds,
  type Executable,
  type TransactionCheckErrorCode,
} from "../checkTransaction.ts";
import { clearIfEmpty } from "../emptyAccounts.ts";
import type { Observed } from "../evm.ts";
import type { ExecutionObserver } from "../observer.ts";
import type { PrecompileOverrides } from "../precompiles/precompileOverrides.ts";
import { runTransaction } from "../runTransaction.ts";
import type { TransactionResult } from "../transactionResult.ts";
import { runsNoCode, transfer } from "../transfer.ts";
import { memoryBounded, type YieldPolicy } from "../yieldPolicy.ts";
import {
  type AccountOverride,
  type CallRequest,
  type SimulationErrorCode,
  transactionTypeOf,
} from "./callRequest.ts";

/**
 * Context of a simulated call: the state after a block, with that same block's header as the current one
 * (json-rpc.md#call-object).
 */
export interface CallContext {
  readonly spec: ChainSpec;
  readonly header: Header;
  /** State after the header's block. Read-only. */
  readonly state: StateReader;
  ancestorHash(number: bigint): Hash | undefined;
  /** --rpc-gas-cap: if above zero, it replaces every gas limit, even smaller ones. */
  readonly gasCap: bigint;
  /** Account overrides of the caller. */
  readonly accounts?: readonly AccountOverride[];
  /** Block overrides of the caller that have no header field. */
  readonly blockConfig?: Partial<Pick<BlockContext, "beneficiary" | "blobBaseFee">>;
  /** Set if any precompiled contract is moved or replaced. */
  readonly precompiles?: PrecompileOverrides;
  /** Absent on a thread with no other work; each call then gets its own, with a memory budget. */
  readonly yieldPolicy?: YieldPolicy;
  /** Bounds all calls together on such a thread. */
  readonly slice?: TimeSlice | undefined;
}

/** The overlay that simulated calls run on; calls on the same one see each other's changes, and share one memory budget. */
export interface Workspace {
  readonly overlay: Overlay;
  readonly yieldPolicy: YieldPolicy;
  /** True if nothing reads the overlay after one call. */
  readonly isDiscarded?: boolean;
}

interface CallConfig {
  readonly gasLimit: bigint;
  /** When false, gas is free and the base fee is zero. The sender must still own the value. */
  readonly enforcesBalance: boolean;
  /** When true, the sender's balance is raised to cover gas and value, so that no call fails for lack of balance. */
  readonly lendsBalance?: boolean;
  /** When true, the sender may have the highest nonce, which no transaction can; it wraps to zero. */
  readonly ignoresNonce?: boolean;
  /** When true, code sees the block's own fees even if gas is free. */
  readonly showsFees?: boolean;
  readonly observed?: Observed;
  /** Observer of the execution, for traces. */
  readonly observer?: ExecutionObserver;
}

export type Simulated =
  | { readonly kind: "refused"; readonly code: SimulationErrorCode; readonly detail: string }
  | { readonly kind: "executed"; readonly result: TransactionResult; readonly session: BlockSession };

/** Simulates a call as a transaction with the sender's next nonce, on an overlay that is then discarded. */
export function simulate(context: CallContext, call: CallRequest, config: CallConfig): Eventual<Simulated> {
  const { overlay, yieldPolicy } = workspaceOn(context);
  return simulateOn({ overlay, yieldPolicy, isDiscarded: true }, context, call, config);
}

/** A new overlay on the context's state, with the caller's account overrides applied. */
export function workspaceOn({
  state,
  accounts,
  slice,
  yieldPolicy = memoryBounded(undefined, slice),
}: CallContext): Workspace {
  const overlay = new JournaledOverlay(state, yieldPolicy.memory);
  if (accounts !== undefined) overrideAccounts(overlay, accounts);
  return { overlay, yieldPolicy };
}

/** Like simulate, on a workspace that may hold the changes of earlier calls. */
export function simulateOn(
  { overlay, yieldPolicy, isDiscarded }: Workspace,
  context: CallContext,
  call: CallRequest,
  config: CallConfig,
): Eventual<Simulated> {
  const { config: chainConfig, rules, block: original } = contextRules(context);
  const { observed, observer, ignoresNonce = false } = config;
  const block = config.enforcesBalance ? original : withoutFees(original);
  const session = new BlockSession({
    config: chainConfig,
    rules,
    block,
    overlay,
    yieldPolicy,
    visibleBlock: config.showsFees === true ? original : undefined,
    precompiles: context.precompiles,
    isDiscarded,
    observed,
    observer,
  });
  const sender = call.from ?? ZERO_ADDRESS;
  const account = overlay.account(sender);
  const { blobBaseFee } = block;
  const transaction = toExecutable(call, config, context, { nonce: account?.nonce ?? 0n, blobBaseFee });
  const refused =
    checkForm({ rules, chainId: context.spec.chainId, block, ignoresNonce }, transaction) ??
    (config.lendsBalance === true ? undefined : checkFunds(transaction, account));
  if (refused !== undefined) return toRefusal(refused.error);
  const price = effectiveGasPrice(transaction, block.baseFeePerGas);
  if (config.lendsBalance === true) lend(overlay, transaction, { price, blobBaseFee });
  overlay.beginTransaction();
  const result = runsNoCode(session, transaction)
    ? transferObserved(session, transaction, price, observed)
    : runTransaction(session, transaction, price);
  return onceKnown(result, (executed) => ({ kind: "executed", result: executed, session }));
}

/** Raises the sender's balance to what the transaction may cost, if it is lower. */
function lend(
  overlay: Overlay,
  transaction: Executable,
  { price, blobBaseFee }: { readonly price: bigint; readonly blobBaseFee: bigint },
): void {
  const { sender, gasLimit, value } = transaction;
  const cost = gasLimit * price + blobGasOf(transaction) * blobBaseFee + value;
  const account = overlay.account(sender) ?? EMPTY_ACCOUNT;
  if (account.balance < cost) overlay.putAccount(sender, { ...account, balance: cost });
}

/** The rules of the context's block, with the caller's overrides. */
export function contextRules({
  spec,
  header,
  ancestorHash,
  blockConfig,
}: Pick<CallContext, "spec" | "header" | "ancestorHash" | "blockConfig">): BlockRules {
  const original = blockRules(spec, header, ancestorHash);
  return blockConfig === undefined ? original : { ...original, block: { ...original.block, ...blockConfig } };
}

function withoutFees(block: BlockContext): BlockContext {
  const { baseFeePerGas } = block;
  return {
    number: block.number,
    timestamp: block.timestamp,
    gasLimit: block.gasLimit,
    beneficiary: block.beneficiary,
    baseFeePerGas: baseFeePerGas === undefined ? undefined : 0n,
    difficulty: block.difficulty,
    mixHash: block.mixHash,
    blobBaseFee: 0n,
    hashOf: block.hashOf,
  };
}

function toExecutable(
  call: CallRequest,
  { gasLimit, enforcesBalance }: CallConfig,
  { header, gasCap }: CallContext,
  { nonce, blobBaseFee }: { readonly nonce: bigint; readonly blobBaseFee: bigint },
): Executable {
  const priced = (wei: bigint): bigint => (enforcesBalance ? wei : 0n);
  const gasPrice = priced(call.gasPrice ?? 0n);
  const isFeeMarket = header.baseFeePerGas !== undefined;
  return {
    type: transactionTypeOf(call, header),
    sender: call.from ?? ZERO_ADDRESS,
    nonce,
    gasLimit: gasCap > 0n ? gasCap : gasLimit,
    to: call.to,
    value: call.value ?? 0n,
    data: call.data ?? EMPTY_BYTES,
    accessList: call.accessList ?? [],
    blobVersionedHashes: call.blobVersionedHashes ?? [],
    authorizationList: call.authorizationList ?? [],
    gasPrice,
    maxFeePerGas: isFeeMarket ? priced(call.maxFeePerGas ?? gasPrice) : undefined,
    maxPriorityFeePerGas: isFeeMarket ? priced(call.maxPriorityFeePerGas ?? gasPrice) : undefined,
    maxFeePerBlobGas: priced(call.maxFeePerBlobGas ?? blobBaseFee),
  };
}

/** Besu counts the implicit STOP at the end of code, even of empty code. */
function transferObserved(
  session: BlockSession,
  transaction: Executable,
  price: bigint,
  observed: Observed | undefined,
): TransactionResult {
  if (observed !== undefined) observed.maxDepth = Math.max(observed.maxDepth, 0);
  for (const { address, storageKeys } of transaction.accessList)
    for (const key of storageKeys) session.accesses.warmSlot(address, key);
  return transfer(session, transaction, price);
}

function toRefusal({ code, message }: CodedError<TransactionCheckErrorCode>): Simulated {
  switch (code) {
    case "wrongChainId":
    case "chainIdNotSupported":
    case "invalidSignature":
    case "nonceTooLow":
    case "nonceTooHigh":
    case "senderNotAuthorized":
      throw new AssertionFailed(`a simulated call has no signature and the right nonce: ${message}`);
    default:
      return { kind: "refused", code, detail: message };
  }
}

/** Applies account overrides to an overlay, as if they were part of the state before. */
function overrideAccounts(overlay: Overlay, overrides: readonly AccountOverride[]): void {
  for (const { address, nonce, balance, code, storage } of overrides) {
    const account = overlay.account(address) ?? EMPTY_ACCOUNT;
    overlay.putAccount(address, {
      ...account,
      nonce: nonce ?? account.nonce,
      balance: balance ?? account.balance,
    });
    if (code !== undefined) overlay.putCode(address, code);
    if (storage?.replacesAll === true) overlay.clearStorage(address);
    for (const { slot, value } of storage?.slots ?? []) overlay.putStorage(address, slot, value);
    // An override does not create an empty account (EIP-161).
    if (!overlay.hasStorage(address)) clearIfEmpty(overlay, address);
  }
}
