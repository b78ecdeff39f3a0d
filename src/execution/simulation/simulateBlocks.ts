import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { EMPTY_LIST_HASH, type Hash, keccak256, ZERO_HASH } from "../../primitives/hash.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import { smaller } from "../../primitives/quantity.ts";
import { BranchTooLarge, type StateBranch } from "../../state/branch.ts";
import type { NamedBlock } from "../../types/block.ts";
import { encodeHeader, type Header } from "../../types/header.ts";
import { rootOfList } from "../../types/listRoot.ts";
import type { Log } from "../../types/log.ts";
import { encodeReceipt, type Receipt } from "../../types/receipt.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import { nextBaseFee } from "../baseFee.ts";
import { BlockReceipts } from "../blockReceipts.ts";
import { BlockSession } from "../blockSession.ts";
import { beginBlock, endBlock } from "../executeBlock.ts";
import { MemoryExhausted } from "../memoryBudget.ts";
import type { TransactionResult } from "../transactionResult.ts";
import { TransferObserver } from "../transferLogs.ts";
import {
  type BlockStateCall,
  type BlockStateCalls,
  type PlannedBlock,
  planBlocks,
} from "./blockStateCalls.ts";
import type { CallRequest } from "./callRequest.ts";
import { precompilesOf } from "./overrides.ts";
import { type CallContext, contextRules, simulateOn, type Workspace, workspaceOn } from "./simulate.ts";
import { BlocksError, type BlocksErrorCode } from "./simulatedBlocksError.ts";
import { transactionOfCall } from "./simulatedTransaction.ts";

export interface SimulatedBlock extends NamedBlock<SentTransaction> {
  readonly receipts: readonly Receipt[];
  readonly calls: readonly SimulatedCall[];
}

export interface SimulatedCall {
  readonly outcome: TransactionResult["outcome"];
  readonly output: Uint8Array;
  readonly gasUsed: bigint;
  readonly gasBeforeRefund: bigint;
  /** Includes the logs that represent transfers, if shown; receipts do not have these. */
  readonly logs: readonly Log[];
}

export type BlocksAnswer =
  | { readonly kind: "blocks"; readonly blocks: readonly SimulatedBlock[] }
  | { readonly kind: "blocksRefused"; readonly code: BlocksErrorCode; readonly detail: string };

/** The block that the simulated ones follow, and the branch of states on top of its own. */
interface BlocksContext extends Pick<CallContext, "spec" | "header" | "ancestorHash" | "slice"> {
  readonly branch: StateBranch;
  /** --rpc-gas-cap: gas limit of all calls together; 0 for no limit. */
  readonly gasCap: bigint;
}

/**
 * Simulates blocks on top of the context's, built like real ones, including the reward and system calls, so that the state
 * root is that of a real block with the same content. Their headers have London's fields and empty extra data.
 */
export async function simulateBlocks(
  context: BlocksContext,
  request: BlockStateCalls,
): Promise<BlocksAnswer> {
  try {
    const planned = planBlocks(context.spec, context.header, request.blocks);
    return { kind: "blocks", blocks: await new BlockSimulation(context, request).run(planned) };
  } catch (error) {
    if (error instanceof BlocksError)
      return { kind: "blocksRefused", code: error.code, detail: error.message };
    if (error instanceof BranchTooLarge || error instanceof MemoryExhausted)
      return { kind: "blocksRefused", code: "tooMuchMemory", detail: error.message };
    throw error;
  }
}

/** Limit for the output and logs of all calls. */
const ANSWER_LIMIT_BYTES = 16 * 1024 * 1024;
/** Bytes that a log and each of its topics count as: more than they have, to account for the time to encode many of them. */
const LOG_BYTES = 1000;
const TOPIC_BYTES = 300;

/** A block being built. */
interface BlockInProgress {
  readonly context: CallContext;
  readonly workspace: Workspace;
  readonly receipts: BlockReceipts;
}

class BlockSimulation {
  private readonly context: BlocksContext;
  private readonly request: BlockStateCalls;
  private readonly built: SimulatedBlock[] = [];
  private readonly hashes = new Map<bigint, Hash>();
  private gasLeft: bigint | undefined;
  private bytesLeft = ANSWER_LIMIT_BYTES;

  constructor(context: BlocksContext, request: BlockStateCalls) {
    this.context = context;
    this.request = request;
    this.gasLeft = context.gasCap > 0n ? context.gasCap : undefined;
  }

  async run(planned: readonly PlannedBlock[]): Promise<readonly SimulatedBlock[]> {
    for (const block of planned) await this.buildBlock(block);
    return this.built;
  }

  private async buildBlock(planned: PlannedBlock): Promise<void> {
    const context = this.contextOf(planned);
    const workspace = workspaceOn(context);
    const receipts = new BlockReceipts({});
    const inProgress: BlockInProgress = { context, workspace, receipts };
    await performAround(inProgress, beginBlock);
    const transactions: SentTransaction[] = [];
    const calls: SimulatedCall[] = [];
    for (const plannedCall of planned.calls) {
      const { transaction, call } = await this.perform(inProgress, plannedCall);
      transactions.push(transaction);
      calls.push(call);
    }
    await performAround(inProgress, endBlock);
    const header: Header = {
      ...inProgress.context.header,
      stateRoot: this.context.branch.extend(workspace.overlay.changes()),
      gasUsed: receipts.gasUsed,
      logsBloom: receipts.logsBloom,
      transactionsRoot: rootOfList(transactions.map(({ raw }) => raw)),
      receiptsRoot: rootOfList(receipts.receipts.map(encodeReceipt)),
    };
    const hash = keccak256(encodeHeader(header));
    this.hashes.set(header.number, hash);
    this.built.push({ header, hash, transactions, ommers: [], receipts: receipts.receipts, calls });
  }

  private async perform(
    { context, workspace, receipts }: BlockInProgress,
    { call, nonce }: BlockStateCall,
  ): Promise<{ readonly transaction: SentTransaction; readonly call: SimulatedCall }> {
    const { isStrict, showsTransfers } = this.request;
    const current = workspace.overlay.account(call.from ?? ZERO_ADDRESS)?.nonce ?? 0n;
    if (isStrict && nonce !== undefined && nonce !== current)
      throw new BlocksError(
        nonce < current ? "nonceTooLow" : "nonceTooHigh",
        `nonce ${nonce}, next is ${current}`,
      );
    const gasLimit = this.gasLimitOf(call, context.header.gasLimit - receipts.gasUsed);
    const observer = showsTransfers ? new TransferObserver() : undefined;
    const simulated = await simulateOn(workspace, context, call, {
      gasLimit,
      enforcesBalance: isStrict || namesPrice(call),
      ignoresNonce: !isStrict,
      showsFees: true,
      ...(observer && { observer }),
    });
    if (simulated.kind === "refused") throw new BlocksError(simulated.code, simulated.detail);
    const { result } = simulated;
    const { chainId } = context.spec;
    const { header } = context;
    const transaction = transactionOfCall(call, { nonce: nonce ?? current, gasLimit, chainId, header });
    await receipts.add(transaction.type, result, workspace.yieldPolicy);
    if (this.gasLeft !== undefined) this.gasLeft -= result.gasUsed;
    if (observer === undefined || result.outcome.kind !== "succeeded")
      return { transaction, call: this.counted(result) };
    const ownTransfer = { from: transaction.sender, to: call.to ?? ZERO_ADDRESS, value: call.value ?? 0n };
    return {
      transaction,
      call: this.counted({ ...result, logs: observer.logsWith(result.logs, ownTransfer) }),
    };
  }

  /** Counts what becomes part of the answer, which the main thread encodes as text. */
  private counted<Call extends SimulatedCall>(call: Call): Call {
    this.bytesLeft -= call.output.length;
    for (const { topics, data } of call.logs)
      this.bytesLeft -= LOG_BYTES + topics.length * TOPIC_BYTES + data.length;
    if (this.bytesLeft < 0)
      throw new BlocksError("tooMuchMemory", "its calls return and log more than an answer may hold");
    return call;
  }

  /** The call's own limit or the gas left in the block; at most what is left of the operator's gas cap. */
  private gasLimitOf(call: CallRequest, blockGasLeft: bigint): bigint {
    const requested = call.gasLimit ?? blockGasLeft;
    if (requested > blockGasLeft)
      throw new BlocksError(
        "blockGasLimitReached",
        `gas ${requested}, but the block has ${blockGasLeft} left`,
      );
    return this.gasLeft === undefined ? requested : smaller(requested, this.gasLeft);
  }

  private contextOf(planned: PlannedBlock): CallContext {
    const { spec, branch, ancestorHash, slice } = this.context;
    const { beneficiary, blobBaseFee = this.request.isStrict ? undefined : 0n } = planned.block;
    const header = this.headerInProgress(planned);
    const precompiles = precompilesOf(spec, header, planned.accounts);
    if (!precompiles.ok) throw new BlocksError(precompiles.error.code, precompiles.error.message);
    return {
      spec,
      header,
      state: branch.head,
      accounts: planned.accounts,
      slice,
      // The cap bounds the sum: see gasLimitOf.
      gasCap: 0n,
      ancestorHash: (number) => this.hashes.get(number) ?? ancestorHash(number),
      blockConfig: {
        ...(beneficiary !== undefined && { beneficiary }),
        ...(blobBaseFee !== undefined && { blobBaseFee }),
      },
      ...(precompiles.value && { precompiles: precompiles.value }),
    };
  }

  /** The header fields that do not depend on the block's contents. Fields without override are as in the parent. */
  private headerInProgress({ number, timestamp, block }: PlannedBlock): Header {
    const { spec, header: base, ancestorHash } = this.context;
    const parent = this.built.at(-1)?.header ?? base;
    const nextFee = nextBaseFee(spec, parent, timestamp);
    const baseFeePerGas = block.baseFeePerGas ?? (this.request.isStrict ? nextFee : 0n);
    return {
      parentHash: this.built.at(-1)?.hash ?? ancestorHash(base.number) ?? ZERO_HASH,
      ommersHash: EMPTY_LIST_HASH,
      coinbase: block.beneficiary ?? parent.coinbase,
      stateRoot: ZERO_HASH,
      transactionsRoot: ZERO_HASH,
      receiptsRoot: ZERO_HASH,
      logsBloom: EMPTY_BYTES,
      difficulty: block.difficulty ?? parent.difficulty,
      number,
      gasLimit: block.gasLimit ?? parent.gasLimit,
      gasUsed: 0n,
      timestamp,
      extraData: EMPTY_BYTES,
      mixHash: block.mixHash ?? ZERO_HASH,
      nonce: new Uint8Array(8),
      ...(nextFee !== undefined && baseFeePerGas !== undefined && { baseFeePerGas }),
    };
  }
}

/** Performs the steps before a block's transactions, or after them. */
async function performAround(
  { context, workspace }: BlockInProgress,
  perform: typeof beginBlock | typeof endBlock,
): Promise<void> {
  const rules = contextRules(context);
  const done = await perform(rules, new BlockSession({ ...rules, ...workspace }));
  if (!done.ok) throw new BlocksError("systemCallFailed", done.error.message);
}

/** A call without a price is free unless balances are enforced. */
function namesPrice({ gasPrice = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: CallRequest): boolean {
  return gasPrice > 0n || maxFeePerGas > 0n || maxPriorityFeePerGas > 0n;
}
