import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { type BlockRules, blockRules } from "../execution/blockRules.ts";
import { type BlockSession, openSession } from "../execution/blockSession.ts";
import { beginBlock } from "../execution/executeBlock.ts";
import { executeTransaction } from "../execution/executeTransaction.ts";
import { memoryBounded, type YieldPolicy } from "../execution/yieldPolicy.ts";
import { AssertionFailed } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import { createOverlay, type Overlay } from "../state/overlay.ts";
import type { StateReader } from "../state/stateReader.ts";
import type { Header } from "../types/header.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { TraceStyle } from "./style.ts";
import { WatchedOverlay } from "./watchedOverlay.ts";

/** The chain as one who executes its blocks again reads it. */
export interface ReplaySource {
  readonly spec: ChainSpec;
  /** State after block `number`; undefined when it is not stored. */
  stateAt(number: bigint): StateReader | undefined;
  hashOf(number: bigint): Hash | undefined;
}

/** A block to execute again, which need not be one of the chain's. */
export interface ReplayedBlock {
  readonly header: Header;
  readonly hash: Hash;
  readonly transactions: readonly SentTransaction[];
}

/** What is traced of a block: one transaction or all. */
export interface Replayed {
  readonly index?: number;
  readonly style: TraceStyle;
}

/** The state that a block starts from is not stored. */
export class StateUnavailable extends Error {
  override name = "StateUnavailable";
}

/**
 * Executes a block again, on the state of its parent, and traces one of its transactions or all. Those before it run at
 * full speed, those behind it not at all. Throws StateUnavailable, and BlockDoesNotFit for a block that cannot have
 * been executed there.
 */
export async function replayBlock(
  source: ReplaySource,
  block: ReplayedBlock,
  { index, style }: Replayed,
): Promise<void> {
  const { header, transactions } = block;
  const state = source.stateAt(header.number - 1n);
  if (state === undefined)
    throw new StateUnavailable(`the state of block ${header.number - 1n} is not stored`);
  const rules = blockRules(source.spec, header, (number) => source.hashOf(number));
  const yieldPolicy = memoryBounded();
  const overlay = createOverlay(state, yieldPolicy.memory);
  const session = openSession({ ...rules, overlay, yieldPolicy });
  const begun = await beginBlock(rules, session);
  if (!begun.ok) throw new BlockDoesNotFit(begun.error.message);
  for (const [at, transaction] of transactions.entries()) {
    if (index !== undefined && at > index) return;
    if (index === undefined || at === index)
      await traceOne(rules, overlay, { block, at, style, yieldPolicy });
    else await executeOne(session, transaction);
  }
}

/** A transaction of it was refused. */
export class BlockDoesNotFit extends Error {
  override name = "BlockDoesNotFit";
}

interface Place {
  readonly block: ReplayedBlock;
  readonly at: number;
  readonly style: TraceStyle;
  readonly yieldPolicy: YieldPolicy;
}

async function traceOne(
  rules: BlockRules,
  overlay: Overlay,
  { block, at, style, yieldPolicy }: Place,
): Promise<void> {
  const transaction = block.transactions[at];
  if (transaction === undefined)
    throw new AssertionFailed(`block ${block.header.number} has no transaction ${at}`);
  const state = new WatchedOverlay(overlay);
  const trace = style({
    gasLimit: transaction.gasLimit,
    place: {
      blockHash: block.hash,
      blockNumber: block.header.number,
      transactionHash: transaction.hash,
      index: at,
    },
    beneficiary: rules.block.beneficiary,
    authorizationList: transaction.authorizationList,
    state,
  });
  const session = openSession({ ...rules, overlay: state, yieldPolicy, observer: trace.observer });
  trace.finish(await executeOne(session, transaction));
}

async function executeOne(session: BlockSession, transaction: SentTransaction) {
  session.overlay.beginTransaction();
  const executed = await executeTransaction(session, transaction);
  if (!executed.ok) throw new BlockDoesNotFit(executed.error.message);
  return executed.value;
}
