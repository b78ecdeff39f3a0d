import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import type { Chain } from "./createChain.ts";
import type { HeadChange } from "./onNewHead.ts";

interface BlockLogParts {
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** This node's address, to distinguish its blocks from those of others. */
  readonly self: Address;
  /** Number of pending transactions in the pool. */
  pending(): number;
  /**
   * True where a person looks on: at the level "info" are only blocks in which something happened, and one in ten. By
   * default all are.
   */
  readonly isCalm?: boolean;
  /** True where callers may rewind the chain at any time, between two tests: such a rewind is then told at the level "debug". */
  readonly mayCallersRewind?: boolean;
  readonly metrics?: Metrics | undefined;
}

/** Logs one line per block with the facts that operators need most, and measures decision times. */
export class BlockLog {
  private readonly parts: BlockLogParts;
  private first: { readonly number: bigint; readonly atMs: number; readonly isImport: boolean } | undefined;
  private headAtMs = Number.NEGATIVE_INFINITY;
  private readonly decisions: ReturnType<Metrics["summary"]> | undefined;

  constructor(parts: BlockLogParts) {
    this.parts = parts;
    this.decisions = parts.metrics?.summary({
      category: "BFT",
      name: "decision_seconds",
      help: "Time from when a block is due until it is durably the head, seconds",
    });
  }

  /** Called when a block begins to be built or validated. Only such blocks count for the decision time. */
  started(number: bigint): void {
    if (this.first?.number !== number || this.first.isImport)
      this.first = { number, atMs: this.parts.clock.nowMs(), isImport: false };
  }

  /** Called when the import of a peer's block begins. */
  importStarted(number: bigint): void {
    if (this.first?.number !== number)
      this.first = { number, atMs: this.parts.clock.nowMs(), isImport: true };
  }

  /** Logs each move of the chain's head from now on. */
  follow(chain: Pick<Chain, "onHeadChanged" | "onImportStarted">): void {
    chain.onImportStarted((number) => this.importStarted(number));
    chain.onHeadChanged("blockLog", (change) => this.headChanged(change));
  }

  headChanged({ head, added, removed }: HeadChange): void {
    if (added.length > 1) this.logGroup(added);
    else
      for (const block of added) {
        const tookMs = this.ageOf(block.header);
        if (tookMs !== undefined && this.first?.isImport === false)
          this.decisions?.with().observe(tookMs / 1000);
        if (this.parts.logger.isEnabled("info")) this.logBlock(block, tookMs);
      }
    this.headAtMs = this.parts.clock.nowMs();
    if (removed.length === 0) return;
    const level = this.parts.mayCallersRewind === true ? "debug" : "warn";
    this.parts.logger[level]({ blocks: removed.length, head: head.header.number }, "blocks removed");
  }

  /**
   * Milliseconds since the block was due, that is, since its timestamp and its parent's commit. If another validator's
   * clock is ahead, or rounds failed, since work on it began. For an imported block, the duration of the import.
   */
  private ageOf({ number, timestamp }: Header): number | undefined {
    if (this.first?.number !== number) return undefined;
    if (this.first.isImport) return this.parts.clock.nowMs() - this.first.atMs;
    return (
      this.parts.clock.nowMs() - Math.min(this.first.atMs, Math.max(this.headAtMs, Number(timestamp) * 1000))
    );
  }

  private logBlock({ header, hash, transactions }: StoredBlock, tookMs: number | undefined): void {
    const { number, gasUsed, gasLimit, coinbase: proposer } = header;
    const extra = decodeExtraData(header.extraData);
    const round = extra.ok ? extra.value.round : 0;
    const isEvent = transactions.length > 0 || round > 0 || (tookMs ?? 0) >= LATE_MS;
    const level = this.parts.isCalm !== true || isEvent || number % TOLD_IN === 0n ? "info" : "debug";
    this.parts.logger[level](
      {
        number,
        hash,
        transactions: transactions.length,
        pending: this.parts.pending(),
        gasUsed,
        gasPercent: Number((gasUsed * 1000n) / gasLimit) / 10,
        proposer,
        ...(extra.ok && { round }),
        ...(tookMs !== undefined && { tookMs }),
      },
      // The text that operators look for (options.md#log-lines).
      `${equalBytes(proposer, this.parts.self) ? "Produced" : "Imported"} #${number}`,
    );
  }

  /** Blocks of a bulk import: sync tells its progress at the level "info". */
  private logGroup(blocks: readonly StoredBlock[]): void {
    const [from, to] = [blocks[0]?.header.number, blocks.at(-1)?.header.number];
    const transactions = blocks.reduce((sum, block) => sum + block.transactions.length, 0);
    this.parts.logger.debug({ blocks: blocks.length, transactions }, `Imported #${from} to #${to}`);
  }
}

/** Number of uneventful blocks of which one is logged at INFO. */
const TOLD_IN = 10n;
/** A block that took so long is worth a line. */
const LATE_MS = 500;
