import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { parametersAt } from "../chainspec/ibftParameters.ts";
import { type BlockRules, blockRules } from "../execution/blockRules.ts";
import {
  type BuildSettings,
  type BuiltBlock,
  buildBlock,
  type TransactionSource,
} from "../execution/buildBlock.ts";
import { type BlockResult, executeBlock } from "../execution/executeBlock.ts";
import { TransactionFault } from "../execution/transactionFault.ts";
import type { AskPermission } from "../execution/transactionPermission.ts";
import { createYieldPolicy, type StopSignal, type YieldPolicy } from "../execution/yieldPolicy.ts";
import type { Logger } from "../observability/logger.ts";
import type { AccountContract } from "../permissioning/contract/accountContract.ts";
import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { inSteps } from "../primitives/steps.ts";
import type { Overlay } from "../state/overlay.ts";
import type { StagedState } from "../state/worldState.ts";
import type { Block, NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { BlockProduction } from "./blockProduction.ts";
import type { ChainStores } from "./chainStores.ts";
import { type ExecutionFaults, isBeyondExecution } from "./executionFaults.ts";
import { IBFT_MIX_HASH } from "./headerRules.ts";
import { type CalibrationParts, measureFinishing } from "./timing/calibration.ts";
import { CandidateTiming } from "./timing/candidateTiming.ts";
import { CoreContention, type ThreadTimes } from "./timing/coreContention.ts";
import { LargeEffects } from "./timing/largeEffects.ts";
import { SlowTransactions } from "./timing/slowTransactions.ts";
import { BlockTimeBudget } from "./timing/timeBudget.ts";
import type { BlockTiming } from "./timing/timingFilter.ts";
import { type UnsealedBlock, unsealedBlock } from "./unsealedBlock.ts";

/** Source of the transactions of our blocks: the pool. */
export interface TransactionSupply {
  /** Transactions for a block with this base fee, best first. */
  select(baseFeePerGas: bigint | undefined): TransactionSource;
  /** Removes a transaction that can never be included in a block. */
  drop(hash: Hash, reason: string): void;
}

/** An executed list of transactions, with the resulting state still in memory. */
export interface BlockFilling extends BlockResult {
  readonly transactions: readonly SentTransaction[];
  readonly overlay: Overlay;
}

/** A block that we are building, with its transactions executed. */
export interface FilledBlock extends BlockFilling {
  /** True when a transaction failed meanwhile, so that the block must be executed once more before it is signed. */
  readonly isAfterFault: boolean;
  /** Transactions that can never be included, provided that the head has not moved since. */
  readonly dropped: readonly { readonly hash: Hash; readonly reason: string }[];
}

/** What filling a block needs to know apart from its fields. */
interface FillOrder {
  /** Size of the block's validator set. */
  readonly validatorCount: number;
  /** Whether the head has moved: an exception of an execution then says nothing about its transaction. */
  readonly hasHeadMoved: () => boolean;
  /** Time that the block may take, milliseconds; the block period unless given. */
  readonly periodMs?: number;
}

interface BlockExecutionParts {
  readonly spec: ChainSpec;
  readonly stores: ChainStores;
  readonly clock: Clock;
  readonly production: BlockProduction;
  /** CPU time used by this process, milliseconds. Absent if only the clock is available. */
  readonly cpuMs?: (() => number) | undefined;
  /** Times of this thread; undefined if the system does not report them. Absent if blocks are only imported. */
  readonly threadTimes?: (() => ThreadTimes | undefined) | undefined;
  readonly faults: ExecutionFaults;
  /** Decides who may send; undefined where none is asked. */
  readonly accountContract?: AccountContract | undefined;
  readonly logger: Logger;
}

/** Most transactions that may fail in one candidate, before it is built without any. */
const MOST_FAULTS = 3;

/**
 * Share of a transfer's finishing time that the calibration can measure. The rest is the database write, announcing the
 * block and, with other validators, their own work on it and the messages in between.
 */
const MEASURED_SHARE_ALONE = 0.5;
const MEASURED_SHARE_OF_MANY = 0.2;

const NO_TRANSACTIONS: TransactionSource = { next: () => undefined, skipSender: () => undefined };

/**
 * Executes blocks on top of the head, ours and those of other validators. If the head moves during an execution, parts of
 * it read different states, so the caller has to discard the result, errors included.
 */
export class BlockExecution {
  private readonly parts: BlockExecutionParts;
  private readonly timeBudget: BlockTimeBudget;
  private readonly slow: SlowTransactions;
  private readonly largeEffects: LargeEffects;
  private readonly candidateTiming: CandidateTiming;
  /** Number of executions in progress. */
  private running = 0;

  constructor(parts: BlockExecutionParts) {
    const { clock, cpuMs, accountContract, logger } = parts;
    const contention = new CoreContention(parts.threadTimes);
    const nowMs = (): number => clock.nowMs();
    this.parts = parts;
    this.timeBudget = new BlockTimeBudget({ nowMs, cpuMs, contention });
    this.slow = new SlowTransactions({
      nowMs,
      cpuMs,
      isContractAsked: accountContract !== undefined,
      logger,
    });
    this.largeEffects = new LargeEffects({ nowMs, logger });
    this.candidateTiming = new CandidateTiming(nowMs, this.timeBudget, contention);
  }

  /** True while transactions are executed. */
  get isExecuting(): boolean {
    return this.running > 0;
  }

  /** The fixed header fields of the block after `parent`. */
  unsealed(parent: NamedHeader, timestamp: bigint): UnsealedBlock {
    const { spec, production } = this.parts;
    return unsealedBlock(spec, parent, { timestamp, targetGasLimit: production.targetGasLimit });
  }

  /** Fills a block until gas, bytes or time run out. */
  async fill(
    unsealed: UnsealedBlock & { readonly coinbase: Address },
    supply: TransactionSupply,
    { validatorCount, hasHeadMoved, ...order }: FillOrder,
  ): Promise<FilledBlock> {
    const { spec, clock, production, faults } = this.parts;
    const startMs = clock.nowMs();
    const periodMs = order.periodMs ?? parametersAt(spec.ibft, unsealed.number).blockPeriodSeconds * 1000;
    const selectionShare = production.selectionTimePercent / 100;
    const windowMs = periodMs * selectionShare;
    const { number } = unsealed;
    for (let failed = 0; failed < MOST_FAULTS; failed++) {
      const source = this.timeBudget.limit(supply.select(unsealed.baseFeePerGas), {
        startMs,
        // A selection time above 100 % of the period is the operator's choice of late blocks.
        periodMs: periodMs * Math.max(1, selectionShare),
        hasOtherValidators: validatorCount > 1,
      });
      const block = { number, windowMs, isLoneValidator: validatorCount === 1 };
      const slow = this.slow.limitsFor(block);
      const timeLimits = faults.limiting(this.largeEffects.limiting(slow, block), number);
      const limits = { deadlineMs: startMs + windowMs, timeLimits };
      try {
        const built = await this.build(unsealed, source, limits);
        const executionMs = validatorCount > 1 ? source.executionMs : 0;
        this.candidateTiming.onFilled(number, { executionMs, load: built.load });
        return { ...built, isAfterFault: failed > 0 };
      } catch (error) {
        if (!(error instanceof TransactionFault)) throw error;
        if (isBeyondExecution(error.cause) || hasHeadMoved()) throw error.cause;
        faults.transactionFailed(error.transaction, number, error.cause);
      }
    }
    return this.fillNothing(unsealed);
  }

  /** A block without transactions. */
  async fillNothing(unsealed: UnsealedBlock & { readonly coinbase: Address }): Promise<FilledBlock> {
    const deadlineMs = this.parts.clock.nowMs();
    return { ...(await this.build(unsealed, NO_TRANSACTIONS, { deadlineMs })), isAfterFault: true };
  }

  /** Executes a block given by header and body. Throws OutOfTime once the signal is aborted. */
  async replay(
    header: Header,
    transactions: readonly SentTransaction[],
    signal: StopSignal,
  ): Promise<Result<BlockFilling, "invalidTransaction">> {
    const { spec, stores, clock, production } = this.parts;
    const { keepsRevertReasons } = production;
    const overlay = stores.world.overlay();
    const rules = blockRules(spec, header, this.ancestorHash);
    const startedMs = clock.nowMs();
    const yieldPolicy = createYieldPolicy(clock, { signal });
    const executed = await this.execute(() =>
      executeBlock(rules, transactions, overlay, {
        yieldPolicy,
        keepsRevertReasons,
        askPermission: this.permissionsIn(header.number),
      }),
    );
    const executionMs = clock.nowMs() - startedMs;
    if (executed.ok) {
      this.candidateTiming.onExecuted(header.number, { executionMs, load: executed.value.load });
      return ok({ ...executed.value, transactions, overlay });
    }
    this.candidateTiming.onExecuted(header.number, { executionMs });
    const { message, facts = {} } = executed.error;
    return err({ code: "invalidTransaction", fault: "peer", message, facts });
  }

  /**
   * Derives the state root. Each step reads the head's state, so the head must still be the one that was executed on, and
   * the yield policy must stop when the head moves.
   */
  stage({ overlay }: BlockFilling, number: bigint, yieldPolicy: YieldPolicy): Promise<StagedState> {
    return inSteps(this.parts.stores.world.stageInSteps(overlay, number), yieldPolicy);
  }

  /** Learnt time to finish a block; undefined until learnt. Persisted between runs. */
  get timing(): BlockTiming | undefined {
    return this.timeBudget.timing;
  }

  /** Restores what an earlier run learnt. */
  restoreTiming(timing: BlockTiming): void {
    this.timeBudget.restore(timing);
  }

  /** Measures the finishing time unless it is known, and gets the code path of a full block compiled. */
  async calibrate(
    head: () => NamedHeader,
    {
      validatorCount,
      ...conditions
    }: { readonly validatorCount: number } & Pick<CalibrationParts, "signal" | "undisturbed">,
  ): Promise<void> {
    const { clock, cpuMs, stores } = this.parts;
    const { world } = stores;
    const eachMs = await measureFinishing({
      clock,
      cpuMs,
      ...conditions,
      overlay: () => world.overlay(),
      stage: (overlay, number) => world.stage(overlay.changes(), number),
      rules: () => {
        const parent = head();
        const unsealed = this.unsealed(parent, parent.header.timestamp + 1n);
        return this.rulesFor({ ...unsealed, coinbase: parent.header.coinbase });
      },
    });
    const share = validatorCount > 1 ? MEASURED_SHARE_OF_MANY : MEASURED_SHARE_ALONE;
    if (eachMs !== undefined) this.timeBudget.setMeasured(eachMs / share);
  }

  /** Called when the validation of another validator's candidate begins. */
  onValidationStarted(number: bigint): void {
    this.candidateTiming.onValidationStarted(number);
  }

  /** Called for each block that became the head. */
  onCommitted(block: Block): void {
    this.timeBudget.onCommitted();
    this.slow.onMined(block.transactions);
    this.largeEffects.onMined(block.transactions);
    this.candidateTiming.onCommitted(block);
  }

  /** Builds a block on a new overlay, with new machines if any execution failed before. */
  private build(
    unsealed: UnsealedBlock & { readonly coinbase: Address },
    source: TransactionSource,
    limits: Pick<BuildSettings, "deadlineMs" | "timeLimits">,
  ): Promise<BuiltBlock> {
    const { stores, clock, production } = this.parts;
    const settings = {
      clock,
      minOccupancyRatio: production.minOccupancyRatio,
      maxBytes: production.maxBlockBytes,
      keepsRevertReasons: production.keepsRevertReasons,
      askPermission: this.permissionsIn(unsealed.number),
      ...limits,
    };
    return this.execute(() => buildBlock(this.rulesFor(unsealed), source, stores.world.overlay(), settings));
  }

  private rulesFor(unsealed: UnsealedBlock & { readonly coinbase: Address }): BlockRules {
    const facts = { ...unsealed, difficulty: 1n, mixHash: IBFT_MIX_HASH };
    return blockRules(this.parts.spec, facts, this.ancestorHash);
  }

  /** Asks the account contract on the state of the head, the parent of block `number`. */
  private permissionsIn(number: bigint): AskPermission | undefined {
    const { accountContract, stores } = this.parts;
    if (accountContract === undefined) return undefined;
    const parent = expectDefined(stores.blocks.header(number - 1n), "the parent of the block");
    return accountContract.askingAfter({
      ...parent,
      state: stores.world.head,
      ancestorHash: this.ancestorHash,
    });
  }

  private readonly ancestorHash = (number: bigint): Hash | undefined =>
    this.parts.stores.blocks.header(number)?.hash;

  private async execute<T>(work: () => Promise<T>): Promise<T> {
    this.running++;
    try {
      return await work();
    } finally {
      this.running--;
    }
  }
}
