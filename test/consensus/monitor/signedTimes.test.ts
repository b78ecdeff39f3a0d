import { beforeEach, describe, expect, it } from "vitest";
import { SignedTimes } from "../../../src/consensus/monitor/signedTimes.ts";
import type { SignedMessage } from "../../../src/ibft/message.ts";
import type { Address } from "../../../src/primitives/address.ts";
import type { Clock } from "../../../src/primitives/clock.ts";
import { createMonotonicClock, STEP_LASTS_MS } from "../../../src/primitives/monotonicClock.ts";
import { aCandidate, aGenesisHead, tokenSignature, toyAddress } from "../../builders/toyChain.ts";

const START_SECONDS = 1_700_000_000;
const VALIDATORS = [1, 2, 3, 4, 5, 6, 7].map(toyAddress);
const [SELF, BOB, CAROL, DAVE] = VALIDATORS as [Address, Address, Address, Address];

let passedMs: number;
/** By how much this machine's clock is ahead. */
let aheadMs: number;
let followed: string[];
let clock: Clock;
let times: SignedTimes;

/** A machine whose clock has been wrong by `wrongMs` since the start, in a network of `count` validators. */
function begin(wrongMs: number, count = 4): void {
  passedMs = 0;
  aheadMs = wrongMs;
  followed = [];
  times = new SignedTimes(() => 77_000 + passedMs);
  times.setValidators(VALIDATORS.slice(0, count), SELF);
  clock = createMonotonicClock({
    wallMs: () => START_SECONDS * 1000 + passedMs + aheadMs,
    monotonicMs: () => passedMs,
    sinceBootMs: () => 77_000 + passedMs,
    isConfirmed: (wallMs, stepMs) => times.confirm(wallMs, stepMs),
    onStep: () => undefined,
    onReturn: () => undefined,
    onFollow: (_, why) => followed.push(why),
  });
}

beforeEach(() => begin(0));

/** A proposal with its author's time, whose clock is right unless given, arrives now. */
function hear(author: Address, { theirsMs = 0, waitedMs = 0 } = {}): void {
  const timestamp = BigInt(START_SECONDS + Math.round((passedMs - waitedMs + theirsMs) / 1000));
  const parent = aGenesisHead(VALIDATORS);
  const candidate = aCandidate(parent, { timestamp, coinbase: author });
  const payload = { kind: "proposal", height: 1n, round: 0, digest: candidate.digest } as const;
  const message: SignedMessage = {
    kind: "proposal",
    signed: { payload, author, signature: tokenSignature(author, candidate.digest) },
    candidate,
  };
  times.received(message, waitedMs);
}

/** By how much the node's clock is ahead of the right time. */
const wrongMs = (): number => clock.nowMs() - START_SECONDS * 1000 - passedMs;

describe("a clock that is set right", () => {
  it.each([-100_000, 100_000, -4000, 3_600_000])(
    "is followed once two of three other validators have signed the new time, when it was wrong by %i ms",
    (wrong) => {
      begin(wrong);
      expect(wrongMs()).toBe(wrong);
      passedMs = 10_000;
      aheadMs = 0;
      hear(BOB);
      hear(BOB);
      expect(wrongMs()).toBe(wrong);
      passedMs += 1000;
      hear(CAROL, { waitedMs: 400 });
      expect(wrongMs()).toBe(0);
      expect(followed).toEqual(["confirmed"]);
    },
  );

  it("is followed at once where they have signed it before", () => {
    begin(-100_000);
    wrongMs();
    for (const author of [BOB, CAROL, DAVE]) hear(author);
    passedMs = 60_000;
    expect(wrongMs()).toBe(-100_000);
    aheadMs = 0;
    expect(wrongMs()).toBe(0);
  });

  it.each([
    [2, 1],
    [3, 1],
    [4, 2],
    [6, 2],
    [7, 3],
  ])("needs more than f of %i validators: %i", (count, needed) => {
    begin(50_000, count);
    wrongMs();
    aheadMs = 0;
    for (const author of VALIDATORS.slice(1, needed)) hear(author);
    hear(SELF);
    expect(wrongMs()).toBe(50_000);
    hear(VALIDATORS[needed] ?? SELF);
    expect(wrongMs()).toBe(0);
  });

  it("waits for its minute where there is no other validator, or none is heard", () => {
    for (const count of [1, 4]) {
      begin(50_000, count);
      wrongMs();
      aheadMs = 0;
      hear(SELF);
      expect(wrongMs()).toBe(50_000);
      passedMs = STEP_LASTS_MS - 1;
      expect(wrongMs()).toBe(50_000);
      passedMs = STEP_LASTS_MS;
      expect(wrongMs()).toBe(0);
      expect(followed).toEqual(["lasted"]);
    }
  });
});

describe("a clock that is set wrong", () => {
  it("is not followed because one Byzantine validator of four says the same, nor by those that were dropped", () => {
    for (const author of [BOB, CAROL, DAVE]) hear(author);
    wrongMs();
    aheadMs = 3_600_000;
    hear(DAVE, { theirsMs: 3_600_000 });
    hear(VALIDATORS[5] ?? SELF, { theirsMs: 3_600_000 });
    for (; passedMs < STEP_LASTS_MS - 1000; passedMs += 1000) expect(wrongMs()).toBe(0);
    aheadMs = 0;
    expect(wrongMs()).toBe(0);
    expect(followed).toEqual([]);
  });

  it("by little is not followed because others are less precise than that", () => {
    wrongMs();
    aheadMs = 1500;
    for (const author of [BOB, CAROL, DAVE]) hear(author, { theirsMs: 400 });
    expect(wrongMs()).toBe(0);
  });
});

describe("messages of later heights", () => {
  it("are wanted only while the clock waits for others to agree", () => {
    begin(-50_000);
    wrongMs();
    expect(times.isSampling).toBe(false);
    aheadMs = 0;
    wrongMs();
    expect(times.isSampling).toBe(true);
    aheadMs = -50_000;
    wrongMs();
    passedMs += 10_000;
    expect(times.isSampling).toBe(false);
  });
});
