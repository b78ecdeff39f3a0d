import type { HeadChange } from "../chain/onNewHead.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";

/** Logs one line per block with the facts that operators need most, and measures decision times. */
interface BlockLog {
  /** Called when a block begins to be built or validated. Only such blocks count for the decision time. */
  started(number: bigint): void;
  /** Called when the import of a peer's block begins. */
  importStarted(number: bigint): void;
  headChanged(change: HeadChange): void;
}

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
  readonly metrics?: Metrics | undefined;
}

export function createBlockLog({
  clock,
  logger,
  self,
  pending,
  isCalm = false,
  metrics,
}: BlockLogParts): BlockLog {
  let first: { readonly number: bigint; readonly atMs: number; readonly isImport: boolean } | undefined;
  let headAtMs = Number.NEGATIVE_INFINITY;
  const decisions = metrics?.summary({
    category: "BFT",
    name: "decision_seconds",
    help: "Time from when a block is due until it is durably the head, seconds",
  });

  /**
   * Milliseconds since the block was due, that is, since its timestamp and its parent's commit. If another validator's
   * clock is ahead, or rounds failed, since work on it began. For an imported block, the duration of the import.
   */
  function ageOf({ number, timestamp }: Header): number | undefined {
    if (first?.number !== number) return undefined;
    if (first.isImport) return clock.nowMs() - first.atMs;
    return clock.nowMs() - Math.min(first.atMs, Math.max(headAtMs, Number(timestamp) * 1000));
  }

  function logBlock({ header, hash, transactions }: StoredBlock, tookMs: number | undefined): void {
    const { number, gasUsed, gasLimit, coinbase: proposer } = header;
    const extra = decodeExtraData(header.extraData);
    const round = extra.ok ? extra.value.round : 0;
    const isEvent = transactions.length > 0 || round > 0 || (tookMs ?? 0) >= LATE_MS;
    const level = !isCalm || isEvent || number % TOLD_IN === 0n ? "info" : "debug";
    logger[level](
      {
        number,
        hash,
        transactions: transactions.length,
        pending: pending(),
        gasUsed,
        gasPercent: Number((gasUsed * 1000n) / gasLimit) / 10,
        proposer,
        ...(extra.ok && { round }),
        ...(tookMs !== undefined && { tookMs }),
      },
      // The text that operators look for (options.md#log-lines).
      `${equalBytes(proposer, self) ? "Produced" : "Imported"} #${number}`,
    );
  }

  /** Blocks of a bulk import: sync tells its progress at the level "info". */
  function logGroup(blocks: readonly StoredBlock[]): void {
    const [from, to] = [blocks[0]?.header.number, blocks.at(-1)?.header.number];
    const transactions = blocks.reduce((sum, block) => sum + block.transactions.length, 0);
    logger.debug({ blocks: blocks.length, transactions }, `Imported #${from} to #${to}`);
  }

  return {
    started(number) {
      if (first?.number !== number || first.isImport)
        first = { number, atMs: clock.nowMs(), isImport: false };
    },
    importStarted(number) {
      if (first?.number !== number) first = { number, atMs: clock.nowMs(), isImport: true };
    },
    headChanged({ head, added, removed }) {
      if (added.length > 1) logGroup(added);
      else
        for (const block of added) {
          const tookMs = ageOf(block.header);
          if (tookMs !== undefined && first?.isImport === false) decisions?.with().observe(tookMs / 1000);
          if (logger.isEnabled("info")) logBlock(block, tookMs);
        }
      headAtMs = clock.nowMs();
      if (removed.length > 0)
        logger.warn({ blocks: removed.length, head: head.header.number }, "blocks removed");
    },
  };
}

/** Number of uneventful blocks of which one is logged at INFO. */
const TOLD_IN = 10n;
/** A block that took so long is worth a line. */
const LATE_MS = 500;
