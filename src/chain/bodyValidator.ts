import { createYieldPolicy, OutOfTime, type StopSignal } from "../execution/yieldPolicy.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes, toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { Block, NamedHeader } from "../types/block.ts";
import { type SentTransaction, type Transaction, withSender } from "../types/transaction.ts";
import { type BlockErrorCode, executionFailed, notAfterHead, validationStopped } from "./blockError.ts";
import type { BlockExecution } from "./blockExecution.ts";
import { checkBody, checkExecution } from "./bodyRules.ts";
import type { ChainWriter } from "./chainWriter.ts";
import { type ExecutedBlock, type ExecutedBlocks, SharedRuns } from "./executedBlocks.ts";
import { type ExecutionFaults, isBeyondExecution } from "./executionFaults.ts";
import type { RecoverSenders } from "./signerRecovery.ts";

export interface BodyValidatorParts {
  readonly clock: Pick<Clock, "nowMs">;
  readonly writer: Pick<ChainWriter, "head">;
  readonly execution: BlockExecution;
  readonly executedBlocks: ExecutedBlocks;
  readonly recoverSenders: RecoverSenders;
  readonly faults: ExecutionFaults;
}

/** Validates and executes the bodies of blocks whose headers are valid. */
export class BodyValidator {
  private readonly parts: BodyValidatorParts;
  private readonly runs = new SharedRuns<Result<ExecutedBlock, BlockErrorCode>>();

  constructor(parts: BodyValidatorParts) {
    this.parts = parts;
  }

  /**
   * Executes the block on top of `parent`, which is the head, unless it was executed before, and keeps the execution. Stops
   * once the signal is aborted or the head moves.
   */
  async validate(
    block: Block,
    hash: Hash,
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const { executedBlocks, clock, recoverSenders, writer } = this.parts;
    const done = executedBlocks.find(hash);
    if (done !== undefined && hasBodyOf(done.block, block)) return ok(done);
    const bodyResult = await checkBody(block, createYieldPolicy(clock));
    if (!bodyResult.ok) return bodyResult;
    const transactions = withSenders(block.transactions, await recoverSenders(block.transactions));
    if (!transactions.ok) return transactions;
    if (writer.head !== parent) return notAfterHead(block.header, writer.head);
    if (signal.aborted) return validationStopped(block.header);
    const sent = { ...block, hash, transactions: transactions.value };
    const executed = await this.runs.join({ hash, base: parent, signal }, (combined) =>
      this.executeUnlessStopped(sent, parent, combined),
    );
    return executed ?? validationStopped(block.header);
  }

  /** Executes the block; undefined when the signal is aborted. */
  private async executeUnlessStopped(
    block: NamedSentBlock,
    parent: NamedHeader,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode> | undefined> {
    const { writer } = this.parts;
    // This signal also stops when the head moves: the result would be invalid.
    const orHeadMoved = {
      get aborted() {
        return signal.aborted || writer.head !== parent;
      },
    };
    try {
      return await executeAndCheck(this.parts, block, parent, orHeadMoved);
    } catch (error) {
      if (error instanceof OutOfTime)
        return writer.head === parent ? undefined : notAfterHead(block.header, writer.head);
      if (isBeyondExecution(error)) throw error;
      this.parts.faults.blockFailed();
      return executionFailed(block.header, error);
    }
  }
}

type NamedSentBlock = Block<SentTransaction> & { readonly hash: Hash };

/** Throws OutOfTime once the signal is aborted, which it is as soon as the head has moved. */
async function executeAndCheck(
  { clock, writer, execution, executedBlocks }: BodyValidatorParts,
  block: NamedSentBlock,
  parent: NamedHeader,
  signal: StopSignal,
): Promise<Result<ExecutedBlock, BlockErrorCode>> {
  const executed = await execution.replay(block.header, block.transactions, signal);
  if (writer.head !== parent) return notAfterHead(block.header, writer.head);
  if (!executed.ok) return executed;
  // Each of these takes tens of milliseconds for a full block, so they yield. `signal` is aborted once the head has
  // moved, before a step reads another state.
  const yieldPolicy = createYieldPolicy(clock, { signal });
  await yieldPolicy.yield();
  const staged = await execution.stage(executed.value, block.header.number, yieldPolicy);
  const checked = await checkExecution(
    block.header,
    { ...executed.value, stateRoot: staged.root },
    yieldPolicy,
  );
  if (writer.head !== parent) return notAfterHead(block.header, writer.head);
  if (!checked.ok) return checked;
  const { header, hash, transactions, ommers } = block;
  const result = {
    block: { header, hash, transactions, ommers },
    receipts: executed.value.receipts,
    staged,
  };
  executedBlocks.keep(result);
  return ok(result);
}

function withSenders(
  transactions: readonly Transaction[],
  senders: Awaited<ReturnType<RecoverSenders>>,
): Result<readonly SentTransaction[], "unknownSender"> {
  const sent: SentTransaction[] = [];
  for (const [index, transaction] of transactions.entries()) {
    const sender = senders[index];
    if (sender === undefined) {
      const message = `the signature of transaction ${index} (${toHex(transaction.hash)}) is invalid`;
      return fail("peer", "unknownSender", message);
    }
    sent.push(withSender(transaction, sender));
  }
  return ok(sent);
}

/** Compares bodies of the same chain hash by transaction hashes: much cheaper than deriving the transactions root. */
function hasBodyOf(known: Block, { transactions, ommers, withdrawals = [] }: Block): boolean {
  return (
    ommers.length === 0 &&
    withdrawals.length === 0 &&
    transactions.length === known.transactions.length &&
    transactions.every(({ hash }, index) => equalBytes(hash, known.transactions[index]?.hash ?? EMPTY_BYTES))
  );
}
