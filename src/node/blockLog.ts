import type { HeadChange } from "../chain/chain.ts";
import type { Logger } from "../logging/logger.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";

/** One line for each block, with what an operator looks for first. */
export interface BlockLog {
  /** Work on a block begins: it is being built, or checked. What counts is the first time for its number. */
  begun(number: bigint): void;
  headChanged(change: HeadChange): void;
}

export interface BlockLogParts {
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Our address as a validator: tells blocks of our own from those of others. */
  readonly self: Address;
  /** Transactions that wait for a block. */
  pending(): number;
}

export function createBlockLog({ clock, logger, self, pending }: BlockLogParts): BlockLog {
  let first: { readonly number: bigint; readonly atMs: number } | undefined;

  function tell({ header, hash, transactions }: StoredBlock): void {
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
        ...(first?.number === number && { tookMs: clock.nowMs() - first.atMs }),
      },
      // The words that operators look for (operations.md §11.2).
      `${equalBytes(proposer, self) ? "Produced" : "Imported"} #${number}`,
    );
  }

  return {
    begun(number) {
      if (first?.number !== number) first = { number, atMs: clock.nowMs() };
    },
    headChanged({ head, added, removed }) {
      if (logger.isShown("info")) added.forEach(tell);
      if (removed.length > 0)
        logger.warn({ blocks: removed.length, head: head.header.number }, "blocks taken away");
    },
  };
}
