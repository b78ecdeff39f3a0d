import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { StopSignal } from "../execution/yieldPolicy.ts";
import { recoverSealers as recoverSealersOf } from "../ibft/sealRules.ts";
import { isValidator, type VoteTally } from "../ibft/validatorVotes.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { AccountContract } from "../permissioning/contract/accountContract.ts";
import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { Mutex } from "../primitives/mutex.ts";
import { recoverItem } from "../primitives/recoveryBatch.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { MarkedFolder } from "../storage/developmentMark.ts";
import type { HistoryStart } from "../storage/historyStart.ts";
import type { Block, NamedBlock, NamedHeader } from "../types/block.ts";
import { sealDigest } from "../types/blockHash.ts";
import type { Header } from "../types/header.ts";
import { BadBlocks } from "./badBlocks.ts";
import type { BlockErrorCode } from "./blockError.ts";
import { BlockExecution } from "./blockExecution.ts";
import type { BlockProduction } from "./blockProduction.ts";
import { BulkImport, type CheckedBlock, type PreparedBlock, prepareBlock } from "./bulk/bulkImport.ts";
import { HeaderRun } from "./bulk/headerRun.ts";
import { GROUP_LIMITS, type GroupLimits } from "./bulk/limits.ts";
import { type CandidateSettings, type Candidates, createCandidates } from "./candidates.ts";
import { declareChainMetrics } from "./chainMetrics.ts";
import type { ChainReader } from "./chainReader.ts";
import { createChainReads } from "./chainReads.ts";
import type { ChainStores } from "./chainStores.ts";
import { type ChainWriter, createChainWriter } from "./chainWriter.ts";
import { checkStoredRules } from "./checkStoredRules.ts";
import type { DevelopmentRun } from "./developmentRun.ts";
import type { DevelopmentWriter } from "./developmentWriter.ts";
import { ExecutedBlocks } from "./executedBlocks.ts";
import { ExecutionFaults, type FaultyWork } from "./executionFaults.ts";
import { openGenesis } from "./genesisBlock.ts";
import { Importer } from "./importBlock.ts";
import { keepBlocks, keepStates } from "./keepHistory.ts";
import { NoStateToRewindTo } from "./rewindStep.ts";
import type { RecoverSealers, RecoverSenders, RecoverSigners } from "./signerRecovery.ts";
import type { ThreadTimes } from "./timing/coreContention.ts";
import type { BlockTiming } from "./timing/timingFilter.ts";
import { ValidatorSets } from "./validators.ts";

/**
 * The chain: holds the head, and is the only way to move it.
 *
 *     build ──> candidate ──┐                                 ┌─> one durable batch ──> head ──> listeners
 *     import ──> a block ───┴─> validate ──> execute ──> commit
 *                               header, seals,  kept by chain hash, so that no block is executed twice
 *                               then the body
 *
 * Invariants: moves of the head are serialised; a block, ours included, is committed only after every rule has passed;
 * nothing is announced before it is durable. Consensus decides who proposes and when, sync knows which peer has what;
 * the chain depends on neither.
 */
export interface Chain extends ChainReader, Pick<Candidates, "build" | "check" | "commit"> {
  /** True while transactions of a block are executed. */
  readonly isExecuting: boolean;
  /** Learnt time to finish a block; undefined until learnt. The node persists it for the next run. */
  readonly blockTiming: BlockTiming | undefined;
  /** Restores what an earlier run learnt. Call before blocks are built. */
  restoreBlockTiming(timing: BlockTiming): void;
  /**
   * Measures the time to finish a block unless it is known, in slices, some tenths of a second in all; leaves the chain
   * unchanged.
   */
  calibrate(signal: StopSignal): Promise<void>;
  /** The RLP of a header as it is stored; undefined for what is not. */
  encodedHeader(number: bigint): Uint8Array | undefined;
  /** Validates a header that follows the head, seals included, without its body. */
  checkNextHeader(header: Header): Promise<Result<void, BlockErrorCode>>;
  /** Validates a block that follows the head by every rule, and commits it. */
  importBlock(block: Block): Promise<Result<NamedHeader, BlockErrorCode>>;
  /** Calls `listener` whenever an import of a single block begins. */
  onImportStarted(listener: (number: bigint) => void): void;
  /** Validates headers ahead of their bodies, from a block of the chain on. */
  headerRun(from: NamedHeader): HeaderRun;
  /** Begins to recover the senders of a block that will be imported soon. */
  prepareBlock(block: CheckedBlock): PreparedBlock;
  /** Begins a bulk import, once no other move of the head is in progress; none is possible until it is closed. */
  bulkImport(limits?: GroupLimits): Promise<BulkImport>;
  /** Invalid blocks and proposals since the start, oldest first; their number is bounded, so early ones may be missing. */
  badBlocks(): readonly NamedBlock[];
  /** Calls `listener` for every execution that failed by a fault of this node. */
  onExecutionFault(listener: (during: FaultyWork) => void): void;
  /**
   * Removes every block above `number`, durably. A long rewind takes several steps; a crash may leave some done. Throws
   * NoStateToRewindTo where the states begin above `number`.
   */
  rewind(number: bigint): Promise<void>;
  /** Removes a stored block with all above it, and imports it again by every rule. Throws NoStateToRewindTo. */
  replayBlock(number: bigint): Promise<Result<NamedHeader, BlockErrorCode>>;
  /** Rewrites the flat state of the head from its tries, while no block is committed. */
  rebuildState(): Promise<void>;
  /**
   * Moves the start of the whole blocks to `kept` blocks before the head, durably, unless it is later already: of earlier
   * blocks only the headers remain, and the rest may be removed. The start never passes that of the states. No other move of
   * the head is in progress meanwhile.
   */
  keepBlocks(kept: bigint): Promise<HistoryStart>;
  /**
   * Moves the start of the states to `kept` blocks before the head, durably, unless it is later already: earlier states may
   * then be removed. No other move of the head is in progress meanwhile.
   */
  keepStates(kept: bigint): Promise<HistoryStart>;
  /** Commits blocks for development, which no rule of an import has judged: in a marked folder only. */
  developmentWriter(folder: MarkedFolder): Promise<DevelopmentWriter>;
  /** Begins to make many blocks for development, once no other move of the head is in progress; none is possible until it is closed. */
  developmentRun(folder: MarkedFolder): Promise<DevelopmentRun>;
  /** The validator set after a block, and the outstanding votes. */
  tallyAfter(block: NamedHeader): VoteTally;
  /** Whether an address is a validator of the next block. */
  isValidator(address: Address): boolean;
}

interface ChainParts {
  readonly spec: ChainSpec;
  readonly stores: ChainStores;
  readonly clock: Clock;
  readonly recoverSenders: RecoverSenders;
  /** Runs on this thread unless given. */
  readonly recoverSealers?: RecoverSealers;
  /** Recovers the signers of many blocks. Runs on this thread unless given. */
  readonly recoverSigners?: RecoverSigners;
  readonly production: BlockProduction;
  /** CPU time used by this process, milliseconds. Absent if only the clock is available. */
  readonly cpuMs?: () => number;
  /** Times of this thread; undefined if the system does not report them. Absent if blocks are only imported. */
  readonly threadTimes?: () => ThreadTimes | undefined;
  /** Decides who may send in every block that is imported or built; absent where none is asked. */
  readonly accountContract?: AccountContract | undefined;
  /** Absent where metrics are off. */
  readonly metrics?: Metrics | undefined;
  readonly logger: Logger;
}

/** Opens the chain in its stores; writes the genesis block if they are empty. */
export async function createChain(
  settings: CandidateSettings,
  parts: ChainParts,
): Promise<Result<Chain, "differentGenesis">> {
  const { spec, stores, clock, recoverSenders, logger } = parts;
  const { database, blocks } = stores;
  const opened = await openGenesis(spec, stores);
  if (!opened.ok) return opened;
  const genesis: NamedHeader = opened.value;
  const headerByNumber = (number: bigint) => blocks.header(number);
  const validators = new ValidatorSets({ database, schedule: spec.ibft, header: headerByNumber });
  const writer = createChainWriter(stores, genesis, {
    alsoWrite: (batch, block) => validators.writeSnapshot(batch, block),
    logger,
  });
  const rules = await checkStoredRules(spec, database, writer.head);
  if (!rules.ok) return rules;
  const executedBlocks = new ExecutedBlocks();
  const badBlocks = new BadBlocks();
  const { production, cpuMs, threadTimes, accountContract } = parts;
  const recoverSealers = parts.recoverSealers ?? recoverSealersHere;
  const faults = new ExecutionFaults(logger);
  const execution = new BlockExecution({
    spec,
    stores,
    clock,
    production,
    cpuMs,
    threadTimes,
    faults,
    accountContract,
    logger,
  });
  writer.onHeadChanged("executedBlocks", ({ added }) => {
    executedBlocks.clear();
    for (const block of added) execution.onCommitted(block);
  });
  const mutex = new Mutex();
  const blockParts = { clock, writer, validators, execution, executedBlocks, faults };
  const importer = new Importer({
    ...blockParts,
    spec,
    badBlocks,
    recoverSenders,
    recoverSealers,
    mutex,
  });
  const candidates = createCandidates(settings, { ...blockParts, importer, headerByNumber });
  const reads = {
    ...createChainReads(stores, { genesis, validators, head: () => writer.head }),
    onHeadChanged: writer.onHeadChanged,
  };
  const bulk = bulkOf(parts, { genesis, writer, validators, badBlocks, faults, mutex });
  const runParts = {
    spec,
    stores,
    writer,
    validators,
    genesis,
    production,
    faults,
    recoverSenders,
    clock,
    logger,
  };
  const beginRun = async (folder: MarkedFolder): Promise<DevelopmentRun> => {
    const { DevelopmentRun } = await import("./developmentRun.ts");
    return holding(
      mutex,
      (onClosed) => new DevelopmentRun(folder, settings, { ...runParts, recoverSealers, onClosed }),
    );
  };
  const chain = chainOf({
    stores,
    writer,
    validators,
    execution,
    importer,
    candidates,
    badBlocks,
    faults,
    reads,
    mutex,
    bulk,
    executedBlocks,
    clock,
    beginRun,
  });
  if (parts.metrics !== undefined) declareChainMetrics(parts.metrics, { chain, clock });
  return ok(chain);
}

type Bulk = Pick<Chain, "headerRun" | "prepareBlock" | "bulkImport">;

/** Bulk imports, each of which holds the mutex from its beginning to its end. */
function bulkOf(
  {
    spec,
    stores,
    clock,
    production,
    recoverSigners = recoverSignersHere,
    accountContract,
    logger,
  }: ChainParts,
  {
    genesis,
    writer,
    validators,
    badBlocks,
    faults,
    mutex,
  }: Pick<OpenedParts, "writer" | "validators" | "badBlocks" | "faults" | "mutex"> & {
    readonly genesis: NamedHeader;
  },
): Bulk {
  const { database, world } = stores;
  const begin = (limits: GroupLimits, onClosed: () => void): BulkImport =>
    new BulkImport({
      ...{ spec, database, genesis, clock, production, badBlocks, faults, logger, limits, onClosed },
      accountContract,
      stateLimits: world.limits,
      isOthersTurn: () => mutex.isAwaited,
      onDurable(blocks) {
        for (const block of blocks) validators.remember(block, block.tally);
        writer.follow(blocks);
      },
    });
  return {
    headerRun: (from) =>
      new HeaderRun({ ...from, tally: validators.after(from) }, { spec, clock, recoverSigners }),
    prepareBlock: (block) => prepareBlock(block, recoverSigners),
    bulkImport: (limits = GROUP_LIMITS) => holding(mutex, (onClosed) => begin(limits, onClosed)),
  };
}

/** Begins work that holds the mutex until it calls `onClosed`. */
function holding<T>(mutex: Mutex, begin: (onClosed: () => void) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const held = mutex.runExclusive(() => new Promise<void>((onClosed) => resolve(begin(onClosed))));
    held.catch(reject);
  });
}

interface OpenedParts {
  readonly stores: ChainStores;
  readonly writer: ChainWriter;
  readonly validators: ValidatorSets;
  readonly execution: BlockExecution;
  readonly importer: Importer;
  readonly candidates: Candidates;
  readonly badBlocks: BadBlocks;
  readonly faults: ExecutionFaults;
  readonly reads: Omit<ChainReader, "head" | "historyStart">;
  readonly mutex: Mutex;
  readonly bulk: Bulk;
  readonly executedBlocks: ExecutedBlocks;
  readonly clock: Clock;
  readonly beginRun: (folder: MarkedFolder) => Promise<DevelopmentRun>;
}

function chainOf({ stores, writer, validators, execution, importer, ...parts }: OpenedParts): Chain {
  const importListeners: ((number: bigint) => void)[] = [];
  const alone = <T>(work: () => Promise<T>): Promise<T> => parts.mutex.runExclusive(work);

  async function rewindTo(number: bigint): Promise<void> {
    // The states may begin later than when the caller checked.
    if (number < stores.blocks.historyStart.states) throw new NoStateToRewindTo();
    await writer.rewind(number);
  }

  async function replayBlock(number: bigint): Promise<Result<NamedHeader, BlockErrorCode>> {
    if (number <= stores.blocks.historyStart.states) throw new NoStateToRewindTo();
    const block = expectDefined(stores.blocks.block(number), `block ${number}`);
    // The block is read before the rewind removes it.
    const again = { header: block.header, transactions: block.transactions, ommers: block.ommers };
    await rewindTo(number - 1n);
    return importer.importNow(again);
  }

  return {
    ...parts.reads,
    ...parts.candidates,
    ...parts.bulk,
    get head() {
      return writer.head;
    },
    get historyStart() {
      return stores.blocks.historyStart;
    },
    get isExecuting() {
      return execution.isExecuting;
    },
    get blockTiming() {
      return execution.timing;
    },
    restoreBlockTiming: (timing) => execution.restoreTiming(timing),
    calibrate(signal) {
      const validatorCount = validators.after(writer.head).validators.length;
      return execution.calibrate(() => writer.head, { validatorCount, signal, undisturbed: alone });
    },
    encodedHeader: (number) => stores.blocks.encodedHeader(number),
    checkNextHeader: (header) => importer.checkNext(header),
    importBlock(block) {
      for (const listener of importListeners) listener(block.header.number);
      return importer.import(block);
    },
    onImportStarted: (listener) => void importListeners.push(listener),
    badBlocks: () => parts.badBlocks.all(),
    onExecutionFault: (listener) => parts.faults.onFault(listener),
    rewind: (number) => alone(() => rewindTo(number)),
    replayBlock: (number) => alone(() => replayBlock(number)),
    rebuildState: () => alone(() => stores.world.rebuildHead()),
    keepBlocks: (kept) => alone(() => keepBlocks(stores, writer.head, kept)),
    keepStates: (kept) => alone(() => keepStates(stores, writer.head, kept)),
    async developmentWriter(folder) {
      // No other network loads it.
      const { DevelopmentWriter } = await import("./developmentWriter.ts");
      return new DevelopmentWriter(folder, { ...parts, writer, world: stores.world, execution });
    },
    developmentRun: (folder) => parts.beginRun(folder),
    tallyAfter: (block) => validators.after(block),
    isValidator: (address) => isValidator(validators.after(writer.head), address),
  };
}

const recoverSealersHere: RecoverSealers = (header, extra) =>
  recoverSealersOf(sealDigest(header, extra), extra.seals);

const recoverSignersHere: RecoverSigners = async (items) => items.map(recoverItem);
