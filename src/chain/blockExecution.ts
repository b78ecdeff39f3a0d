import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { parametersAt } from "../chainspec/ibftParameters.ts";
import { nextBaseFee } from "../execution/baseFee.ts";
import { type BlockRules, blockRules } from "../execution/blockRules.ts";
import { buildBlock, type TransactionSource } from "../execution/buildBlock.ts";
import { type BlockResult, executeBlock } from "../execution/executeBlock.ts";
import { nextGasLimit } from "../execution/gasLimit.ts";
import { createYieldPolicy, inSteps, type StopSignal, type YieldPolicy } from "../execution/yieldPolicy.ts";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import type { Overlay } from "../state/overlay.ts";
import type { StagedState } from "../state/worldState.ts";
import type { Block, NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { measureFinishing } from "./calibration.ts";
import type { ChainStores } from "./chainWriter.ts";
import { IBFT_MIX_HASH } from "./headerRules.ts";
import { createSlowTransactions } from "./slowTransactions.ts";
import { type BlockTiming, createBlockTimeBudget } from "./timeBudget.ts";

/** Source of the transactions of our blocks: the pool. */
export interface TransactionSupply {
  /** Transactions for a block with this base fee, best first. */
  select(baseFeePerGas: bigint | undefined): TransactionSource;
  /** Removes a transaction that can never be included in a block. */
  drop(hash: Hash, reason: string): void;
}

/** Operator's settings for the blocks that we build. */
export interface BlockProduction {
  /** Share of the block period that filling a block may take, in percent (--poa-block-txs-selection-max-time). */
  readonly selectionTimePercent: number;
  readonly minOccupancyRatio: number;
  /** Maximum bytes of transactions in one of our blocks (--max-block-bytes). */
  readonly maxBlockBytes: number;
  readonly targetGasLimit: bigint | undefined;
  readonly keepsRevertReasons: boolean;
}

/** The header fields that are fixed before a block holds any transaction. */
export interface UnsealedBlock {
  readonly parentHash: Hash;
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  readonly baseFeePerGas?: bigint;
}

/** An executed list of transactions, with the resulting state still in memory. */
export interface BlockFilling extends BlockResult {
  readonly transactions: readonly SentTransaction[];
  readonly overlay: Overlay;
}

/** A block that we are building, with its transactions executed. */
export interface FilledBlock extends BlockFilling {
  /** Transactions that can never be included, provided that the head has not moved since. */
  readonly dropped: readonly { readonly hash: Hash; readonly reason: string }[];
}

/**
 * Executes blocks on top of the head, ours and those of other validators. If the head moves during an execution, parts of
 * it read different states, so the caller has to discard the result, errors included.
 */
export interface BlockExecution {
  /** True while transactions are executed. */
  readonly isExecuting: boolean;
  /** The fixed header fields of the block after `parent`. */
  unsealed(parent: NamedHeader, timestamp: bigint): UnsealedBlock;
  /** Fills a block until gas, bytes or time run out. */
  fill(
    unsealed: UnsealedBlock & { readonly coinbase: Address },
    supply: TransactionSupply,
    /** Size of the block's validator set. */
    validatorCount: number,
  ): Promise<FilledBlock>;
  /** Executes a block given by header and body. Throws OutOfTime once the signal is aborted. */
  replay(
    header: Header,
    transactions: readonly SentTransaction[],
    signal: StopSignal,
  ): Promise<Result<BlockFilling, "invalidTransaction">>;
  /**
   * Derives the state root. Each step reads the head's state, so the head must still be the one that was executed on, and
   * the yield policy must stop when the head moves.
   */
  stage(filling: BlockFilling, number: bigint, yieldPolicy: YieldPolicy): Promise<StagedState>;
  /** Learnt time to finish a block, undefined until learnt. Persisted between runs. */
  readonly timing: BlockTiming | undefined;
  /** Restores what an earlier run learnt. */
  restoreTiming(timing: BlockTiming): void;
  /** Measures the finishing time unless it is known, and gets the code path of a full block compiled. */
  calibrate(
    head: () => NamedHeader,
    order: { readonly validatorCount: number; readonly signal: StopSignal },
  ): Promise<void>;
  /** Called when the validation of another validator's candidate begins. */
  onValidationStarted(number: bigint): void;
  /** Called for each block that became the head. */
  onCommitted(block: Block): void;
}

export interface BlockExecutionParts {
  readonly spec: ChainSpec;
  readonly stores: ChainStores;
  readonly clock: Clock;
  readonly production: BlockProduction;
  /** CPU time used by this process, milliseconds. Absent where only the clock is available. */
  readonly cpuMs?: (() => number) | undefined;
  readonly logger: Logger;
}

/**
 * Share of a transfer's finishing time that the calibration can measure. The rest is the database write, announcing the
 * block and, with other validators, their own work on it and the messages in between.
 */
const MEASURED_SHARE_ALONE = 0.5;
const MEASURED_SHARE_OF_MANY = 0.2;

export function createBlockExecution({
  spec,
  stores,
  clock,
  production,
  cpuMs,
  logger,
}: BlockExecutionParts): BlockExecution {
  const { blocks, world } = stores;
  const { keepsRevertReasons, minOccupancyRatio, maxBlockBytes } = production;
  const timeBudget = createBlockTimeBudget({ nowMs: () => clock.nowMs(), cpuMs });
  const slow = createSlowTransactions({ nowMs: () => clock.nowMs(), cpuMs, logger });
  /** The candidate that is being decided, and since when. */
  let candidate:
    | {
        readonly number: bigint;
        readonly sinceMs: number;
        readonly isOurs: boolean;
        /** Estimated execution time on other validators; for their candidates, the time it took here. */
        executionMs: number;
      }
    | undefined;
  let running = 0;
  const ancestorHash = (number: bigint): Hash | undefined => blocks.header(number)?.hash;

  function rulesFor(unsealed: UnsealedBlock & { readonly coinbase: Address }): BlockRules {
    return blockRules(spec, { ...unsealed, difficulty: 1n, mixHash: IBFT_MIX_HASH }, ancestorHash);
  }

  function unsealedOn(parent: NamedHeader, timestamp: bigint): UnsealedBlock {
    const baseFeePerGas = nextBaseFee(spec, parent.header, timestamp);
    return {
      parentHash: parent.hash,
      number: parent.header.number + 1n,
      timestamp,
      gasLimit: nextGasLimit(spec, parent.header, timestamp, production.targetGasLimit),
      ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    };
  }

  async function execute<T>(work: () => Promise<T>): Promise<T> {
    running++;
    try {
      return await work();
    } finally {
      running--;
    }
  }

  return {
    get isExecuting() {
      return running > 0;
    },
    unsealed: unsealedOn,
    async fill(unsealed, supply, validatorCount) {
      const startMs = clock.nowMs();
      const periodMs = parametersAt(spec.ibft, unsealed.number).blockPeriodSeconds * 1000;
      const selectionShare = production.selectionTimePercent / 100;
      const source = timeBudget.limit(supply.select(unsealed.baseFeePerGas), {
        startMs,
        // A selection time above 100 % of the period is the operator's choice of late blocks.
        periodMs: periodMs * Math.max(1, selectionShare),
        hasOtherValidators: validatorCount > 1,
      });
      const windowMs = periodMs * selectionShare;
      const timeLimits = slow.limitsFor({
        number: unsealed.number,
        windowMs,
        isLoneValidator: validatorCount === 1,
      });
      const deadlineMs = startMs + windowMs;
      const limits = { clock, deadlineMs, minOccupancyRatio, maxBytes: maxBlockBytes, timeLimits };
      const built = await execute(() =>
        buildBlock(rulesFor(unsealed), source, world.overlay(), { ...limits, keepsRevertReasons }),
      );
      const executionMs = validatorCount > 1 ? source.executionMs : 0;
      candidate = { number: unsealed.number, sinceMs: clock.nowMs(), isOurs: true, executionMs };
      return built;
    },
    async replay(header, transactions, signal) {
      const overlay = world.overlay();
      const rules = blockRules(spec, header, ancestorHash);
      const startedMs = clock.nowMs();
      const executed = await execute(() =>
        executeBlock(rules, transactions, overlay, {
          yieldPolicy: createYieldPolicy(clock, { signal }),
          keepsRevertReasons,
        }),
      );
      if (candidate?.number === header.number && !candidate.isOurs)
        candidate.executionMs = clock.nowMs() - startedMs;
      if (executed.ok) return ok({ ...executed.value, transactions, overlay });
      const { message, facts = {} } = executed.error;
      return err({ code: "invalidTransaction", fault: "peer", message, facts });
    },
    get timing() {
      return timeBudget.timing;
    },
    restoreTiming: timeBudget.restore,
    async calibrate(head, { validatorCount, signal }) {
      const eachMs = await measureFinishing({
        clock,
        cpuMs,
        signal,
        overlay: () => world.overlay(),
        stage: (overlay, number) => world.stage(overlay.changes(), number),
        base() {
          const parent = head();
          const unsealed = unsealedOn(parent, parent.header.timestamp + 1n);
          return { head: parent, rules: rulesFor({ ...unsealed, coinbase: parent.header.coinbase }) };
        },
      });
      const share = validatorCount > 1 ? MEASURED_SHARE_OF_MANY : MEASURED_SHARE_ALONE;
      if (eachMs !== undefined) timeBudget.setMeasured(eachMs / share);
    },
    stage: ({ overlay }, number, yieldPolicy) =>
      inSteps(world.stageInSteps(overlay.changes(), number), yieldPolicy),
    onValidationStarted(number) {
      candidate = { number, sinceMs: clock.nowMs(), isOurs: false, executionMs: 0 };
    },
    onCommitted({ header, transactions }) {
      timeBudget.onCommitted();
      slow.onMined(transactions);
      if (candidate?.number === header.number) {
        const tookMs = clock.nowMs() - candidate.sinceMs;
        // Negative when the clock was set back; the time budget ignores it.
        const finishMs = tookMs < 0 ? tookMs : Math.max(0, tookMs - candidate.executionMs);
        if (candidate.isOurs) timeBudget.learn(transactions.length, finishMs);
        else timeBudget.learnFromOthers(transactions.length, finishMs);
      }
      candidate = undefined;
    },
  };
}
