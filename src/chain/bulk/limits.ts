/** Bounds of one group of a bulk import, whichever is reached first. */
export interface GroupLimits {
  readonly bytes: number;
  readonly ms: number;
  readonly blocks: number;
  readonly transactions: number;
}

export const GROUP_LIMITS: GroupLimits = {
  /** A group fits LevelDB's write buffer. */
  bytes: 8 * 1024 * 1024,
  /** This is how much a kill may cost, and how far the head lags behind. */
  ms: 500,
  /** This bounds one turn of the head's listeners, which go through all of its blocks and transactions at once. */
  blocks: 256,
  transactions: 4096,
};
