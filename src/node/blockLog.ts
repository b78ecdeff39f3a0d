import type { HeadChange } from "../chain/chain.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";

/** One line for each block, with what an operator looks for first, and how long blocks take as a metric. */
export interface BlockLog {
  /** Work on a block begins: it is being built, or checked. Only blocks that this node takes part in count as decided. */
  begun(number: bigint): void;
  /** A block that a peer gave is being imported. */
  importBegun(number: bigint): void;
  headChanged(change: HeadChange): void;
}

export interface BlockLogParts {
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Our address as a validator: tells blocks of our own from those of others. */
  readonly self: Address;
  /** Transactions that wait for a block. */
  pending(): number;
  readonly metrics?: Metrics | undefined;
}

export function createBlockLog({ clock, logger, self, pending, metrics }: BlockLogParts): BlockLog {
  let first: { readonly number: bigint; readonly atMs: number; readonly isImport: boolean } | undefined;
  let headAtMs = Number.NEGATIVE_INFINITY;
  const decisions = metrics?.summary({
    category: "BFT",
    name: "decision_seconds",
    help: "Time from the moment a block is due until it is durably the head, seconds",
  });

  /**
   * Milliseconds since the block was due: its timestamp had come, and its parent was there. Where the clocks of others
   * are ahead of ours, or rounds were lost, since work on it began. Of a block that was but imported, what that took.
   */
  function ageOf({ number, timestamp }: Header): number | undefined {
    if (first?.number !== number) return undefined;
    if (first.isImport) return clock.nowMs() - first.atMs;
    return clock.nowMs() - Math.min(first.atMs, Math.max(headAtMs, Number(timestamp) * 1000));
  }

  function tell({ header, hash, transactions }: StoredBlock, tookMs: number | undefined): void {
    const { number, gasUsed, gasLimit, coinbase: proposer } = header;
    const extra = decodeExtraData(header.extraData);
    logger.info(
      {
        number,
        hash,
        transactions: transactions.length,
        pending: pending(),
        gasUsed,
        gasPercent: Number((gasUsed * 1000n) / gasLimit) / 10,
        proposer,
        ...(extra.ok && { round: extra.value.round }),
        ...(tookMs !== undefined && { tookMs }),
      },
      // The words that operators look for (options.md#log-lines).
      `${equalBytes(proposer, self) ? "Produced" : "Imported"} #${number}`,
    );
  }

  return {
    begun(number) {
      if (first?.number !== number || first.isImport)
        first = { number, atMs: clock.nowMs(), isImport: false };
    },
    importBegun(number) {
      if (first?.number !== number) first = { number, atMs: clock.nowMs(), isImport: true };
    },
    headChanged({ head, added, removed }) {
      for (const block of added) {
        const tookMs = ageOf(block.header);
        if (tookMs !== undefined && first?.isImport === false) decisions?.with().observe(tookMs / 1000);
        if (logger.isEnabled("info")) tell(block, tookMs);
      }
      headAtMs = clock.nowMs();
      if (removed.length > 0)
        logger.warn({ blocks: removed.length, head: head.header.number }, "blocks taken away");
    },
  };
}
