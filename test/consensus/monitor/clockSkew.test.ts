import { describe, expect, it } from "vitest";
import { ClockSkew, type SkewReport } from "../../../src/consensus/monitor/clockSkew.ts";
import type { SignedMessage } from "../../../src/ibft/message.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aCandidate, aGenesisHead, tokenSignature, toyAddress } from "../../builders/toyChain.ts";

/** Four validators, of which the first is this node. */
const VALIDATORS = [1, 2, 3, 4].map(toyAddress);
const [SELF, BOB, CAROL, DAVE] = VALIDATORS as [Address, Address, Address, Address];
const START_SECONDS = 1_700_000_000;

/** Reports while `proposals` of each of `authors` arrive round-robin, before (+) or after (-) their timestamps. */
function aRun(validators: readonly Address[] = VALIDATORS) {
  const skew = new ClockSkew(SELF);
  skew.setValidators(validators);
  let height = 0n;
  const run = {
    news: [] as SkewReport[],
    /** Our clock, in seconds since the start, when the last proposal arrived. */
    hear(author: Address, aheadMs: number, round = 0): void {
      height += 1n;
      const timestamp = BigInt(START_SECONDS) + height;
      const news = skew.received(
        aProposal(author, { height, round, timestamp }),
        Number(timestamp) * 1000 - aheadMs,
      );
      if (news !== undefined) run.news.push(news);
    },
    hearInTurn(turns: number, aheadMs: (author: Address) => number): void {
      for (let turn = 0; turn < turns; turn++)
        for (const author of validators) if (author !== SELF) run.hear(author, aheadMs(author));
    },
    measuredOf: (validator: Address) => skew.measuredOf(validator),
    said: () => run.news.map(({ level, message }) => `${level}: ${message}`),
  };
  return run;
}

function aProposal(
  author: Address,
  {
    height,
    round,
    timestamp,
  }: { readonly height: bigint; readonly round: number; readonly timestamp: bigint },
): SignedMessage {
  const parent = aGenesisHead(VALIDATORS);
  const candidate = aCandidate(parent, { round, timestamp, coinbase: author });
  const payload = { kind: "proposal", height, round, digest: candidate.digest } as const;
  return {
    kind: "proposal",
    signed: { payload, author, signature: tokenSignature(author, candidate.digest) },
    candidate,
  };
}

describe("clocks that differ", () => {
  it("are measured by the last three proposals of each validator", () => {
    const run = aRun();
    for (const aheadMs of [900, 20, -40, 310]) run.hear(BOB, aheadMs);
    expect(run.measuredOf(BOB)).toEqual([20, -40, 310]);
    expect(run.measuredOf(CAROL)).toEqual([]);
  });

  it("are reported after three proposals, with the smallest difference: one that is ahead", () => {
    const run = aRun();
    run.hearInTurn(2, (author) => (author === CAROL ? 2_400 : -30));
    expect(run.said()).toEqual([]);
    run.hearInTurn(1, (author) => (author === CAROL ? 1_970 : -30));
    expect(run.said()).toEqual([
      `warn: the clock of ${toHex(CAROL)} is at least 2.0 s ahead of this machine's: its proposals are refused while their ` +
        "timestamps are in the future. Is the time right (timedatectl, chronyc tracking)?",
    ]);
    expect(run.news[0]?.fields).toEqual({ validator: CAROL, aheadMs: 1_970 });
  });

  it("one that is behind, which may also be a slow link", () => {
    const run = aRun();
    run.hearInTurn(3, (author) => (author === DAVE ? -2_040 : -30));
    expect(run.said()).toEqual([
      `warn: the proposals of ${toHex(DAVE)} arrive at least 2.0 s after their timestamps: its clock is 2.0 s ` +
        "behind this machine's, or the link to it is that slow. Is the time right (timedatectl, chronyc tracking)?",
    ]);
  });

  it("ours, when most others differ alike", () => {
    const behind = aRun();
    behind.hearInTurn(3, () => 1_950);
    expect(behind.said()).toEqual([
      "warn: this machine's clock is at least 1.9 s behind the clocks of 2 of the 3 other validators. " +
        "Is the time right (timedatectl, chronyc tracking)?",
    ]);
    const ahead = aRun();
    ahead.hearInTurn(3, (author) => (author === DAVE ? 0 : -2_060));
    expect(ahead.said()).toEqual([
      "warn: the proposals of 2 of the 3 other validators arrive at least 2.1 s after their timestamps: this " +
        "machine's clock is 2.1 s ahead of theirs, or the links to them are that slow. " +
        "Is the time right (timedatectl, chronyc tracking)?",
    ]);
    ahead.hearInTurn(3, () => 0);
    expect(ahead.said().slice(1)).toEqual([
      "info: this machine's clock and those of most other validators agree again",
    ]);
  });

  it("are reported by one of two validators, which cannot know whose is wrong", () => {
    const run = aRun([SELF, BOB]);
    run.hearInTurn(3, () => 2_000);
    expect(run.said()[0]).toContain(`the clock of ${toHex(BOB)} is at least 2.0 s ahead of this machine's`);
  });

  it("are reported after six proposals when no other validator is heard", () => {
    const run = aRun();
    for (let turn = 0; turn < 5; turn++) run.hear(BOB, 2_000);
    expect(run.said()).toEqual([]);
    run.hear(BOB, 2_000);
    expect(run.said().length).toBe(1);
  });

  it("are reported once in ten minutes, and again when they agree", () => {
    const run = aRun();
    run.hearInTurn(100, (author) => (author === BOB ? 2_000 : 0));
    expect(run.news.length).toBe(1);
    run.hearInTurn(150, (author) => (author === BOB ? 2_000 : 0));
    expect(run.news.length).toBe(2);
    run.hearInTurn(5, () => 0);
    expect(run.said().slice(2)).toEqual([`info: the clock of ${toHex(BOB)} and this machine's agree again`]);
  });
});

describe("no difference is reported", () => {
  it("for half a second between clocks, rounded up or down", () => {
    const run = aRun();
    run.hearInTurn(10, (author) => (author === BOB ? 990 : author === CAROL ? -1_010 : 490));
    expect(run.said()).toEqual([]);
  });

  it("for a link or a node that is slow at times", () => {
    const run = aRun();
    let count = 0;
    run.hearInTurn(20, () => (count++ % 9 < 6 ? -5_000 : -400));
    expect(run.said()).toEqual([]);
  });

  it("for blocks proposed again, by non-validators, or twice at a height", () => {
    const run = aRun();
    for (let turn = 0; turn < 10; turn++) {
      run.hear(BOB, -9_000, 1);
      run.hear(toyAddress(9), 9_000);
    }
    expect(run.said()).toEqual([]);
  });
});
