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

/** Where the transactions of our blocks come from: the pool. */
export interface TransactionSupply {
  /** Transactions for a block with this base fee, best first. */
  select(baseFeePerGas: bigint | undefined): TransactionSource;
  /** Forgets a transaction that no block will ever take. */
  drop(hash: Hash, reason: string): void;
}

/** What the operator decides about the blocks that we build. */
export interface BlockProduction {
  /** Share of the block period that filling a block may take, in percent (--poa-block-txs-selection-max-time). */
  readonly selectionTimePercent: number;
  readonly minOccupancyRatio: number;
  /** Most bytes of transactions in a block of ours (--max-block-bytes). */
  readonly maxBlockBytes: number;
  readonly targetGasLimit: bigint | undefined;
  readonly keepsRevertReasons: boolean;
}

/** What is known of a block before any transaction is in it. */
export interface UnsealedBlock {
  readonly parentHash: Hash;
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  readonly baseFeePerGas?: bigint;
}

/** An executed list of transactions, with the state it led to still in memory. */
export interface BlockFilling extends BlockResult {
  readonly transactions: readonly SentTransaction[];
  readonly overlay: Overlay;
}

/** A block of ours in the making. */
export interface FilledBlock extends BlockFilling {
  /** Transactions that no block will ever take, if the head is still the one that they were tried on. */
  readonly dropped: readonly { readonly hash: Hash; readonly reason: string }[];
}

/**
 * Execution on top of the head, as the chain uses it for its own blocks and for others'. When the head moves meanwhile,
 * some of it read one state and some the other: what comes of it, refusals included, then says nothing about anything.
 */
export interface BlockExecution {
  /** True while transactions are executed. */
  readonly isUnderWay: boolean;
  /** The fixed points of the block after `parent`. */
  unsealed(parent: NamedHeader, timestamp: bigint): UnsealedBlock;
  /** Fills a block of ours until gas, bytes or time are spent. */
  fill(
    unsealed: UnsealedBlock & { readonly coinbase: Address },
    supply: TransactionSupply,
    /** Of the block. */
    validators: number,
  ): Promise<FilledBlock>;
  /** Executes what a header and its body say. Throws OutOfTime once the signal is aborted. */
  replay(
    header: Header,
    transactions: readonly SentTransaction[],
    signal: StopSignal,
  ): Promise<Result<BlockFilling, "invalidTransaction">>;
  /**
   * Derives the state root; the head must still be the one that was executed on, and the pace must give up when it moves:
   * each step reads the head's state.
   */
  stage(filling: BlockFilling, number: bigint, yieldPolicy: YieldPolicy): Promise<StagedState>;
  /** What finishing a block takes, once it was learnt: kept from one run to the next. */
  readonly timing: BlockTiming | undefined;
  /** Takes over what an earlier run has learnt. */
  expect(timing: BlockTiming): void;
  /** Measures it, for blocks of so many validators, unless it is known; compiles the code that a full block runs through. */
  calibrate(
    head: () => NamedHeader,
    order: { readonly validators: number; readonly signal: StopSignal },
  ): Promise<void>;
  /** To be told of each candidate of another that is judged now. */
  judging(number: bigint): void;
  /** To be told of each block that became the head. */
  committed(block: Block): void;
}

export interface BlockExecutionParts {
  readonly spec: ChainSpec;
  readonly stores: ChainStores;
  readonly clock: Clock;
  readonly production: BlockProduction;
  /** What this process has used of the processors, milliseconds; absent where only the time is known. */
  readonly cpuMs?: (() => number) | undefined;
  readonly logger: Logger;
}

/**
 * What a calibration measures of what finishing a transfer takes: the rest is writing, telling others, and, where there
 * are other validators, their doing the same and the messages between.
 */
const SHARE_MEASURED_ALONE = 0.5;
const SHARE_MEASURED_OF_MANY = 0.2;

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
  /** The candidate that is being agreed on, and since when. */
  let candidate:
    | {
        readonly number: bigint;
        readonly sinceMs: number;
        readonly isOurs: boolean;
        /** What others need to execute it, as far as is known; of theirs, what it took here. */
        executionMs: number;
      }
    | undefined;
  let underWay = 0;
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
    underWay++;
    try {
      return await work();
    } finally {
      underWay--;
    }
  }

  return {
    get isUnderWay() {
      return underWay > 0;
    },
    unsealed: unsealedOn,
    async fill(unsealed, supply, validators) {
      const startMs = clock.nowMs();
      const periodMs = parametersAt(spec.ibft, unsealed.number).blockPeriodSeconds * 1000;
      const selectionShare = production.selectionTimePercent / 100;
      const source = timeBudget.inTime(supply.select(unsealed.baseFeePerGas), {
        startMs,
        // Who allows more than a period for the selection alone has chosen late blocks.
        periodMs: periodMs * Math.max(1, selectionShare),
        isSharedOut: validators > 1,
      });
      const windowMs = periodMs * selectionShare;
      const timeLimits = slow.limitsFor({
        number: unsealed.number,
        windowMs,
        isLoneValidator: validators === 1,
      });
      const deadlineMs = startMs + windowMs;
      const limits = { clock, deadlineMs, minOccupancyRatio, maxBytes: maxBlockBytes, timeLimits };
      const built = await execute(() =>
        buildBlock(rulesFor(unsealed), source, world.overlay(), { ...limits, keepsRevertReasons }),
      );
      const executionMs = validators > 1 ? source.executionMs : 0;
      candidate = { number: unsealed.number, sinceMs: clock.nowMs(), isOurs: true, executionMs };
      return built;
    },
    async replay(header, transactions, signal) {
      const overlay = world.overlay();
      const rules = blockRules(spec, header, ancestorHash);
      const begunMs = clock.nowMs();
      const executed = await execute(() =>
        executeBlock(rules, transactions, overlay, {
          yieldPolicy: createYieldPolicy(clock, { signal }),
          keepsRevertReasons,
        }),
      );
      if (candidate?.number === header.number && !candidate.isOurs)
        candidate.executionMs = clock.nowMs() - begunMs;
      if (executed.ok) return ok({ ...executed.value, transactions, overlay });
      const { message, facts = {} } = executed.error;
      return err({ code: "invalidTransaction", fault: "peer", message, facts });
    },
    get timing() {
      return timeBudget.timing;
    },
    expect: timeBudget.expect,
    async calibrate(head, { validators, signal }) {
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
      const share = validators > 1 ? SHARE_MEASURED_OF_MANY : SHARE_MEASURED_ALONE;
      if (eachMs !== undefined) timeBudget.guess(eachMs / share);
    },
    stage: ({ overlay }, number, yieldPolicy) =>
      inSteps(world.stageInSteps(overlay.changes(), number), yieldPolicy),
    judging(number) {
      candidate = { number, sinceMs: clock.nowMs(), isOurs: false, executionMs: 0 };
    },
    committed({ header, transactions }) {
      timeBudget.done();
      slow.mined(transactions);
      if (candidate?.number === header.number) {
        const tookMs = clock.nowMs() - candidate.sinceMs;
        // One that is negative, because the clock was set back, says nothing.
        const finishMs = tookMs < 0 ? tookMs : Math.max(0, tookMs - candidate.executionMs);
        if (candidate.isOurs) timeBudget.learn(transactions.length, finishMs);
        else timeBudget.learnOfOthers(transactions.length, finishMs);
      }
      candidate = undefined;
    },
  };
}
