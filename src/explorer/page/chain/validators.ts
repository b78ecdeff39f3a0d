import type { RecentBlock } from "./recentBlocks.ts";

/** The members of ibft_status that the page reads. */
export interface ConsensusStatus {
  readonly mode: string;
  readonly isValidator: boolean;
  readonly round: string | null;
  readonly proposer: string | null;
  readonly timers: { readonly roundAgeMs: number } | null;
  readonly quorum: string;
  readonly validators: readonly {
    readonly address: string;
    readonly isSelf: boolean;
    readonly isProposer: boolean;
    readonly isHeard: boolean | null;
    readonly missedTurns: string;
    /** Number of this node's connections to it. */
    readonly peers: string | null;
    readonly lastHeard: { readonly agoMs: number; readonly kind: string } | null;
    /** Milliseconds by which its clock was ahead at its last proposals, the oldest first; null for this node. */
    readonly clockAheadMs: readonly number[] | null;
  }[];
  readonly validatorVotes: {
    readonly needed: string;
    readonly expireAtBlock: string | null;
    readonly outstanding: readonly {
      readonly address: string;
      readonly add: readonly string[];
      readonly drop: readonly string[];
    }[];
  };
}

/** A validator's turns in the newest blocks. */
export interface Turns {
  readonly proposed: number;
  readonly missed: number;
  /** Number of blocks covered by `proposed` and `missed`: those that these validators decided. */
  readonly among: number;
  /** The validator's newest block, which may precede the counted ones. */
  readonly last: RecentBlock | undefined;
}

/**
 * Counts proposals and missed turns. Validators propose in the order of their addresses, beginning after the proposer of the
 * previous block, and each round that decides nothing passes the turn on (ibft2.md#proposer). Blocks are the newest first.
 */
export function turnsOf(
  validators: readonly string[],
  blocks: readonly RecentBlock[],
): ReadonlyMap<string, Turns> {
  const among = countOfSameSet(validators, blocks);
  const decided = blocks.slice(0, among);
  const missed = new Map<string, number>();
  for (const [index, block] of decided.entries()) {
    const parent = blocks[index + 1];
    if (parent === undefined) continue;
    for (const validator of passedOver(validators, parent.proposer, block.round))
      missed.set(validator, (missed.get(validator) ?? 0) + 1);
  }
  return new Map(
    validators.map((validator) => {
      const isOwn = ({ proposer }: RecentBlock): boolean => proposer === validator;
      const proposed = decided.filter(isOwn).length;
      return [validator, { proposed, missed: missed.get(validator) ?? 0, among, last: blocks.find(isOwn) }];
    }),
  );
}

/**
 * Number of the newest blocks that these validators decided. A block has one vote at most, so each change of the set adds or
 * removes one validator: as long as the count is the same, so is the set.
 */
function countOfSameSet(validators: readonly string[], blocks: readonly RecentBlock[]): number {
  const firstOther = blocks.findIndex(({ validatorCount }) => validatorCount !== validators.length);
  return firstOther === -1 ? blocks.length : firstOther;
}

/** Most rounds of one block that are counted. Each lasts twice as long as the one before. */
const MOST_ROUNDS = 100;

/** The proposers of the rounds before the deciding one, in order. */
export function passedOver(
  validators: readonly string[],
  previous: string,
  round: number,
): readonly string[] {
  const first = firstProposer(validators, previous);
  return Array.from({ length: Math.min(round, MOST_ROUNDS) }, (_, passed) => {
    return validators[(first + passed) % validators.length] ?? "";
  });
}

/**
 * Whether a validator is silent: according to the node, if the node takes part, or because it lost a turn. A validator whose
 * block is among the newest is not silent, whatever the node has heard at the height being decided.
 */
export function isSilent(
  member: ConsensusStatus["validators"][number] | undefined,
  {
    lost,
    last,
    newest,
    count,
  }: {
    /** Number of turns that it lost among the considered blocks. */
    readonly lost: number;
    /** Number of its newest block; undefined when it is not among them. */
    readonly last: number | undefined;
    readonly newest: number;
    /** Size of the validator set. */
    readonly count: number;
  },
): boolean {
  if (last !== undefined && newest - last <= 2 * count) return false;
  return member?.isHeard === false || Number(member?.missedTurns ?? 0) > 0 || lost > 0;
}

/** Position of the proposer of round 0 after a block of `previous`. Addresses are in lower case. */
export function firstProposer(validators: readonly string[], previous: string): number {
  const following = validators.findIndex((validator) => validator > previous);
  return Math.max(0, following);
}
