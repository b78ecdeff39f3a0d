import { type BodyErrorCode, checkExecution } from "../../../src/chain/bodyRules.ts";
import { type ChainStores, createChainWriter } from "../../../src/chain/chainWriter.ts";
import { openGenesis } from "../../../src/chain/genesisBlock.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { type Hash, keccak256 } from "../../../src/primitives/hash.ts";
import { equalBytes, toDigits, toHex } from "../../../src/primitives/hex.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import { createWorldState, type WorldState } from "../../../src/state/worldState.ts";
import { BLOCK_STORE_LIMITS, createBlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { verifyChain } from "../../../src/storage/chainDatabase.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createMemoryMarkerFile } from "../../../src/storage/markerFile.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { type Block, encodeBlock, type NamedBlock } from "../../../src/types/block.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import {
  type SentTransaction,
  type Transaction,
  withRecoveredSender,
} from "../../../src/types/transaction.ts";
import { type ExecutionDefect, executeForeignBlock, type ForeignResult } from "./foreignExecution.ts";
import { checkForeignHeader, type ForeignHeaderDefect } from "./foreignHeader.ts";
import { type ForeignRules, isProofOfStake } from "./foreignRules.ts";
import { checkIbftPart } from "./ibftPart.ts";
import { checkOmmers, type OmmerDefect } from "./ommers.ts";
import type { TreeBlock } from "./tree.ts";
import { readWithdrawals, type WithdrawalDefect } from "./withdrawals.ts";

/*
 * A chain of another consensus, for tests: its header rules, rewards and choice of head are here, everything else is
 * ours (codec, body rules, execution, state, receipts, stores, the mover of the head).
 *
 *     block ──> header, body, ommers ──> the stores go to its parent ──> execute ──> compare ──> commit
 *
 * The stores hold one line of blocks, the one that was looked at last; another branch is reached by a rewind and by
 * executing its blocks again. Which block is the head of the chain is another question, answered by weight.
 */

/** Why a foreign block is refused. */
export type ForeignDefect =
  | ForeignHeaderDefect
  | BodyErrorCode
  | OmmerDefect
  | WithdrawalDefect
  | ExecutionDefect
  | "unknownParent"
  | "unknownSender";

export interface ForeignChain {
  readonly genesis: TreeBlock;
  /** The heaviest block; where weight has ended with proof of work, the newest. */
  readonly head: TreeBlock;
  readonly world: WorldState;
  readonly database: Database;
  readonly rules: ForeignRules;
  /** Of the line of blocks that the stores hold. */
  hashOf(number: bigint): Hash | undefined;
  import(block: Block): Promise<Result<TreeBlock, ForeignDefect>>;
  /** Brings the stores to a block of the chain, or of one of its branches: back by a rewind, forth by execution. */
  goTo(place: TreeBlock): Promise<void>;
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
  const mover = createChainWriter(stores, genesis, { alsoWrite: () => undefined, logger: silentLogger });
  const hashOf = (number: bigint): Hash | undefined => stores.blocks.header(number)?.hash;
  let head = genesis;

  /** Executes a block whose parent the stores are at, and commits it. */
  async function commit(place: TreeBlock): Promise<Result<void, ForeignDefect>> {
    const executed = await execute(place);
    if (!executed.ok) return executed;
    const { staged, receipts } = executed.value;
    const { block, totalDifficulty } = place;
    // So late, because tests have bad transactions under headers that do not know them.
    const body = await checkIbftPart(block);
    if (!body.ok) return body;
    const verdict = await checkExecution(
      block.header,
      { ...executed.value, stateRoot: staged.root },
      NEVER_YIELD,
    );
    if (!verdict.ok) return verdict;
    await mover.commit(
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
  }: TreeBlock): Promise<Result<ForeignResult, ExecutionDefect>> {
    return executeForeignBlock({
      rules,
      world: stores.world,
      block,
      withdrawals,
      parentTotalDifficulty: parent?.totalDifficulty ?? 0n,
      ancestorHash: hashOf,
    });
  }

  /** Takes the stores to a block of the tree. */
  async function goTo(target: TreeBlock): Promise<void> {
    const ahead: TreeBlock[] = [];
    let place = target;
    while (!isStored(place)) {
      ahead.unshift(place);
      place = expectDefined(place.parent, "an ancestor that is stored");
    }
    await mover.rewind(place.header.number);
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
      const judged = judge(rules, parent, { ...block, hash });
      if (!judged.ok) return judged;
      await goTo(parent);
      const committed = await commit(judged.value);
      if (!committed.ok) return committed;
      tree.set(toDigits(hash), judged.value);
      if (isHeavier(rules, judged.value, head)) head = judged.value;
      return judged;
    },
    goTo,
  };
}

/** All rules that need no state. */
function judge(rules: ForeignRules, parent: TreeBlock, block: NamedBlock): Result<TreeBlock, ForeignDefect> {
  const { header, hash } = block;
  const headerVerdict = checkForeignHeader(rules, parent, header);
  if (!headerVerdict.ok) return headerVerdict;
  const withdrawals = readWithdrawals(block);
  if (!withdrawals.ok) return withdrawals;
  const ommerVerdict = checkOmmers(rules, parent, block);
  if (!ommerVerdict.ok) return ommerVerdict;
  const transactions = withSenders(block.transactions);
  if (transactions === undefined)
    return err({ code: "unknownSender", fault: "peer", message: "a signature fits no key" });
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
  const headMarker = await verifyChain(database, createMemoryMarkerFile());
  const world = createWorldState({ database });
  return { database, blocks: createBlockStore(BLOCK_STORE_LIMITS, { database }), world, headMarker };
}
