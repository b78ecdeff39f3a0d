import { expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { ibftDiscardValidatorVote, ibftProposeValidatorVote } from "../../../src/rpc/methods/ibft/votes.ts";

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
