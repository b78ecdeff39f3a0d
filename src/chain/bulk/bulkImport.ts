import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { createYieldPolicy, NEVER_STOPPED, type YieldPolicy } from "../../execution/yieldPolicy.ts";
import type { Logger } from "../../observability/logger.ts";
import type { AccountContract } from "../../permissioning/contract/accountContract.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { WorldStateLimits } from "../../state/worldState.ts";
import type { Database } from "../../storage/database.ts";
import { GroupedCommits } from "../../storage/groupedCommits.ts";
import { type Block, type Body, type NamedHeader, type StoredBlock, sizeOfBlock } from "../../types/block.ts";
import { recoveryItemOf } from "../../types/transactionSignature.ts";
import type { BadBlocks } from "../badBlocks.ts";
import { type BlockErrorCode, notAfterHead } from "../blockError.ts";
import { BlockExecution } from "../blockExecution.ts";
import type { BlockProduction } from "../blockProduction.ts";
import { BodyValidator } from "../bodyValidator.ts";
import { type ChainWriter, createChainWriter } from "../chainWriter.ts";
import { type ExecutedBlock, ExecutedBlocks } from "../executedBlocks.ts";
import type { ExecutionFaults } from "../executionFaults.ts";
import type { RecoverSigners } from "../signerRecovery.ts";
import { isSnapshotBlock, putTallySnapshot } from "../tallySnapshot.ts";
import type { CheckedHeader } from "./headerRun.ts";
import type { GroupLimits } from "./limits.ts";
import { tipStores } from "./tipStores.ts";

/** A block whose header was checked. */
export interface CheckedBlock {
  readonly header: CheckedHeader;
  readonly body: Body;
}

/** A checked block whose senders are being recovered. */
export interface PreparedBlock extends CheckedBlock {
  readonly senders: Promise<readonly (Address | undefined)[]>;
}

interface BulkImportParts {
  readonly spec: ChainSpec;
  readonly database: Database;
  readonly genesis: NamedHeader;
  readonly clock: Clock;
  readonly production: BlockProduction;
  readonly badBlocks: BadBlocks;
  readonly faults: ExecutionFaults;
  readonly accountContract: AccountContract | undefined;
  readonly logger: Logger;
  readonly limits: GroupLimits;
  /** Cache sizes of the import's own state. */
  readonly stateLimits: WorldStateLimits;
  /** Called when blocks have become durable, the last of which is the new head, in the turn in which readers first see them. */
  readonly onDurable: (blocks: readonly ImportedBlock[]) => void;
  readonly isOthersTurn: () => boolean;
  /** Called once when the import is closed. */
  readonly onClosed: () => void;
}

/** A committed block, and the votes after it. */
interface ImportedBlock extends StoredBlock {
  readonly tally: CheckedHeader["tally"];
}

/** Begins to recover the senders, on worker threads, of a block that will be imported soon. */
export function prepareBlock({ header, body }: CheckedBlock, recoverSigners: RecoverSigners): PreparedBlock {
  const { transactions } = body;
  const senders =
    transactions.length === 0 ? Promise.resolve([]) : recoverSigners(transactions.map(recoveryItemOf));
  // The import of the block reports a failure, if the block is still imported.
  senders.catch(() => undefined);
  return { header, body, senders };
}

/**
 * Imports many blocks. They are executed ahead of the head on stores of its own, and committed in groups, each with one
 * synced write:
 *
 *     importBlock ──> validated, executed on the tip ──> gathered ──(blocks, bytes or ms)──> durable ──> the head moves
 *
 * Readers of the chain see the old head, and none of the blocks after it, until a group is durable; then the head moves to
 * its last block, in one change with all of its blocks. Nothing else moves the head until `close`, so an import that has no
 * next block must be closed soon.
 */
export class BulkImport {
  private readonly parts: BulkImportParts;
  private readonly grouped: GroupedCommits;
  private readonly writer: ChainWriter;
  private readonly bodies: BodyValidator;
  private readonly yieldPolicy: YieldPolicy;
  /** The block that is being imported. */
  private current: PreparedBlock | undefined;
  private gathered: ImportedBlock[] = [];
  private gatheredTransactions = 0;
  private groupSinceMs: number;
  /** Set when a commit failed midway: operations gathered since the last group may be incomplete, and are dropped. */
  private isBroken = false;

  /** Begins an import on the head. The caller must hold the mutex until `onClosed`. */
  constructor(parts: BulkImportParts) {
    this.parts = parts;
    const { clock } = parts;
    this.grouped = new GroupedCommits(parts.database);
    this.groupSinceMs = clock.nowMs();
    this.yieldPolicy = createYieldPolicy(clock);
    const stores = tipStores(this.grouped.database, parts.stateLimits);
    this.writer = createChainWriter(stores, parts.genesis, {
      logger: parts.logger,
      alsoWrite: (batch, { header: { number }, hash }) => {
        if (isSnapshotBlock(number) && this.current !== undefined)
          putTallySnapshot(batch, { number, hash }, this.current.header.tally);
      },
    });
    const executedBlocks = new ExecutedBlocks();
    this.writer.onHeadChanged("executedBlocks", () => executedBlocks.clear());
    this.bodies = new BodyValidator({
      clock,
      writer: this.writer,
      execution: new BlockExecution({ ...parts, stores }),
      executedBlocks,
      faults: parts.faults,
      recoverSenders: () => this.current?.senders ?? Promise.resolve([]),
    });
  }

  /** The newest imported block, which may not be durable yet. */
  get tip(): NamedHeader {
    return this.writer.head;
  }

  /** Whether others wait to move the head. */
  get isOthersTurn(): boolean {
    return this.parts.isOthersTurn();
  }

  /** Validates the body of the block after the tip, executes it and commits it in a group. One call at a time. */
  async importBlock(prepared: PreparedBlock): Promise<Result<NamedHeader, BlockErrorCode>> {
    const { header, hash } = prepared.header;
    const { tip } = this;
    if (!equalBytes(header.parentHash, tip.hash)) return notAfterHead(header, tip);
    this.current = prepared;
    const block: Block = { header, ...prepared.body };
    const executed = await this.bodies.validate(block, hash, tip, NEVER_STOPPED);
    if (!executed.ok) {
      if (executed.error.fault === "peer") this.parts.badBlocks.keep({ ...block, hash });
      return executed;
    }
    await this.commit(prepared, executed.value);
    if (this.isGroupFull()) await this.beginGroup();
    if (this.yieldPolicy.isDue()) await this.yieldPolicy.yield();
    return ok(this.tip);
  }

  /** Makes all imported blocks durable, moves the head, and lets others move it again. */
  async close(): Promise<void> {
    try {
      if (!this.isBroken) await this.beginGroup();
      await this.grouped.settled();
    } finally {
      this.parts.onClosed();
    }
  }

  private async commit({ header }: PreparedBlock, executed: ExecutedBlock): Promise<void> {
    const { block, receipts, staged } = executed;
    const { totalDifficulty, tally } = header;
    const stored = { ...block, receipts, totalDifficulty, size: sizeOfBlock(block) };
    this.isBroken = true;
    await this.writer.commit(stored, staged, createYieldPolicy(this.parts.clock));
    this.isBroken = false;
    this.gathered.push({ ...stored, tally });
    this.gatheredTransactions += block.transactions.length;
  }

  private isGroupFull(): boolean {
    const { clock, limits } = this.parts;
    return (
      this.gathered.length >= limits.blocks ||
      this.gatheredTransactions >= limits.transactions ||
      this.grouped.gatheredBytes >= limits.bytes ||
      clock.nowMs() - this.groupSinceMs >= limits.ms
    );
  }

  /** Begins to write the gathered operations, once the previous group is durable. */
  private async beginGroup(): Promise<void> {
    const blocks = this.gathered;
    if (blocks.length === 0) return;
    this.gathered = [];
    this.gatheredTransactions = 0;
    await this.grouped.beginGroup(() => this.parts.onDurable(blocks));
    this.groupSinceMs = this.parts.clock.nowMs();
  }
}
