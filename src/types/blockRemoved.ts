/**
 * A block was removed because it is older than `--block-history`, while it was read or between two reads. No damage: the start
 * of the history says so (storage/historyStart.ts).
 */
export class BlockRemoved extends Error {
  override name = "BlockRemoved";

  constructor(number: bigint) {
    super(`Block ${number} was removed: it lies before the start of this node's history.`);
  }
}
