import type { Address } from "../primitives/address.ts";

/** IBFT 2.0 settings in force at a height (ibft2.md#parameters). */
export interface IbftParameters {
  readonly blockPeriodSeconds: number;
  readonly blockRewardWei: bigint;
  /** Receives reward and fees instead of the proposer, and is what COINBASE returns. */
  readonly miningBeneficiary?: Address;
}

/** The settings over the life of a chain. */
export interface IbftSchedule {
  readonly epochLength: bigint;
  /** Base of the round timer: round r waits this times 2^r seconds. */
  readonly requestTimeoutSeconds: number;
  readonly gossipedHistoryLimit: number;
  readonly messageQueueLimit: number;
  readonly duplicateMessageLimit: number;
  readonly futureMessagesLimit: number;
  readonly futureMessagesMaxDistance: number;
  /** Sorted by block, the first from block 0: each entry holds in full from its block on. */
  readonly eras: readonly IbftEra[];
}

export interface IbftEra {
  readonly fromBlock: bigint;
  readonly parameters: IbftParameters;
  /**
   * A transition that names validators: they are the set used for block `fromBlock`
   * (ibft2.md#validator-transitions).
   */
  readonly validators?: readonly Address[];
}

/** Settings in force for block `number`: those of the last era that has begun. */
export function parametersAt(schedule: IbftSchedule, number: bigint): IbftParameters {
  const era = schedule.eras.findLast(({ fromBlock }) => fromBlock <= number);
  if (era === undefined) throw new RangeError("a schedule has an era from block 0");
  return era.parameters;
}
