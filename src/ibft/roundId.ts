/** One attempt at one height. A height is the number of the block being decided: head + 1. */
export interface RoundId {
  readonly height: bigint;
  readonly round: number;
}

export function isSameRound(a: RoundId, b: RoundId): boolean {
  return a.height === b.height && a.round === b.round;
}
