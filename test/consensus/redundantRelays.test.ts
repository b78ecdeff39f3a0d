import { describe, expect, it } from "vitest";
import { createRedundantRelays } from "../../src/consensus/redundantRelays.ts";
import type { Address } from "../../src/primitives/address.ts";
import { prepare, roundChange } from "./edge.ts";

const addressOf = (letter: string): Address => prepare(letter, { round: 0 }).signed.author;
const [a, b, c, d] = [addressOf("a"), addressOf("b"), addressOf("c"), addressOf("d")];
const NEXT = 2n;
/** Heights after which nothing is believed any more. */
const LONG = 200n;

/** As d sees it: who brought the messages of whom, as letters; a message of b that c brings too is "bb" and "cb". */
function afterHearing(...brought: readonly string[]) {
  const relays = createRedundantRelays();
  const taken = new Set<string>();
  for (const [by = "", author = ""] of brought) {
    if (taken.has(author)) relays.repeated(author, addressOf(by));
    else relays.took(prepare(author, { round: 0 }), author, addressOf(by));
    taken.add(author);
  }
  return relays;
}

describe("a validator that need not be told what others say", () => {
  it("has brought it itself, and was shown once that we have it too", () => {
    const relays = afterHearing("bb", "cb");
    expect(relays.isServed(c, b, NEXT)).toBe(false);
    relays.show(c, b, 1n);
    expect([relays.hasShown(c, b, NEXT), relays.isServed(c, b, NEXT)]).toEqual([true, true]);
    // Of another author it says nothing, nor of another who may need it.
    expect([relays.isServed(c, a, NEXT), relays.isServed(a, b, NEXT)]).toEqual([false, false]);
  });

  it("is not the author, whose own message says only that it is connected", () => {
    const relays = afterHearing("bb");
    relays.show(b, b, 1n);
    expect(relays.isServed(b, b, NEXT)).toBe(false);
  });

  it("is found also by what comes late, after the next height began, but no later", () => {
    for (const heights of [0, 1, 2]) {
      const relays = afterHearing("bb");
      relays.show(c, b, 1n);
      for (let count = 0; count < heights; count++) relays.heightBegan();
      relays.repeated("b", c);
      expect(relays.isServed(c, b, NEXT)).toBe(heights < 2);
    }
  });

  it("is told again after some heights, or once a round was lost, by whomever that is said", () => {
    const lose = {
      heard: (relays: ReturnType<typeof afterHearing>) => relays.took(roundChange("a", 1), "late", a),
      said: (relays: ReturnType<typeof afterHearing>) => relays.spokeIn({ height: 1n, round: 1 }),
    };
    for (const isLost of [lose.heard, lose.said]) {
      const relays = afterHearing("bb", "cb");
      relays.show(c, b, 1n);
      expect(relays.isServed(c, b, LONG)).toBe(false);
      relays.spokeIn({ height: 1n, round: 0 });
      expect(relays.isServed(c, b, NEXT)).toBe(true);
      isLost(relays);
      expect(relays.isServed(c, b, NEXT)).toBe(false);
    }
  });
});

describe("all are connected with us", () => {
  it("when each was heard itself lately, and no round was lost lately", () => {
    const relays = afterHearing("aa", "bb", "ac");
    expect(relays.hearsAll([a, b], NEXT)).toBe(true);
    expect(relays.hearsAll([a, b, c], NEXT)).toBe(false);
    relays.repeated("c", c);
    expect(relays.hearsAll([a, b, c], NEXT)).toBe(true);
    expect(relays.hearsAll([a, b, c, d], NEXT)).toBe(false);
    expect(relays.hearsAll([a, b, c], LONG)).toBe(false);
    relays.spokeIn({ height: NEXT, round: 1 });
    expect(relays.hearsAll([a, b, c], 3n)).toBe(false);
  });
});
