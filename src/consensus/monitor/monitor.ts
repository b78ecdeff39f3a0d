import type { Authored } from "../../ibft/message.ts";
import { earliestTimestamp, roundTimeoutMs } from "../../ibft/roundTimes.ts";
import type { Input, Rules, State } from "../../ibft/state.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { createClockSkew } from "./clockSkew.ts";
import { describeFailedRound } from "./failedRound.ts";
import { createLiveness, type Member } from "./liveness.ts";
import { describeStall } from "./stall.ts";
import type { ConsensusStatus } from "./status.ts";
import { logValidatorVotes } from "./validatorSetLog.ts";

/**
 * Observes consensus for the operator: which validators are present, why a round failed, how long the chain has stalled and
 * which validators it waits for, whose clock differs. It makes no decisions.
 */
export interface Monitor {
  /** To be called for each message; it arrived `waitedMs` ago. */
  heard(message: Authored, waitedMs: number): void;
  /** To be called after each step of the state machine. */
  stepped(before: State, after: State, input: Input): void;
  members(): readonly Member[];
  /** Stops logging. */
  end(): void;
}

export interface MonitorParts {
  readonly rules: Pick<Rules, "self" | "schedule">;
  readonly clock: Clock;
  readonly logger: Logger;
  status(): ConsensusStatus;
  readonly onTurnMissed?: ((proposer: Address) => void) | undefined;
}

export function createMonitor({ rules, clock, logger, status, onTurnMissed }: MonitorParts): Monitor {
  const liveness = createLiveness(rules.self);
  const skew = createClockSkew(rules.self);
  let timer: Timer | undefined;
  let headAtMs = 0;
  let isStalled = false;
  let hasEnded = false;
  let lastWarning = { atMs: Number.NEGATIVE_INFINITY, height: -1n, times: 0 };

  function onHead(head: Head, before: Head | undefined): void {
    const nowMs = clock.nowMs();
    const { number } = head.header;
    if (isStalled) {
      const seconds = Math.round((nowMs - headAtMs) / 1000);
      logger.info({ number }, `blocks again, after ${seconds} s without one`);
    }
    isStalled = false;
    headAtMs = nowMs;
    liveness.headAdvanced(head, nowMs);
    skew.setValidators(head.tally.validators);
    if (before !== undefined) logValidatorVotes(logger, { rules, before, head });
    const dueInMs = Math.max(0, Number(earliestTimestamp(rules.schedule, head.header)) * 1000 - nowMs);
    const expectedWithinMs = Math.max(dueInMs, roundTimeoutMs(rules.schedule, 0)) + ROUND_CHANGE_MS;
    scheduleWarning(Math.max(MIN_STALL_MS, expectedWithinMs), FIRST_REPEAT_MS);
  }

  /** Warns in `delayMs` unless a block arrives, then repeatedly, at growing intervals. */
  function scheduleWarning(delayMs: number, repeatMs: number): void {
    timer?.cancel();
    timer = clock.at(clock.nowMs() + delayMs, () => {
      isStalled = true;
      const nowMs = clock.nowMs();
      const { facts, message } = describeStall(status(), { nowMs, headAtMs });
      logger.warn(facts, message);
      scheduleWarning(repeatMs, Math.min(repeatMs * 2, MAX_REPEAT_MS));
    });
  }

  function onFailedRound(before: State, after: State, input: Input): void {
    const { self } = rules;
    const failed = describeFailedRound({ self, isHeard: liveness.isPresent }, { before, after, by: input });
    if (failed === undefined) return;
    const nowMs = clock.nowMs();
    if (failed.absentProposer !== undefined) {
      liveness.turnMissed(failed.absentProposer);
      onTurnMissed?.(failed.absentProposer);
    }
    liveness.roundBegan(failed.nextRound, nowMs);
    const member = liveness.members().find(({ address }) => address === failed.absentProposer);
    const facts = { ...failed.facts, ...(member !== undefined && { missedTurns: member.missedTurns }) };
    const isSameHeight = failed.height === lastWarning.height;
    const times = isSameHeight ? lastWarning.times : WARNINGS_AT_ONCE;
    if (times >= WARNINGS_AT_ONCE && nowMs - lastWarning.atMs < WARNING_PAUSE_MS) {
      logger.debug(facts, failed.message);
      return;
    }
    lastWarning = { atMs: nowMs, height: failed.height, times: isSameHeight ? times + 1 : 1 };
    logger.warn(facts, failed.message);
  }

  return {
    heard(message, waitedMs) {
      const nowMs = clock.nowMs();
      liveness.heard(message, nowMs);
      const report = skew.heard(message, nowMs - waitedMs);
      if (report !== undefined) logger[report.level](report.facts, report.message);
    },
    stepped(before, after, input) {
      if (hasEnded) return;
      const { head } = after;
      if (head !== undefined && head !== before.head) onHead(head, before.head);
      else onFailedRound(before, after, input);
    },
    members: liveness.members,
    end() {
      hasEnded = true;
      timer?.cancel();
    },
  };
}

/** No warning before: shorter gaps can be due to a restart or a busy disk. */
const MIN_STALL_MS = 5_000;

/** Within this time after a round's end the live validators have requested the next one. */
const ROUND_CHANGE_MS = 2_000;

const FIRST_REPEAT_MS = 10_000;
const MAX_REPEAT_MS = 60_000;

/**
 * Rounds of one height fail ever more slowly, and each is warned of. Where rounds fail faster (height after height, or
 * because of a faulty validator) so many are warned of, and then one per pause; the others are logged at debug level.
 */
const WARNINGS_AT_ONCE = 5;
const WARNING_PAUSE_MS = 3_000;
