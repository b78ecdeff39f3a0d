import { createHash } from "node:crypto";
import { type ForkName, forkAt, isAtLeast } from "../../../src/chainspec/forks.ts";
import { type BlockRules, blockRules } from "../../../src/execution/blockRules.ts";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import { blobGasOf } from "../../../src/execution/checkTransaction.ts";
import { credit } from "../../../src/execution/emptyAccounts.ts";
import {
  type BlockExecutionErrorCode,
  type BlockResult,
  executeBlock,
} from "../../../src/execution/executeBlock.ts";
import { callSystemContract, type DrainedRequests } from "../../../src/execution/systemCalls.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import type { Hash } from "../../../src/primitives/hash.ts";
import { concatBytes, equalBytes } from "../../../src/primitives/hex.ts";
import { bytesToBigint } from "../../../src/primitives/quantity.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import type { StagedState, WorldState } from "../../../src/state/worldState.ts";
import type { Block } from "../../../src/types/block.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import { encodeReceipt } from "../../../src/types/receipt.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { blobBaseFeeOf } from "./blobGas.ts";
import { buildFrom } from "./builder.ts";
import { drainDaoAccounts } from "./daoFork.ts";
import { type ForeignRules, isProofOfStake } from "./foreignRules.ts";
import { payWithdrawals, type Withdrawal } from "./withdrawals.ts";

/** The result of a block executed by our executor, with the payments and changes of the block's consensus. */
export interface ForeignResult extends BlockResult {
  readonly staged: StagedState;
}

export type ForeignExecutionErrorCode = BlockExecutionErrorCode | "wrongBlobGasUsed" | "wrongRequestsHash";

export interface ForeignJob {
  readonly rules: ForeignRules;
  readonly world: WorldState;
  readonly block: Block<SentTransaction>;
  readonly withdrawals: readonly Withdrawal[];
  readonly parentTotalDifficulty: bigint;
  ancestorHash(number: bigint): Hash | undefined;
}

/**
 * Executes a block on the head of the world state, which is the parent's. Our builder must build the same block from the
 * same transactions: throws when it differs.
 */
export async function executeForeignBlock(
  job: ForeignJob,
): Promise<Result<ForeignResult, ForeignExecutionErrorCode>> {
  const { rules, world, block } = job;
  const { header } = block;
  const context = foreignBlockRules(job);
  const overlay = await prepare(job, context);
  if (!overlay.ok) return overlay;
  const stage = (): StagedState => world.stage(overlay.value.changes(), header.number);
  const executed = await executeBlock(context, block.transactions, overlay.value, {
    yieldPolicy: NEVER_YIELD,
    ...(!context.rules.hasStatusReceipts && { intermediateRoot: () => stage().root }),
  });
  if (!executed.ok) return executed;
  await checkBuilder(job, context, { ...executed.value, staged: stage() });
  const fork = forkAt(rules.spec.forks, header.number, header.timestamp);
  for (const ommer of block.ommers)
    credit(overlay.value, ommer.coinbase, ((8n - header.number + ommer.number) * baseReward(fork)) / 8n);
  payWithdrawals(overlay.value, job.withdrawals);
  return checkLaterSums(block, executed.value) ?? ok({ ...executed.value, staged: stage() });
}

/** Applies the changes before the transactions that IBFT blocks do not have. */
async function prepare(
  { rules, world, block: { header } }: ForeignJob,
  context: BlockRules,
): Promise<Result<Overlay, "systemCallFailed">> {
  const overlay = world.overlay();
  if (header.number === rules.daoForkBlock) drainDaoAccounts(overlay);
  const stored = await storeBeaconRoot(context, overlay, header.parentBeaconBlockRoot);
  return stored.ok ? ok(overlay) : stored;
}

async function checkBuilder(job: ForeignJob, context: BlockRules, executed: ForeignResult): Promise<void> {
  const { world, block } = job;
  const prepared = await prepare(job, context);
  if (!prepared.ok) throw new Error(prepared.error.message);
  const overlay = prepared.value;
  const root = (): Hash => world.stage(overlay.changes(), block.header.number).root;
  const roots = context.rules.hasStatusReceipts ? undefined : root;
  const built = await buildFrom(context, block.transactions, overlay, roots);
  const isSame =
    equalBytes(root(), executed.staged.root) && equalBytes(receiptsRoot(built), receiptsRoot(executed));
  if (!isSame) throw new Error(`block ${block.header.number} is built differently than it is executed`);
}

function receiptsRoot({ receipts }: BlockResult): Hash {
  return rootOfList(receipts.map(encodeReceipt));
}

/** The inputs of a block's rules; its roots and sums do not matter. */
export type BlockRulesSource = Pick<ForeignJob, "rules" | "parentTotalDifficulty" | "ancestorHash"> & {
  readonly block: Pick<Block, "header" | "ommers">;
};

/** The rules of an IBFT block, changed for another consensus. */
export function foreignBlockRules({
  rules,
  block,
  parentTotalDifficulty,
  ancestorHash,
}: BlockRulesSource): BlockRules {
  const { header, ommers } = block;
  const context = blockRules(rules.spec, header, ancestorHash);
  const isStaked = isProofOfStake(rules, header, parentTotalDifficulty);
  const { fork } = context.rules;
  return {
    ...context,
    rewardWei:
      isStaked || rules.isClique ? 0n : baseReward(fork) + (BigInt(ommers.length) * baseReward(fork)) / 32n,
    block: {
      ...context.block,
      difficulty: isStaked ? bytesToBigint(header.mixHash) : header.difficulty,
      blobBaseFee: header.excessBlobGas === undefined ? 0n : blobBaseFeeOf(fork, header.excessBlobGas),
    },
  };
}

/** Wei; 5 ether, from Byzantium 3 (EIP-649), from Constantinople 2 (EIP-1234). */
function baseReward(fork: ForkName): bigint {
  const ether = isAtLeast(fork, "constantinople") ? 2n : isAtLeast(fork, "byzantium") ? 3n : 5n;
  return ether * 10n ** 18n;
}

const BEACON_ROOTS = addressFromHex("0x000f3df6d732807ef1319fb7b8bb8522d0beac02");

/** Stores the root of the parent's beacon block in its contract, before all other changes (EIP-4788). */
async function storeBeaconRoot(
  context: BlockRules,
  overlay: Overlay,
  root: Hash | undefined,
): Promise<Result<unknown, "systemCallFailed">> {
  if (root === undefined) return ok(undefined);
  return callSystemContract(
    new BlockSession({ ...context, overlay, yieldPolicy: NEVER_YIELD }),
    BEACON_ROOTS,
    root,
  );
}

function checkLaterSums(
  { header, transactions }: Block<SentTransaction>,
  { requests }: BlockResult,
): Result<never, ForeignExecutionErrorCode> | undefined {
  const blobGas = transactions.reduce((sum, transaction) => sum + blobGasOf(transaction), 0n);
  if (header.blobGasUsed !== undefined && header.blobGasUsed !== blobGas)
    return refuse("wrongBlobGasUsed", `blob gas ${blobGas}, the header says ${header.blobGasUsed}`);
  if (header.requestsHash === undefined) return undefined;
  return requests !== undefined && equalBytes(header.requestsHash, requestsHash(requests))
    ? undefined
    : refuse("wrongRequestsHash", "the requests are not those of the header");
}

/** EIP-7685, for chains without a deposit contract: hashes of the non-empty kinds, each with its type. */
function requestsHash({ withdrawals, consolidations }: DrainedRequests): Uint8Array {
  const kinds: readonly (readonly [number, Uint8Array])[] = [
    [1, withdrawals],
    [2, consolidations],
  ];
  const hashes = kinds
    .filter(([, requests]) => requests.length > 0)
    .map(([type, requests]) => sha256(concatBytes(Uint8Array.of(type), requests)));
  return sha256(concatBytes(...hashes));
}

function sha256(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(createHash("sha256").update(bytes).digest());
}

function refuse(code: ForeignExecutionErrorCode, message: string): Result<never, ForeignExecutionErrorCode> {
  return err({ code, fault: "peer", message });
}
