import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { type BlockRules, blockRules } from "../execution/blockRules.ts";
import { BlockSession } from "../execution/blockSession.ts";
import { beginBlock } from "../execution/executeBlock.ts";
import { executeTransaction } from "../execution/executeTransaction.ts";
import type { MessageObserver } from "../execution/messageObserver.ts";
import { memoryBounded, type YieldPolicy } from "../execution/yieldPolicy.ts";
import { AssertionFailed } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import type { TimeSlice } from "../primitives/timeSlice.ts";
import { JournaledOverlay, type Overlay } from "../state/overlay.ts";
import type { StateReader } from "../state/stateReader.ts";
import type { Header } from "../types/header.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { TraceStyle } from "./tracer.ts";
import { WatchedOverlay } from "./watchedOverlay.ts";

/** What re-execution reads of the chain. */
export interface ReplaySource {
  readonly spec: ChainSpec;
  /** State after block `number`; undefined when it is not stored. */
  stateAt(number: bigint): StateReader | undefined;
  hashOf(number: bigint): Hash | undefined;
  /** Bounds everything executed for one job; absent if the job may take its whole time. */
  readonly slice?: TimeSlice | undefined;
}

/** A block to execute again, which need not be part of the chain. */
export interface ReplayedBlock {
  readonly header: Header;
  readonly hash: Hash;
  readonly transactions: readonly SentTransaction[];
}

/** The traced transactions of a block: the one at `index`, or all. */
interface Replayed {
  readonly index?: number;
  readonly style: TraceStyle;
}

/** The state on which a block starts is not stored. */
export class StateUnavailableError extends Error {
  override name = "StateUnavailableError";
}

/**
 * Executes a block again, on the state of its parent, and traces one of its transactions or all. Transactions before the
 * traced one run without an observer, those after it are skipped. Throws StateUnavailableError, and
 * BlockNotExecutableError for a block that cannot have been executed there.
 */
export async function replayBlock(
  source: ReplaySource,
  block: ReplayedBlock,
  { index, style }: Replayed,
): Promise<void> {
  const { transactions } = block;
  const { rules, overlay, yieldPolicy } = await beginReplay(source, block);
  const session = new BlockSession({ ...rules, overlay, yieldPolicy });
  for (const [at, transaction] of transactions.entries()) {
    if (index !== undefined && at > index) return;
    if (index === undefined || at === index)
      await traceOne(rules, overlay, { block, at, style, yieldPolicy });
    else await executeOne(session, transaction);
  }
}

/**
 * Executes the transactions of a block below index `until` again, and reports who called whom in those that ran code;
 * `begins` is called with the index of each. Costs a fraction of a trace. Throws as replayBlock does, and MemoryExhausted
 * when it takes more than `memoryBytes`.
 */
export async function replayMessages(
  source: ReplaySource,
  block: ReplayedBlock,
  { until, observer, begins, memoryBytes }: ReplayedMessages,
): Promise<void> {
  const { rules, overlay, yieldPolicy } = await beginReplay(source, block, memoryBytes);
  const session = new BlockSession({ ...rules, overlay, yieldPolicy, messages: observer });
  for (const [index, transaction] of block.transactions.slice(0, until).entries()) {
    begins(index);
    await executeOne(session, transaction);
  }
}

interface ReplayedMessages {
  readonly until: number;
  readonly observer: MessageObserver;
  readonly begins: (index: number) => void;
  readonly memoryBytes: number;
}

interface BegunReplay {
  readonly rules: BlockRules;
  readonly overlay: Overlay;
  readonly yieldPolicy: YieldPolicy;
}

/** The state on which the first transaction of a block runs. */
async function beginReplay(
  source: ReplaySource,
  { header }: ReplayedBlock,
  memoryBytes?: number,
): Promise<BegunReplay> {
  const state = source.stateAt(header.number - 1n);
  if (state === undefined)
    throw new StateUnavailableError(`the state of block ${header.number - 1n} is not stored`);
  const rules = blockRules(source.spec, header, (number) => source.hashOf(number));
  const yieldPolicy = memoryBounded(memoryBytes, source.slice);
  const overlay = new JournaledOverlay(state, yieldPolicy.memory);
  const started = await beginBlock(rules, new BlockSession({ ...rules, overlay, yieldPolicy }));
  if (!started.ok) throw new BlockNotExecutableError(started.error.message);
  return { rules, overlay, yieldPolicy };
}

/** The block, or one of its transactions, cannot be executed on its parent's state. */
export class BlockNotExecutableError extends Error {
  override name = "BlockNotExecutableError";
}

interface TracedIndex {
  readonly block: ReplayedBlock;
  readonly at: number;
  readonly style: TraceStyle;
  readonly yieldPolicy: YieldPolicy;
}

async function traceOne(
  rules: BlockRules,
  overlay: Overlay,
  { block, at, style, yieldPolicy }: TracedIndex,
): Promise<void> {
  const transaction = block.transactions[at];
  if (transaction === undefined)
    throw new AssertionFailed(`block ${block.header.number} has no transaction ${at}`);
  const state = new WatchedOverlay(overlay);
  const trace = style({
    gasLimit: transaction.gasLimit,
    location: {
      blockHash: block.hash,
      blockNumber: block.header.number,
      transactionHash: transaction.hash,
      index: at,
    },
    beneficiary: rules.block.beneficiary,
    authorizationList: transaction.authorizationList,
    state,
  });
  const session = new BlockSession({ ...rules, overlay: state, yieldPolicy, observer: trace.observer });
  trace.finish(await executeOne(session, transaction));
}

async function executeOne(session: BlockSession, transaction: SentTransaction) {
  session.overlay.beginTransaction();
  const executed = await executeTransaction(session, transaction);
  if (!executed.ok) throw new BlockNotExecutableError(executed.error.message);
  const { yieldPolicy } = session;
  if (yieldPolicy.isDue()) await yieldPolicy.yield();
  return executed.value;
}
