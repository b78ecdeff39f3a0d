import { type IbftSchedule, parametersAt } from "../chainspec/ibftParameters.ts";
import { larger } from "../primitives/quantity.ts";
import type { Header } from "../types/header.ts";

/**
 * Length of a round, from its start: doubles with each round and is never capped, as in other clients
 * (ibft2.md#timers).
 */
export function roundTimeoutMs(schedule: IbftSchedule, round: number): number {
  return schedule.requestTimeoutSeconds * 1000 * 2 ** round;
}

/** Least time between the block of that height and its parent. */
export function blockPeriodMs(schedule: IbftSchedule, height: bigint): number {
  return parametersAt(schedule, height).blockPeriodSeconds * 1000;
}

/**
 * Earliest timestamp, in seconds, that the child of `parent` may have: the spacing rule
 * (ibft2.md#header-rules, rule 5).
 */
export function earliestTimestamp(schedule: IbftSchedule, parent: Header): bigint {
  return parent.timestamp + BigInt(parametersAt(schedule, parent.number + 1n).blockPeriodSeconds);
}

/**
 * Timestamp, in seconds, of a block first proposed at `nowMs`: the nearest second in round 0, rounded down in later
 * rounds (ibft2.md#block-timestamps), and never below the spacing rule.
 */
export function nextTimestamp(schedule: IbftSchedule, parent: Header, round: number, nowMs: number): bigint {
  const now = BigInt(round === 0 ? Math.round(nowMs / 1000) : Math.floor(nowMs / 1000));
  const earliest = earliestTimestamp(schedule, parent);
  return larger(now, earliest);
}
