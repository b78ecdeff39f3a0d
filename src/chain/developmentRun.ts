import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { VoteTally } from "../ibft/validatorVotes.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { Mutex } from "../primitives/mutex.ts";
import type { MarkedFolder } from "../storage/developmentMark.ts";
import { GroupedCommits } from "../storage/groupedCommits.ts";
import type { NamedHeader, StoredBlock } from "../types/block.ts";
import { BadBlocks } from "./badBlocks.ts";
import { BlockExecution } from "./blockExecution.ts";
import type { BlockProduction } from "./blockProduction.ts";
import { tipStores } from "./bulk/tipStores.ts";
import { type CandidateSettings, type Candidates, createCandidates } from "./candidates.ts";
import type { ChainStores } from "./chainStores.ts";
import { type ChainWriter, createChainWriter } from "./chainWriter.ts";
import { DevelopmentWriter } from "./developmentWriter.ts";
import { ExecutedBlocks } from "./executedBlocks.ts";
import type { ExecutionFaults } from "./executionFaults.ts";
import { Importer } from "./importBlock.ts";
import type { RecoverSealers, RecoverSenders } from "./signerRecovery.ts";
import { ValidatorSets } from "./validators.ts";

export interface DevelopmentRunParts {
  readonly spec: ChainSpec;
  readonly stores: ChainStores;
  /** The chain's own, which follows the run. */
  readonly writer: ChainWriter;
  readonly validators: ValidatorSets;
  readonly genesis: NamedHeader;
  readonly production: BlockProduction;
  readonly faults: ExecutionFaults;
  readonly recoverSenders: RecoverSenders;
  readonly recoverSealers: RecoverSealers;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once when the run is closed. */
  readonly onClosed: () => void;
}

/** Blocks of a group: the head's listeners go through all of them in one turn, some milliseconds. */
const GROUP_BLOCKS = 128;

/**
 * Makes many blocks for development. As in a bulk import, they are executed ahead of the head on stores of its own, and committed in
 * groups with one write each; then the head moves to the last block of a group, in one change. Nothing else moves the head until `close`.
 */
export class DevelopmentRun {
  /** The chain as a maker of blocks sees it; its head is the newest block of the run. */
  readonly chain: Pick<Candidates, "build"> & {
    readonly head: NamedHeader;
    tallyAfter(block: NamedHeader): VoteTally;
  };
  readonly writer: DevelopmentWriter;
  private readonly parts: DevelopmentRunParts;
  private readonly grouped: GroupedCommits;
  private readonly validators: ValidatorSets;
  private gathered: StoredBlock[] = [];

  /** Begins a run on the head. The caller must hold the mutex of the chain's moves until `onClosed`. */
  constructor(folder: MarkedFolder, settings: CandidateSettings, parts: DevelopmentRunParts) {
    const { spec, stores, clock, logger, genesis, faults } = parts;
    this.parts = parts;
    this.grouped = new GroupedCommits(stores.database, "kill");
    const own = tipStores(this.grouped.database, stores.world.limits);
    const { database, blocks, world } = own;
    const header = (number: bigint) => blocks.header(number);
    const validators = new ValidatorSets({ database, schedule: spec.ibft, header });
    const writer = createChainWriter(own, genesis, {
      logger,
      alsoWrite: (batch, block) => validators.writeSnapshot(batch, block),
    });
    const execution = new BlockExecution({ ...parts, stores: own });
    const executedBlocks = new ExecutedBlocks();
    writer.onHeadChanged("executedBlocks", ({ added }) => {
      executedBlocks.clear();
      this.gathered.push(...added);
    });
    const mutex = new Mutex();
    const making = { clock, writer, validators, execution, executedBlocks, faults };
    const importer = new Importer({ ...parts, ...making, badBlocks: new BadBlocks(), mutex });
    const { build } = createCandidates(settings, { ...making, importer, headerByNumber: header });
    this.validators = validators;
    this.chain = {
      build,
      get head() {
        return writer.head;
      },
      tallyAfter: (block) => validators.after(block),
    };
    this.writer = new DevelopmentWriter(folder, { writer, mutex, world, execution, executedBlocks, clock });
  }

  /** Begins to write the blocks that were made since the last group, if they are a group. */
  async onMade(): Promise<void> {
    if (this.gathered.length >= GROUP_BLOCKS) await this.beginGroup();
  }

  /** Writes all blocks, and lets others move the head again. */
  async close(): Promise<void> {
    try {
      await this.beginGroup();
      await this.grouped.settled();
    } finally {
      this.parts.onClosed();
    }
  }

  private async beginGroup(): Promise<void> {
    const blocks = this.gathered;
    if (blocks.length === 0) return;
    this.gathered = [];
    await this.grouped.beginGroup(() => {
      for (const block of blocks) this.parts.validators.remember(block, this.validators.after(block));
      this.parts.writer.follow(blocks);
    });
  }
}
