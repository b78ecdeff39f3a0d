import type { HeadChange } from "../chain/chain.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { StoredBlock } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";

/** One line for each block, with what an operator looks for first. */
export interface BlockLog {
  /** Work on a block begins: it is being built, or checked. What counts is the first time for its number. */
  begun(number: bigint): void;
  headChanged(change: HeadChange): void;
}

export function createBlockLog({
  clock,
  logger,
}: {
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
}): BlockLog {
  let first: { readonly number: bigint; readonly atMs: number } | undefined;

  function tell({ header, hash, transactions }: StoredBlock): void {
    const { number, gasUsed, coinbase: proposer } = header;
    const extra = decodeExtraData(header.extraData);
    logger.info(
      {
        number,
        hash,
        transactions: transactions.length,
        gasUsed,
        proposer,
        ...(extra.ok && { round: extra.value.round }),
        ...(first?.number === number && { tookMs: clock.nowMs() - first.atMs }),
      },
      "block committed",
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
