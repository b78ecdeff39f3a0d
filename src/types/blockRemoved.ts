/**
 * A block older than `--block-history` was removed while it was read or between two reads. This is no damage: the start of
 * the history says so (storage/historyStart.ts).
 */
export class BlockRemoved extends Error {
  override name = "BlockRemoved";
  readonly number: bigint;

  constructor(number: bigint) {
    super(`Block ${number} was removed: it lies before the start of this node's history.`);
    this.number = number;
  }
}
