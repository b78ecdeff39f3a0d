import type { Head, Input } from "../../ibft/input.ts";
import type { Authored } from "../../ibft/message.ts";
import type { Rules, State } from "../../ibft/state.ts";
import { earliestTimestamp, roundTimeoutMs } from "../../ibft/timeouts.ts";
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
 * Looks on for the operator: who is there, why a round was lost, how long there has been no block and whom it waits for,
 * whose clock differs. It decides nothing.
 */
export interface Monitor {
  /** It came `waitedMs` ago. */
  heard(message: Authored, waitedMs: number): void;
  /** The machine took one step. */
  stepped(before: State, after: State, input: Input): void;
  members(): readonly Member[];
  /** Says nothing more. */
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
  let toldOfLoss = { atMs: Number.NEGATIVE_INFINITY, height: -1n, times: 0 };

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
    skew.validatorsAre(head.tally.validators);
    if (before !== undefined) logValidatorVotes(logger, { rules, before, head });
    const dueInMs = Math.max(0, Number(earliestTimestamp(rules.schedule, head.header)) * 1000 - nowMs);
    const patienceMs = Math.max(dueInMs, roundTimeoutMs(rules.schedule, 0)) + ROUND_CHANGE_MS;
    watchFor(Math.max(SHORTEST_STALL_MS, patienceMs), FIRST_REPEAT_MS);
  }

  /** Warns in `delayMs` unless a block comes, then again and again, ever more rarely. */
  function watchFor(delayMs: number, repeatMs: number): void {
    timer?.cancel();
    timer = clock.at(clock.nowMs() + delayMs, () => {
      isStalled = true;
      const nowMs = clock.nowMs();
      const { facts, message } = describeStall(status(), { nowMs, headAtMs });
      logger.warn(facts, message);
      watchFor(repeatMs, Math.min(repeatMs * 2, LONGEST_REPEAT_MS));
    });
  }

  function onFailedRound(before: State, after: State, input: Input): void {
    const { self } = rules;
    const lost = describeFailedRound({ self, isHeard: liveness.isPresent }, { before, after, by: input });
    if (lost === undefined) return;
    const nowMs = clock.nowMs();
    if (lost.missed !== undefined) {
      liveness.turnMissed(lost.missed);
      onTurnMissed?.(lost.missed);
    }
    liveness.roundBegan(lost.nextRound, nowMs);
    const member = liveness.members().find(({ address }) => address === lost.missed);
    const facts = { ...lost.facts, ...(member !== undefined && { missedTurns: member.missedTurns }) };
    const times = lost.height === toldOfLoss.height ? toldOfLoss.times : LOSSES_TOLD_AT_ONCE;
    if (times >= LOSSES_TOLD_AT_ONCE && nowMs - toldOfLoss.atMs < LOSS_PAUSE_MS) {
      logger.debug(facts, lost.message);
      return;
    }
    toldOfLoss = {
      atMs: nowMs,
      height: lost.height,
      times: lost.height === toldOfLoss.height ? times + 1 : 1,
    };
    logger.warn(facts, lost.message);
  }

  return {
    heard(message, waitedMs) {
      const nowMs = clock.nowMs();
      liveness.heard(message, nowMs);
      const news = skew.heard(message, nowMs - waitedMs);
      if (news !== undefined) logger[news.level](news.facts, news.message);
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

/** No warning before that much silence, in which a restart or a busy disk may pass. */
const SHORTEST_STALL_MS = 5_000;

/** In that time after a round's end those who live have asked for the next one. */
const ROUND_CHANGE_MS = 2_000;

const FIRST_REPEAT_MS = 10_000;
const LONGEST_REPEAT_MS = 60_000;

/**
 * Rounds of one height end ever more slowly, and each is told. Where they are lost faster, height after height or because
 * somebody leads us about, so many are told at once, and then one in that time; the others are told at debug.
 */
const LOSSES_TOLD_AT_ONCE = 5;
const LOSS_PAUSE_MS = 3_000;
