import { type BodyErrorCode, checkExecution } from "../../../src/chain/bodyRules.ts";
import type { ChainStores } from "../../../src/chain/chainStores.ts";
import { createChainWriter } from "../../../src/chain/chainWriter.ts";
import { openGenesis } from "../../../src/chain/genesisBlock.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { type Hash, keccak256 } from "../../../src/primitives/hash.ts";
import { equalBytes, toDigits, toHex } from "../../../src/primitives/hex.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import { WorldState } from "../../../src/state/worldState.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { verifyChain } from "../../../src/storage/chainDatabase.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { type Block, encodeBlock, type NamedBlock } from "../../../src/types/block.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import type { SentTransaction, Transaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { createMemoryMarkerFile } from "../../builders/memoryMarkerFile.ts";
import {
  executeForeignBlock,
  type ForeignExecutionErrorCode,
  type ForeignResult,
} from "./foreignExecution.ts";
import { checkForeignHeader, type ForeignHeaderErrorCode } from "./foreignHeader.ts";
import { type ForeignRules, isProofOfStake } from "./foreignRules.ts";
import { checkIbftPart } from "./ibftPart.ts";
import { checkOmmers, type OmmerErrorCode } from "./ommers.ts";
import type { TreeBlock } from "./tree.ts";
import { readWithdrawals, type WithdrawalErrorCode } from "./withdrawals.ts";

/*
 * A chain under another consensus, for tests: its header rules, rewards and choice of head are here, everything else is
 * the node's (codec, body rules, execution, state, receipts, stores, canonical chain writer).
 *
 *     block ──> header, body, ommers ──> the stores go to its parent ──> execute ──> compare ──> commit
 *
 * The stores hold one branch, the one used last; switching to another branch takes a rewind and an execution of its
 * blocks. The head of the chain is chosen separately, by total difficulty.
 */

/** Why a foreign block is refused. */
export type ForeignErrorCode =
  | ForeignHeaderErrorCode
  | BodyErrorCode
  | OmmerErrorCode
  | WithdrawalErrorCode
  | ForeignExecutionErrorCode
  | "unknownParent"
  | "unknownSender";

export interface ForeignChain {
  readonly genesis: TreeBlock;
  /** The block with the highest total difficulty; the newest one after proof of work has ended. */
  readonly head: TreeBlock;
  readonly world: WorldState;
  readonly database: Database;
  readonly rules: ForeignRules;
  /** Hash of a block in the branch that the stores hold. */
  hashOf(number: bigint): Hash | undefined;
  import(block: Block): Promise<Result<TreeBlock, ForeignErrorCode>>;
  /** Moves the stores to a block of any branch: back by a rewind, forward by execution. */
  goTo(block: TreeBlock): Promise<void>;
}

/** A chain over empty stores in memory. */
export async function openForeignChain(rules: ForeignRules): Promise<ForeignChain> {
  const stores = await emptyStores();
  const opened = await openGenesis(rules.spec, stores);
  if (!opened.ok) throw new Error(opened.error.message);
  const { header, hash, totalDifficulty } = opened.value;
  const genesis: TreeBlock = {
    header,
    hash,
    totalDifficulty,
    block: { header, hash, transactions: [], ommers: [] },
    withdrawals: [],
    parent: undefined,
  };
  const tree = new Map([[toDigits(hash), genesis]]);
  const chainWriter = createChainWriter(stores, genesis, {
    alsoWrite: () => undefined,
    logger: silentLogger,
  });
  const hashOf = (number: bigint): Hash | undefined => stores.blocks.header(number)?.hash;
  let head = genesis;

  /** Executes a child of the block that the stores are at, and commits it. */
  async function commit(child: TreeBlock): Promise<Result<void, ForeignErrorCode>> {
    const executed = await execute(child);
    if (!executed.ok) return executed;
    const { staged, receipts } = executed.value;
    const { block, totalDifficulty } = child;
    // Checked after execution, because tests have bad transactions under headers with other roots.
    const body = await checkIbftPart(block);
    if (!body.ok) return body;
    const checked = await checkExecution(
      block.header,
      { ...executed.value, stateRoot: staged.root },
      NEVER_YIELD,
    );
    if (!checked.ok) return checked;
    await chainWriter.commit(
      { ...block, receipts, totalDifficulty, size: encodeBlock(block).length },
      staged,
      NEVER_YIELD,
    );
    return ok(undefined);
  }

  function execute({
    block,
    withdrawals,
    parent,
  }: TreeBlock): Promise<Result<ForeignResult, ForeignExecutionErrorCode>> {
    return executeForeignBlock({
      rules,
      world: stores.world,
      block,
      withdrawals,
      parentTotalDifficulty: parent?.totalDifficulty ?? 0n,
      ancestorHash: hashOf,
    });
  }

  /** Moves the stores to a block of the tree. */
  async function goTo(target: TreeBlock): Promise<void> {
    const ahead: TreeBlock[] = [];
    let ancestor = target;
    while (!isStored(ancestor)) {
      ahead.unshift(ancestor);
      ancestor = expectDefined(ancestor.parent, "a stored ancestor");
    }
    await chainWriter.rewind(ancestor.header.number);
    for (const next of ahead) {
      const again = await commit(next);
      if (!again.ok) throw new Error(`block ${toHex(next.hash)} passed before: ${again.error.message}`);
    }
  }

  function isStored({ header, hash }: TreeBlock): boolean {
    const stored = stores.blocks.header(header.number);
    return stored !== undefined && equalBytes(stored.hash, hash);
  }

  return {
    genesis,
    get head() {
      return head;
    },
    world: stores.world,
    database: stores.database,
    rules,
    hashOf,
    async import(block) {
      const hash: Hash = keccak256(encodeHeader(block.header));
      const known = tree.get(toDigits(hash));
      if (known !== undefined) return ok(known);
      const parent = tree.get(toDigits(block.header.parentHash));
      if (parent === undefined)
        return err({ code: "unknownParent", fault: "peer", message: "the parent is not known" });
      const validated = validate(rules, parent, { ...block, hash });
      if (!validated.ok) return validated;
      await goTo(parent);
      const committed = await commit(validated.value);
      if (!committed.ok) return committed;
      tree.set(toDigits(hash), validated.value);
      if (isHeavier(rules, validated.value, head)) head = validated.value;
      return validated;
    },
    goTo,
  };
}

/** Checks all rules that need no state. */
function validate(
  rules: ForeignRules,
  parent: TreeBlock,
  block: NamedBlock,
): Result<TreeBlock, ForeignErrorCode> {
  const { header, hash } = block;
  const headerResult = checkForeignHeader(rules, parent, header);
  if (!headerResult.ok) return headerResult;
  const withdrawals = readWithdrawals(block);
  if (!withdrawals.ok) return withdrawals;
  const ommerResult = checkOmmers(rules, parent, block);
  if (!ommerResult.ok) return ommerResult;
  const transactions = withSenders(block.transactions);
  if (transactions === undefined)
    return err({ code: "unknownSender", fault: "peer", message: "no key can be recovered from a signature" });
  return ok({
    header,
    hash,
    totalDifficulty: parent.totalDifficulty + header.difficulty,
    block: { ...block, transactions },
    withdrawals: withdrawals.value,
    parent,
  });
}

function withSenders(transactions: readonly Transaction[]): readonly SentTransaction[] | undefined {
  const sent = transactions.map(withRecoveredSender);
  return sent.every((transaction) => transaction !== undefined) ? sent : undefined;
}

function isHeavier(rules: ForeignRules, candidate: TreeBlock, head: TreeBlock): boolean {
  if (candidate.totalDifficulty > head.totalDifficulty) return true;
  return isProofOfStake(rules, candidate.header, candidate.parent?.totalDifficulty ?? 0n);
}

async function emptyStores(): Promise<ChainStores> {
  const database = createMemoryDatabase();
  const { headMarker } = await verifyChain(database, createMemoryMarkerFile());
  const world = new WorldState({ database });
  return { database, blocks: new BlockStore(BLOCK_STORE_LIMITS, { database }), world, headMarker };
}
