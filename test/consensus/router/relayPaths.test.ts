import { describe, expect, it } from "vitest";
import { RelayPaths } from "../../../src/consensus/router/relayPaths.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { commit, prepare, roundChange } from "../edge.ts";

const addressOf = (letter: string): Address => prepare(letter, { round: 0 }).signed.author;
const [a, b, c, d] = [addressOf("a"), addressOf("b"), addressOf("c"), addressOf("d")];
const NEXT = 2n;
/** Heights after which every decline has expired. */
const LONG = 600n;

const relayerAt = (index: number): Address => bigintToFixedBytes(BigInt(index), 20) as Address;

/** A Prepare of b, received from these senders in that order. */
function afterHearing(...senders: readonly Address[]): RelayPaths {
  const paths = new RelayPaths();
  for (const [at, sender] of senders.entries()) {
    if (at === 0) paths.accepted(prepare("b", { round: 0 }), "key", sender);
    else paths.repeated("key", sender);
  }
  return paths;
}

describe("messages of an author", () => {
  it("are not needed from relayers that are slower than the author, except the first that was faster", () => {
    expect(afterHearing(b, c, a).takeRedundant("key")).toEqual([a]);
    const paths = afterHearing(c, a, d, b);
    expect(paths.takeRedundant("key")).toEqual([a, d]);
    // Each decline is sent once in some heights.
    expect(paths.takeRedundant("key")).toEqual([]);
    paths.accepted(prepare("b", { round: 1 }), "other", b);
    paths.repeated("other", a);
    expect(paths.takeRedundant("other")).toEqual([]);
  });

  it("are needed from several relayers when the author is not connected to us", () => {
    const relayers = Array.from({ length: 9 }, (_, index) => relayerAt(index));
    expect(afterHearing(...relayers.slice(0, 8)).takeRedundant("key")).toEqual([]);
    expect(afterHearing(...relayers).takeRedundant("key")).toEqual(relayers.slice(8));
  });

  it("are declined by a second copy, until it expires or is forgotten", () => {
    const paths = afterHearing(b, c);
    expect([paths.hasSent("key", c), paths.hasDeclined(c, b, NEXT)]).toEqual([true, false]);
    paths.repeated("key", c);
    expect([paths.hasDeclined(c, b, NEXT), paths.hasDeclined(c, b, LONG)]).toEqual([true, false]);
    expect([paths.hasDeclined(c, a, NEXT), paths.hasDeclined(a, b, NEXT)]).toEqual([false, false]);
    paths.forgetDecline(c, a);
    expect(paths.hasDeclined(c, b, NEXT)).toBe(true);
    paths.forgetDecline(c, b);
    expect(paths.hasDeclined(c, b, NEXT)).toBe(false);
    paths.repeated("key", c);
    paths.forgetDecline(c);
    expect(paths.hasDeclined(c, b, NEXT)).toBe(false);
  });

  it("may be declined during the next height, but not later", () => {
    for (const heights of [0, 1, 2]) {
      const paths = afterHearing(b, c);
      for (let count = 0; count < heights; count++) paths.heightBegan();
      paths.repeated("key", c);
      expect(paths.hasDeclined(c, b, NEXT)).toBe(heights < 2);
    }
  });
});

describe("a validator that has sent a message of a later stage", () => {
  it("does not need earlier ones of that round, except RoundChanges", () => {
    const paths = new RelayPaths();
    const before = prepare("b", { round: 1 });
    expect(paths.isPast(a, before)).toBe(false);
    paths.accepted(commit("a", { round: 1 }), "commit", a);
    paths.accepted(prepare("a", { round: 1 }), "prepare", a);
    expect(paths.isPast(a, before)).toBe(true);
    expect(paths.isPast(a, commit("b", { round: 1 }))).toBe(false);
    expect(paths.isPast(a, prepare("b", { round: 2 }))).toBe(false);
    expect(paths.isPast(a, roundChange("b", 1))).toBe(false);
    paths.heightBegan();
    expect(paths.isPast(a, before)).toBe(false);
  });
});
