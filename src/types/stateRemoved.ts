/**
 * A state older than `--state-history` was removed while it was read. This is no damage: the start of the states says so
 * (storage/historyStart.ts).
 */
export class StateRemoved extends Error {
  override name = "StateRemoved";
  readonly number: bigint;

  constructor(number: bigint) {
    super(`The state of block ${number} was removed: it lies before the first one that this node keeps.`);
    this.number = number;
  }
}
