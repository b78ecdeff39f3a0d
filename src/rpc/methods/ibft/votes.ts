import { toHex } from "../../../primitives/hex.ts";
import type { ValidatorVote } from "../../../types/extraData.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeAddress, decodeBoolean, decodeWholeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, BOOLEAN, OBJECT } from "../../schemas.ts";

/**
 * The operator's votes on the validator set (json-rpc.md#ibft): the node casts each in the blocks that it builds until the
 * change has happened, and lists it until it is discarded. A restart discards all of them.
 */

export const ibftProposeValidatorVote = defineMethod({
  name: "ibft_proposeValidatorVote",
  namespace: "IBFT",
  isGuarded: true,
  summary:
    "Votes from now on to add an account to the validators (true), or to remove it (false). `force` lets the last validator remove itself.",
  parameters: [
    required("address", decodeWholeAddress, ADDRESS),
    required("add", decodeBoolean, BOOLEAN),
    optional("force", decodeBoolean, BOOLEAN),
  ],
  result: { name: "isTaken", schema: BOOLEAN },
  ports: ["consensus"],
  async run([recipient, add, force = false], context) {
    const vote: ValidatorVote = { recipient, kind: add ? "add" : "drop" };
    const outcome = await context.backend.consensus.propose(vote, force, context);
    return outcome === "lastValidator" ? LAST_VALIDATOR : outcome === "proposed";
  },
});

const LAST_VALIDATOR = new RpcError(
  -32000,
  "The last validator cannot be voted out: nobody would be left to make blocks, or to vote. A third parameter, true, lets it",
);

export const ibftDiscardValidatorVote = defineMethod({
  name: "ibft_discardValidatorVote",
  namespace: "IBFT",
  isGuarded: true,
  summary: "Discards the vote on an account; true also when there is none.",
  parameters: [required("address", decodeAddress, ADDRESS)],
  result: { name: "isDiscarded", schema: BOOLEAN },
  ports: ["consensus"],
  async run([recipient], context) {
    await context.backend.consensus.discard(recipient, context);
    return true;
  },
});

export const ibftGetPendingVotes = defineMethod({
  name: "ibft_getPendingVotes",
  namespace: "IBFT",
  summary: "The votes that this node was told to cast: true to add, false to remove.",
  parameters: [],
  result: { name: "votes", schema: OBJECT },
  ports: ["consensus"],
  mayOverlap: "many",
  async run(_, context) {
    const votes = await context.backend.consensus.pending(context);
    return Object.fromEntries(votes.map(({ recipient, kind }) => [toHex(recipient), kind === "add"]));
  },
});
