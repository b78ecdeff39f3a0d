import { expect, it } from "vitest";
import { VoteProposals } from "../../../src/consensus/voteProposals.ts";
import { tallyOf } from "../../../src/ibft/validatorVotes.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { ibftDiscardValidatorVote, ibftProposeValidatorVote } from "../../../src/rpc/methods/ibft/votes.ts";
import { aCore, QUIET_CONSENSUS } from "../../builders/anRpcBackend.ts";
import { toyAddresses } from "../../builders/toyChain.ts";
import { requesterFor } from "../requester.ts";

const [self, other] = toyAddresses(2).map((address) => expectDefined(address, "an address"));
const SELF = expectDefined(self, "this validator");
const OTHER = expectDefined(other, "another validator");

/** Proposals, and calls to vote while these are the validators. */
function voting(validators: readonly (typeof SELF)[]) {
  const proposals = new VoteProposals();
  const members = validators.map((address) => ({
    address,
    isPresent: true,
    missedTurns: 0,
    connections: 1,
    clockAheadMs: [],
    lastHeard: undefined,
  }));
  const { consensus } = aCore({
    consensus: { proposals, status: () => ({ ...QUIET_CONSENSUS, members }) },
  });
  return { proposals, ask: requesterFor([ibftProposeValidatorVote], { consensus }) };
}

it("the last validator is voted out by force alone", async () => {
  const alone = voting([SELF]);
  const vote = (...more: readonly unknown[]) =>
    alone.ask("ibft_proposeValidatorVote", toHex(SELF), false, ...more);
  const refused = {
    code: -32000,
    message:
      "The last validator cannot be voted out: nobody would be left to make blocks, or to vote. A third parameter, true, lets it",
  };
  for (const more of [[], [false], [null]]) expect(await vote(...more)).toEqual(refused);
  expect(alone.proposals.pending()).toEqual([]);
  expect(await alone.ask("ibft_proposeValidatorVote", toHex(OTHER), false)).toBe(true);
  expect(await vote(true)).toBe(true);
  expect(alone.proposals.take(tallyOf([SELF]), SELF)).toEqual({ recipient: SELF, kind: "drop" });
});

it("a vote on itself that was taken while there were others is not cast by the last validator", async () => {
  const { proposals, ask } = voting([SELF, OTHER]);
  expect(await ask("ibft_proposeValidatorVote", toHex(SELF), false)).toBe(true);
  expect(proposals.take(tallyOf([SELF]), SELF)).toBeUndefined();
  expect(proposals.take(tallyOf([SELF, OTHER]), SELF)).toEqual({ recipient: SELF, kind: "drop" });
});

it("a vote is for an address of 20 bytes, in any case and without 0x, and for no shorter text", () => {
  const read = (method: typeof ibftProposeValidatorVote | typeof ibftDiscardValidatorVote, text: unknown) =>
    method.parameters[0]?.decode(text);
  const digits = "Ab".repeat(20);
  for (const text of [digits, `0x${digits}`]) {
    const address = read(ibftProposeValidatorVote, text);
    expect(address instanceof Uint8Array && toHex(address)).toBe(`0x${digits.toLowerCase()}`);
  }
  for (const text of ["0x", "0x1", digits.slice(1), `0x${digits}00`, 7])
    expect([text, read(ibftProposeValidatorVote, text)]).toEqual([text, undefined]);
  // A vote that was taken by an earlier release can be discarded.
  expect(read(ibftDiscardValidatorVote, "0x1")).toBeInstanceOf(Uint8Array);
});
