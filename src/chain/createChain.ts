import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { StopSignal } from "../execution/yieldPolicy.ts";
import { recoverSealers } from "../ibft/sealRecovery.ts";
import type { VoteTally } from "../ibft/validatorVotes.ts";
import type { Logger } from "../observability/logger.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { createMutex } from "../primitives/mutex.ts";
import { ok, type Result } from "../primitives/result.ts";
import { missing } from "../storage/checksum.ts";
import type { Block, NamedBlock, NamedHeader } from "../types/block.ts";
import { sealDigest } from "../types/blockHash.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { createBadBlocks } from "./badBlocks.ts";
import { type BlockProduction, createBlockExecution } from "./blockExecution.ts";
import { type CandidateSettings, type Candidates, createCandidates } from "./candidates.ts";
import type { ChainReader } from "./chain.ts";
import { type ChainStores, type ChainWriter, createChainWriter } from "./chainWriter.ts";
import { createExecutedBlocks } from "./executedBlocks.ts";
import { openGenesis } from "./genesisBlock.ts";
import {
  type BlockErrorCode,
  createImporter,
  type RecoverSealers,
  type RecoverSenders,
} from "./importBlock.ts";
import { keepRules } from "./storedChainConfig.ts";
import type { BlockTiming } from "./timeBudget.ts";
import { createValidatorSets, type ValidatorSets } from "./validators.ts";

/**
 * The chain: the one truth about the head, and the only way to move it.
 *
 *     build ──> candidate ──┐                              ┌─> one durable batch ──> head ──> the news
 *     import ──> a block ───┴─> judge ──> execute ──> commit
 *                               header, seals,  kept by name, so that nothing is executed twice
 *                               then the body
 *
 * Invariants: whatever moves the head takes its turn; a block is committed only after every rule has passed, our own
 * blocks included; nothing is announced before it is durable. Who proposes and when is consensus; which peer has what
 * is sync; the chain knows neither.
 */
export interface Chain extends ChainReader, Pick<Candidates, "build" | "check" | "commit"> {
  /** True while transactions of a block are executed. */
  readonly isExecuting: boolean;
  /**
   * True while the state of the head is written otherwise than by a block's batch: what is read in several goes may be of
   * two heads then.
   */
  readonly isRewriting: boolean;
  /** What finishing a block takes, once it was learnt: worth keeping for the next run. */
  readonly blockTiming: BlockTiming | undefined;
  /** To be told what an earlier run has learnt, before blocks are built. */
  expectBlockTiming(timing: BlockTiming): void;
  /** Measures it unless it is known, in slices, some tenths of a second in all; without a trace on the chain. */
  calibrate(signal: StopSignal): Promise<void>;
  /** Judges a header that follows the head, seals included, before anybody looks at its body. */
  checkNextHeader(header: Header): Promise<Result<void, BlockErrorCode>>;
  /** Judges a block that follows the head by every rule, and commits it. */
  importBlock(block: Block): Promise<Result<NamedHeader, BlockErrorCode>>;
  /** Blocks and proposals that were refused since the start for a flaw of their own, oldest first; not all of many. */
  badBlocks(): readonly NamedBlock[];
  /** Takes away every block above `number`, durably; far back in several steps, of which a crash leaves some done. */
  rewind(number: bigint): Promise<void>;
  /** Takes away a stored block with all above it, and imports it again by every rule. */
  replayBlock(number: bigint): Promise<Result<NamedHeader, BlockErrorCode>>;
  /** Writes the state of the head anew from its tries, while no block is committed. */
  rebuildState(): Promise<void>;
  /** The validators after a block, and the votes on them. */
  tallyAfter(block: NamedHeader): VoteTally;
}

export interface ChainParts {
  readonly spec: ChainSpec;
  readonly stores: ChainStores;
  readonly clock: Clock;
  readonly recoverSenders: RecoverSenders;
  /** On this thread unless given. */
  readonly recoverSealers?: RecoverSealers;
  readonly production: BlockProduction;
  /** What this process has used of the processors, milliseconds; absent where only the time is known. */
  readonly cpuMs?: () => number;
  readonly logger: Logger;
}

/** Opens the chain in its stores, beginning it with its genesis block where they are empty. */
export async function createChain(
  settings: CandidateSettings,
  parts: ChainParts,
): Promise<Result<Chain, "differentGenesis">> {
  const { spec, stores, clock, recoverSenders, logger } = parts;
  const { database, blocks } = stores;
  const opened = await openGenesis(spec, stores);
  if (!opened.ok) return opened;
  const genesis: NamedHeader = opened.value;
  const validators = createValidatorSets({
    database,
    schedule: spec.ibft,
    header: (number) => blocks.header(number),
  });
  const head = createChainWriter(stores, genesis, { alsoWrite: validators.keep, logger });
  const rules = await keepRules(spec, database, head.head);
  if (!rules.ok) return rules;
  const executedBlocks = createExecutedBlocks();
  const badBlocks = createBadBlocks();
  const execution = createBlockExecution({
    spec,
    stores,
    clock,
    production: parts.production,
    cpuMs: parts.cpuMs,
    logger,
  });
  head.onHeadChanged(({ added }) => {
    executedBlocks.clear();
    for (const block of added) execution.committed(block);
  });
  const mutex = createMutex();
  let isRewriting = false;
  const rewrite = <T>(work: () => Promise<T>): Promise<T> =>
    mutex.runExclusive(async () => {
      isRewriting = true;
      try {
        return await work();
      } finally {
        isRewriting = false;
      }
    });
  const importer = createImporter({
    spec,
    clock,
    head,
    validators,
    execution,
    executedBlocks,
    badBlocks,
    recoverSenders,
    recoverSealers: parts.recoverSealers ?? recoverSealersHere,
    mutex,
  });
  const candidates = createCandidates(settings, {
    head,
    validators,
    execution,
    executedBlocks,
    importer,
    clock,
    headerByNumber: (number) => blocks.header(number),
  });
  return ok({
    ...reads(stores, genesis, head, validators),
    ...candidates,
    get head() {
      return head.head;
    },
    get isExecuting() {
      return execution.isUnderWay;
    },
    get isRewriting() {
      return isRewriting;
    },
    get blockTiming() {
      return execution.timing;
    },
    expectBlockTiming: execution.expect,
    calibrate: (signal) =>
      execution.calibrate(() => head.head, {
        validators: validators.after(head.head).validators.length,
        signal,
      }),
    checkNextHeader: importer.checkNext,
    importBlock: importer.import,
    badBlocks: badBlocks.all,
    rewind: (number) => rewrite(() => head.rewind(number)),
    replayBlock: (number) =>
      rewrite(async () => {
        const block = expectDefined(blocks.block(number), `block ${number}`);
        // Read whole while it is still there.
        const again = { header: block.header, transactions: block.transactions, ommers: block.ommers };
        await head.rewind(number - 1n);
        return importer.importNow(again);
      }),
    rebuildState: () => rewrite(() => stores.world.rebuildHead()),
    tallyAfter: validators.after,
  });
}

const recoverSealersHere: RecoverSealers = (header, extra) =>
  recoverSealers(sealDigest(header, extra), extra.seals);

function reads(
  { blocks, world }: ChainStores,
  genesis: NamedHeader,
  head: ChainWriter,
  validators: ValidatorSets,
): Omit<ChainReader, "head"> {
  return {
    genesis,
    headerByNumber: (number) => blocks.header(number),
    headerByHash: (hash) => blocks.headerByHash(hash),
    blockByNumber: (number) => blocks.block(number),
    blockByHash: (hash) => blocks.blockByHash(hash),
    transactionByHash: (hash) => blocks.transactionByHash(hash),
    validatorsFor(number) {
      if (number === head.head.header.number + 1n) return validators.after(head.head).validators;
      const header = number > 0n ? blocks.header(number)?.header : undefined;
      const extra = header === undefined ? undefined : decodeExtraData(header.extraData);
      return extra?.ok ? extra.value.validators : undefined;
    },
    stateAt(number) {
      const newest = head.head.header.number;
      const state = number === newest ? world.head : world.at(number);
      // Every state up to the head is stored: an absent one is damage, not an answer.
      if (state === undefined && number >= 0n && number < newest)
        throw missing(`the state of block ${number}`);
      return state;
    },
    onHeadChanged: (listener) => head.onHeadChanged(listener),
  };
}
