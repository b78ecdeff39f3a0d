import type { Doubt, DoubtReason } from "../../ibft/lastSigned.ts";
import type { State } from "../../ibft/state.ts";
import { isValidator } from "../../ibft/validatorVotes.ts";
import type { LogFields, Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { toHex } from "../../primitives/hex.ts";
import { REMEDY, RISK } from "../sharedKey/log.ts";

/**
 * Informs the operator that this validator is silent because it may have signed what its record lacks: why, for how long and
 * what to do; and when it takes part again (ibft2.md#lost-votes).
 */
export class SilenceLog {
  private readonly logger: Logger;
  private readonly self: Address;
  private reported: { readonly reason: DoubtReason; readonly atMs: number } | undefined;

  constructor(logger: Logger, self: Address) {
    this.logger = logger;
    this.self = self;
  }

  /** Must be called after each step of the state machine. */
  stepped(before: State, after: State, nowMs: number): void {
    const doubt = after.lastSigned?.doubt;
    if (doubt === before.lastSigned?.doubt) return;
    if (after.head === undefined || !isValidator(after.head.tally, this.self)) return;
    if (doubt !== undefined) {
      this.report(doubt, after, nowMs);
    } else if (this.reported !== undefined) {
      this.reported = undefined;
      this.logger.info(
        { height: after.head.header.number + 1n },
        "this node proposes and votes again: the network is past every height in which it may have voted",
      );
    }
  }

  private report(doubt: Doubt, { head }: State, nowMs: number): void {
    if (this.reported?.reason === doubt.reason && nowMs - this.reported.atMs < REPEAT_MS) return;
    this.reported = { reason: doubt.reason, atMs: nowMs };
    const fields: LogFields = {
      reason: doubt.reason,
      number: head?.header.number,
      upToHeight: doubt.upTo,
      untilTimestamp: doubt.untilTimestamp,
    };
    const level = doubt.reason === "ownKey" ? "error" : "warn";
    this.logger[level](fields, `${CAUSES[doubt.reason](toHex(this.self))} ${describeEnd(doubt)}`);
  }
}

/** Describes in a sentence until when a validator is silent. */
export function describeEnd({ upTo, untilTimestamp }: Doubt): string {
  const time = new Date(Number(untilTimestamp) * 1000).toISOString().slice(0, 19);
  return `This node neither proposes nor votes until the network is past height ${upTo} and has made a block after ${time}Z.`;
}

/** Short reasons why a validator is silent. */
export const SHORT_CAUSES: Readonly<Record<DoubtReason, string>> = {
  missing: "this node has no record of its votes",
  old: "this node's record of its votes is older than its votes",
  ownKey: "another node runs with this node's key",
};

const CAUSES: Readonly<Record<DoubtReason, (self: string) => string>> = {
  missing: (self) =>
    `the validator ${self} has no record of its votes, although its chain has blocks: votes.log is lost, or this is a copy ` +
    "of its key, or it never ran. Voting again at a height at which it may have voted could fork the chain. If this key runs on another " +
    "machine too, stop one of the two. Otherwise do nothing while the other validators make blocks.",
  old: (self) =>
    `the record of votes of the validator ${self} is older than its votes: the network shows votes of this key that it ` +
    "lacks. Was an old copy of votes.log or of the data folder restored, or does this key run on another machine too? Voting " +
    "again at a height at which it may have voted could fork the chain. If the key runs elsewhere, stop one of the two. Otherwise " +
    "do nothing while the other validators make blocks.",
  ownKey: (self) =>
    `TWO NODES RUN WITH THE KEY of the validator ${self}: the network shows votes of this key that this node did not sign. ` +
    `${RISK} ${REMEDY}`,
};

const REPEAT_MS = 30_000;
