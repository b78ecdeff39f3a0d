import type { SignedMessage } from "../../ibft/message.ts";
import { earliestTimestamp, roundTimeoutMs } from "../../ibft/roundTimes.ts";
import type { Input, Rules, State } from "../../ibft/state.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { SharedKeyLog } from "../sharedKey/log.ts";
import type { KeyNotice } from "../sharedKey/notice.ts";
import { ClockSkew } from "./clockSkew.ts";
import { describeFailedRound } from "./failedRound.ts";
import { Liveness } from "./liveness.ts";
import { logRound } from "./roundLog.ts";
import type { SignedTimes } from "./signedTimes.ts";
import { SilenceLog } from "./silenceLog.ts";
import { StallWarnings } from "./stall.ts";
import type { ConsensusStatus, ObservedMember } from "./status.ts";
import { logValidatorVotes } from "./validatorSetLog.ts";

interface MonitorParts {
  readonly rules: Pick<Rules, "self" | "schedule">;
  readonly clock: Clock;
  readonly signedTimes?: SignedTimes | undefined;
  readonly logger: Logger;
  status(): ConsensusStatus;
  readonly onTurnMissed?: ((proposer: Address) => void) | undefined;
}

/**
 * Observes consensus for the operator: which validators are present, why a round failed, how long the chain has stalled and
 * which validators it waits for, whose clock differs, and why this node is silent. It makes no decisions.
 */
export class Monitor {
  private readonly parts: MonitorParts;
  private readonly liveness: Liveness;
  private readonly skew: ClockSkew;
  private readonly silence: SilenceLog;
  private readonly sharedKeys: SharedKeyLog;
  private readonly stall: StallWarnings;
  private readonly mayWarn = createWarningLimit();
  private hasEnded = false;

  constructor(parts: MonitorParts) {
    this.parts = parts;
    this.liveness = new Liveness(parts.rules.self);
    this.skew = new ClockSkew(parts.rules.self);
    this.silence = new SilenceLog(parts.logger, parts.rules.self);
    this.sharedKeys = new SharedKeyLog(parts.logger, parts.rules.self);
    this.stall = new StallWarnings({ clock: parts.clock, logger: parts.logger, status: parts.status });
  }

  /** Must be called for each message, which arrived `waitedMs` ago. */
  received(message: SignedMessage, waitedMs: number): void {
    this.parts.signedTimes?.received(message, waitedMs);
    const nowMs = this.parts.clock.nowMs();
    this.liveness.received(message, nowMs);
    const report = this.skew.received(message, nowMs - waitedMs);
    if (report !== undefined) this.parts.logger[report.level](report.fields, report.message);
  }

  /** Must be called after each step of the state machine. */
  stepped(before: State, after: State, input: Input): void {
    if (this.hasEnded) return;
    this.silence.stepped(before, after, this.parts.clock.nowMs());
    const { head } = after;
    if (head !== undefined && head !== before.head) this.onHead(head, before.head);
    else this.onFailedRound(before, after, input);
    logRound(this.parts.logger, { self: this.parts.rules.self, before, after });
  }

  /** Must be called for each notice that two nodes run with one key. */
  receivedNotice(notice: KeyNotice): void {
    this.sharedKeys.received(notice, this.parts.clock.nowMs());
  }

  members(): readonly ObservedMember[] {
    return this.liveness
      .members()
      .map((member) => ({ ...member, clockAheadMs: this.skew.measuredOf(member.address) }));
  }

  /** Stops logging. */
  end(): void {
    this.hasEnded = true;
    this.stall.end();
  }

  private onHead(head: Head, before: Head | undefined): void {
    const nowMs = this.parts.clock.nowMs();
    const dueInMs = Math.max(
      0,
      Number(earliestTimestamp(this.parts.rules.schedule, head.header)) * 1000 - nowMs,
    );
    this.stall.headAdvanced(
      head.header.number,
      Math.max(dueInMs, roundTimeoutMs(this.parts.rules.schedule, 0)),
    );
    this.liveness.headAdvanced(head, nowMs);
    this.skew.setValidators(head.tally.validators);
    this.parts.signedTimes?.setValidators(head.tally.validators, this.parts.rules.self);
    if (before !== undefined) logValidatorVotes(this.parts.logger, { rules: this.parts.rules, before, head });
  }

  private onFailedRound(before: State, after: State, input: Input): void {
    const { self } = this.parts.rules;
    const isHeard = (address: Address): boolean => this.liveness.isPresent(address);
    const failed = describeFailedRound({ self, isHeard }, { before, after, by: input });
    if (failed === undefined) return;
    const nowMs = this.parts.clock.nowMs();
    if (failed.absentProposer !== undefined) {
      this.liveness.turnMissed(failed.absentProposer);
      this.parts.onTurnMissed?.(failed.absentProposer);
    }
    this.liveness.roundBegan(failed.nextRound, nowMs);
    const member = this.liveness.members().find(({ address }) => address === failed.absentProposer);
    const fields = { ...failed.fields, ...(member !== undefined && { missedTurns: member.missedTurns }) };
    if (this.mayWarn(failed.height, nowMs)) this.parts.logger.warn(fields, failed.message);
    else this.parts.logger.debug(fields, failed.message);
  }
}

/** Returns whether to warn of a failed round of this height, or only to log it at debug level. */
function createWarningLimit(): (height: bigint, nowMs: number) => boolean {
  let last = { atMs: Number.NEGATIVE_INFINITY, height: -1n, times: 0 };
  return (height, nowMs) => {
    const isSameHeight = height === last.height;
    const times = isSameHeight ? last.times : WARNINGS_AT_ONCE;
    if (times >= WARNINGS_AT_ONCE && nowMs - last.atMs < WARNING_PAUSE_MS) return false;
    last = { atMs: nowMs, height, times: isSameHeight ? times + 1 : 1 };
    return true;
  };
}

/**
 * Number of warnings in a row. Rounds of one height fail ever more slowly, and each causes a warning. When rounds fail
 * faster (height after height, or because of a faulty validator), only this many do, and then one per pause; the others are
 * logged at debug level.
 */
const WARNINGS_AT_ONCE = 5;
const WARNING_PAUSE_MS = 3_000;
