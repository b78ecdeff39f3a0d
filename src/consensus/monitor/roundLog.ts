import { roundChangesFor, roundChangesIn } from "../../ibft/messageSet.ts";
import type { State } from "../../ibft/state.ts";
import { proposerAt } from "../../ibft/validatorSet.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/hex.ts";

/** Logs, at DEBUG, each round that begins, with its proposer and timer, and each request for another round. */
export function logRound(
  logger: Logger,
  { self, before, after }: { readonly self: Address; readonly before: State; readonly after: State },
): void {
  const { height } = after;
  if (height === undefined || height === before.height || !logger.isEnabled("debug")) return;
  const { round, validatorSet, messages } = height;
  const earlier = before.height?.parent === height.parent ? before.height : undefined;
  const known = earlier?.messages ?? [];
  if (messages !== known) {
    for (const { signed } of roundChangesIn(messages).filter((message) => !known.includes(message)))
      logger.often("debug", "another round is requested", () => ({
        height: validatorSet.height,
        round: signed.payload.round,
        by: signed.author,
        requests: roundChangesFor(messages, signed.payload.round).length,
        quorum: validatorSet.quorum,
      }));
  }
  if (earlier !== undefined && earlier.round.number === round.number) return;
  const proposer = proposerAt(validatorSet, round.number);
  logger.often("debug", "round begins", () => ({
    height: validatorSet.height,
    round: round.number,
    proposer,
    isOwn: equalBytes(proposer, self),
    lastsMs: round.timeoutAtMs - round.startedAtMs,
  }));
}
