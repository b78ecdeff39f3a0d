import { describe, expect, it } from "vitest";
import { RelayPolicy } from "../../../src/consensus/router/relayPolicy.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { asking, block, PARENT, prepared, proposal, roundChange } from "../edge.ts";

const MIB = 1024 ** 2;
const LARGE = 9 * MIB;

describe("the relay policy", () => {
  it("allows a block of the round's proposer, but not arbitrary bytes", () => {
    const policy = new RelayPolicy(createHandClock(0));
    const isPassedOn = (message: Parameters<typeof policy.take>[0]): boolean =>
      policy.take(message, LARGE, PARENT);
    expect(isPassedOn(proposal("b", block("Y")))).toBe(false);
    expect(isPassedOn(proposal("b", block("Y", 1, "b")))).toBe(false);
    expect(isPassedOn(roundChange("b", 1, { ...prepared("abc"), candidate: block("Y") }))).toBe(false);
    expect(isPassedOn(proposal("a", block("X")))).toBe(true);
    expect(isPassedOn(roundChange("b", 1, prepared("abc")))).toBe(true);
  });

  it("allows one large message per kind and round, a few small ones, and a bounded number per height", () => {
    const policy = new RelayPolicy(createHandClock(0));
    const [one, other] = [proposal("a", block("X")), proposal("a", block("Y"))];
    const passedOn = [one, other, one].map((message) => policy.take(message, LARGE, PARENT));
    expect(passedOn).toEqual([true, false, false]);
    const small = [0, 1, 2, 3, 4].map(() => policy.take(other, 1_000, PARENT));
    expect(small).toEqual([true, true, true, true, false]);
    const takesRoundChange = (round: number): boolean => policy.take(roundChange("a", round), 1_000, PARENT);
    for (let round = 1; round <= 251; round++) expect(takesRoundChange(round)).toBe(true);
    expect(takesRoundChange(252)).toBe(false);
    policy.heightBegan();
    expect(policy.take(other, LARGE, PARENT)).toBe(true);
  });

  it("is not used up by variants that others produce", () => {
    const policy = new RelayPolicy(createHandClock(0));
    const genuine = proposal("b", block("X", 1, "b"), asking("bcd", 1));
    const forged = proposal("b", block("X", 1, "b"), asking("bc", 1));
    for (let count = 0; count < 300; count++) expect(policy.take(forged, 1_000, PARENT)).toBe(false);
    expect(policy.take(genuine, 1_000, PARENT)).toBe(true);
  });

  it("is bounded in bytes by a bucket that refills with time, at any height", () => {
    const clock = createHandClock(0);
    const policy = new RelayPolicy(clock);
    const ask = (round: number): boolean =>
      policy.take(roundChange("b", round, prepared("abc")), LARGE, PARENT);
    expect([1, 2, 3, 4].map(ask)).toEqual([true, true, true, false]);
    policy.heightBegan();
    expect(ask(5)).toBe(false);
    expect(policy.take(roundChange("c", 5, prepared("abc")), LARGE, PARENT)).toBe(true);
    clock.advanceBy(5_000);
    expect([6, 7].map(ask)).toEqual([true, false]);
    clock.advanceBy(60_000);
    expect([8, 9, 10, 11].map(ask)).toEqual([true, true, true, false]);
  });
});
