import type { Address } from "../../../primitives/address.ts";
import { toHex } from "../../../primitives/hex.ts";
import { isOnLastValidator, type ValidatorVote } from "../../../types/extraData.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeAddress, decodeBoolean } from "../../parameters/parameters.ts";
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
  run([recipient, add, force = false], { backend: { consensus } }) {
    const vote: ValidatorVote = { recipient, kind: add ? "add" : "drop" };
    const validators = consensus.status().members.map(({ address }) => address);
    if (!force && isOnLastValidator(validators, vote)) return LAST_VALIDATOR;
    return consensus.proposals.propose(vote, force ? "forced" : undefined);
  },
});

const LAST_VALIDATOR = new RpcError(
  -32000,
  "The last validator cannot be voted out: nobody would be left to make blocks, or to vote. A third parameter, true, lets it",
);

/** All 20 bytes: a shorter text, which is filled up elsewhere, would be a vote on an address that nobody has the key of. */
function decodeWholeAddress(value: unknown): Address | undefined {
  return typeof value === "string" && /^(0x)?[0-9a-f]{40}$/i.test(value) ? decodeAddress(value) : undefined;
}

export const ibftDiscardValidatorVote = defineMethod({
  name: "ibft_discardValidatorVote",
  namespace: "IBFT",
  isGuarded: true,
  summary: "Discards the vote on an account; true also when there is none.",
  parameters: [required("address", decodeAddress, ADDRESS)],
  result: { name: "isDiscarded", schema: BOOLEAN },
  ports: ["consensus"],
  run([recipient], { backend }) {
    backend.consensus.proposals.discard(recipient);
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
  run: (_, { backend }) =>
    Object.fromEntries(
      backend.consensus.proposals.pending().map(({ recipient, kind }) => [toHex(recipient), kind === "add"]),
    ),
});
