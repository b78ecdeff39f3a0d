import type { Rules } from "../../ibft/state.ts";
import { type Head, quorum } from "../../ibft/validatorSet.ts";
import { isEpochBlock, isValidator } from "../../ibft/validatorVotes.ts";
import type { Logger } from "../../observability/logger.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { decodeExtraData } from "../../types/extraData.ts";
import { epochBlockFrom } from "./status.ts";

/** Logs every change of the validator set, and for each vote on a validator the tally and its expiry. */
export function logValidatorVotes(
  logger: Logger,
  {
    rules,
    before,
    head,
  }: { readonly rules: Pick<Rules, "self" | "schedule">; readonly before: Head; readonly head: Head },
): void {
  if (!logger.isEnabled("info")) return;
  const { number, coinbase: voter } = head.header;
  const { validators, outstanding } = head.tally;
  const added = validators.filter((address) => !isValidator(before.tally, address));
  const dropped = before.tally.validators.filter((address) => !isValidator(head.tally, address));
  for (const address of [...added, ...dropped]) {
    const change = added.includes(address) ? "is a validator" : "is no longer a validator";
    const name = equalBytes(address, rules.self) ? `this node (${toHex(address)})` : toHex(address);
    logger.info(
      { number, validators: validators.length, quorum: quorum(validators.length) },
      `${name} ${change} from block ${number + 1n} on; there are ${validators.length} now, quorum ${quorum(validators.length)}`,
    );
  }
  const extra = decodeExtraData(head.header.extraData);
  const vote = extra.ok ? extra.value.vote : undefined;
  if (vote === undefined || isEpochBlock(rules.schedule, number)) return;
  const votes = outstanding.find(({ recipient }) => equalBytes(recipient, vote.recipient))?.[vote.kind]
    .length;
  if (votes === undefined) return;
  const needed = Math.floor(validators.length / 2) + 1;
  const epochBlock = epochBlockFrom(rules.schedule.epochLength, number + 1n);
  logger.info(
    { number, voter, recipient: vote.recipient, votes, needed, epochBlock },
    `vote to ${vote.kind} ${toHex(vote.recipient)}: ${votes} of ${needed} needed; ` +
      `votes without a majority expire at block ${epochBlock}, in ${epochBlock - number} blocks`,
  );
}
