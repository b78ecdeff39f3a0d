import type { Address } from "../primitives/address.ts";

/** IBFT 2.0 settings in force at a height (ibft2.md#parameters). */
export interface IbftParameters {
  readonly blockPeriodSeconds: number;
  readonly blockRewardWei: bigint;
  /** Receives reward and fees instead of the proposer; the opcode COINBASE returns it. */
  readonly miningBeneficiary?: Address;
}

/** The settings of a chain from genesis on. */
export interface IbftSchedule {
  readonly epochLength: bigint;
  /** Length of round 0; round r lasts 2^r times as long. */
  readonly requestTimeoutSeconds: number;
  readonly gossipedHistoryLimit: number;
  readonly messageQueueLimit: number;
  readonly duplicateMessageLimit: number;
  readonly futureMessagesLimit: number;
  readonly futureMessagesMaxDistance: number;
  /** Eras sorted by block, the first from block 0: each has all settings that apply from its block on. */
  readonly eras: readonly IbftEra[];
}

export interface IbftEra {
  readonly fromBlock: bigint;
  readonly parameters: IbftParameters;
  /** Validators set by a transition, for block `fromBlock` (ibft2.md#validator-transitions). */
  readonly validators?: readonly Address[];
}

/** Settings that apply to block `number`: those of the last era that has begun. */
export function parametersAt(schedule: IbftSchedule, number: bigint): IbftParameters {
  const era = schedule.eras.findLast(({ fromBlock }) => fromBlock <= number);
  if (era === undefined) throw new RangeError("a schedule has an era from block 0");
  return era.parameters;
}
