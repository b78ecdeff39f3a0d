import { type CodedError, err, ok, type Result } from "../primitives/result.ts";
import type { Overlay } from "../state/overlay.ts";
import type { Receipt } from "../types/receipt.ts";
import { nameOfTransaction, type SentTransaction } from "../types/transaction.ts";
import { BlockReceipts, type ReceiptSettings } from "./blockReceipts.ts";
import type { BlockRules } from "./blockRules.ts";
import { BlockSession } from "./blockSession.ts";
import { credit } from "./emptyAccounts.ts";
import { type ExecutionErrorCode, executeTransaction } from "./executeTransaction.ts";
import { type DrainedRequests, drainRequestQueues, storeParentHash } from "./systemCalls.ts";
import type { AskPermission } from "./transactionPermission.ts";
import type { YieldPolicy } from "./yieldPolicy.ts";

/**
 * Execution: from transactions and a state to receipts and the next state.
 *
 *     executeBlock (others' proposals)          buildBlock (our own proposals)
 *            │  each transaction of the list           │  the pool's best, while gas and time last
 *            └───────────────┬─────────────────────────┘
 *                  executeTransaction: check, then
 *                            ├─ transfer         no code runs: plain bookkeeping
 *                            └─ runTransaction   buys gas, runs the Evm, refunds, pays
 *                                    └─ Evm      the interpreter, behind a narrow interface (evm.ts)
 *     call, estimateGas, createAccessList: one message on a throw-away overlay, prices by their own rules
 *
 * Invariants: an overlay and an Evm each belong to one job; nothing here writes to disk, reads a clock that was not
 * passed in, or keeps state from one block to the next. Rules are data (rules.ts), never a fork's name.
 *
 * Not here: header and body rules (chain), state roots (state), and the order of transactions (txpool).
 */
export interface BlockResult {
  readonly gasUsed: bigint;
  readonly receipts: readonly Receipt[];
  readonly logsBloom: Uint8Array;
  /** Time to finish the block, in usual transactions (effectCost.ts). */
  readonly load: number;
  /** Execution requests; absent before Prague. */
  readonly requests?: DrainedRequests;
}

export type BlockExecutionErrorCode = ExecutionErrorCode | "gasLimitAboveBlock" | "systemCallFailed";

/**
 * Executes the transactions of a block on `overlay`, which starts from the parent's state, and pays the reward. Trusts
 * only the header fields that execution needs. `askPermission` is a rule of the block like any other. Fails with the index of the first transaction that is not valid in this
 * block; the overlay is then unusable.
 */
export async function executeBlock(
  blockRules: BlockRules,
  transactions: readonly SentTransaction[],
  overlay: Overlay,
  {
    yieldPolicy,
    askPermission,
    ...settings
  }: ReceiptSettings & {
    readonly yieldPolicy: YieldPolicy;
    readonly askPermission?: AskPermission | undefined;
  },
): Promise<Result<BlockResult, BlockExecutionErrorCode>> {
  const session = new BlockSession({ ...blockRules, overlay, yieldPolicy, askPermission });
  const begun = await beginBlock(blockRules, session);
  if (!begun.ok) return begun;
  const receipts = new BlockReceipts(settings);
  for (const [index, transaction] of transactions.entries()) {
    if (yieldPolicy.isDue()) await yieldPolicy.yield();
    if (transaction.gasLimit > blockRules.block.gasLimit - receipts.gasUsed)
      return invalidTransaction(index, transaction, TOO_MUCH_GAS);
    overlay.beginTransaction();
    const started = executeTransaction(session, transaction);
    const executed = started instanceof Promise ? await started : started;
    if (!executed.ok) return invalidTransaction(index, transaction, executed.error);
    const adding = receipts.add(transaction.type, executed.value, yieldPolicy);
    if (adding !== undefined) await adding;
  }
  const ended = await endBlock(blockRules, session);
  if (!ended.ok) return ended;
  const { gasUsed, logsBloom, load } = receipts;
  const requests = ended.value;
  return ok({
    gasUsed,
    receipts: receipts.receipts,
    logsBloom,
    load,
    ...(requests !== undefined && { requests }),
  });
}

/** Performs the system calls before a block's transactions. */
export async function beginBlock(
  { rules, parentHash }: BlockRules,
  session: BlockSession,
): Promise<Result<void, "systemCallFailed">> {
  if (!rules.hasSystemCalls) return ok(undefined);
  const stored = await storeParentHash(session, parentHash);
  return stored.ok ? ok(undefined) : stored;
}

/**
 * Performs a block's final steps after its transactions: drains the requests, which it returns, then pays the reward.
 */
export async function endBlock(
  { rules, rewardWei, block }: BlockRules,
  session: BlockSession,
): Promise<Result<DrainedRequests | undefined, "systemCallFailed">> {
  const drained = rules.hasSystemCalls ? await drainRequestQueues(session) : ok(undefined);
  if (drained.ok && rewardWei > 0n) credit(session.overlay, block.beneficiary, rewardWei);
  return drained;
}

const TOO_MUCH_GAS: CodedError<BlockExecutionErrorCode> = {
  code: "gasLimitAboveBlock",
  fault: "peer",
  message: "its gas limit exceeds what the block has left",
};

function invalidTransaction(
  index: number,
  transaction: SentTransaction,
  { code, message }: CodedError<BlockExecutionErrorCode>,
): Result<never, BlockExecutionErrorCode> {
  return err({
    code,
    fault: "peer",
    message: `transaction ${index} (${nameOfTransaction(transaction)}): ${message}`,
    facts: { index },
  });
}
