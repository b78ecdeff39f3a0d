import { expect, it } from "vitest";
import { earliestTimestamp, nextTimestamp, roundTimeoutMs } from "../../src/ibft/roundTimes.ts";
import { aGenesisHead, aSchedule, toyAddresses } from "../builders/toyChain.ts";

const parent = aGenesisHead(toyAddresses(1), 100n).header;

it("doubles the time of each round without end", () => {
  const schedule = aSchedule({ requestTimeoutSeconds: 10 });
  expect([0, 1, 2, 5, 40].map((round) => roundTimeoutMs(schedule, round))).toEqual([
    10_000,
    20_000,
    40_000,
    320_000,
    10_000 * 2 ** 40,
  ]);
});

it("rounds the timestamp to the nearest second in round 0, and down in later rounds", () => {
  const schedule = aSchedule();
  expect(nextTimestamp(schedule, parent, 0, 105_499)).toBe(105n);
  expect(nextTimestamp(schedule, parent, 0, 105_500)).toBe(106n);
  expect(nextTimestamp(schedule, parent, 1, 105_999)).toBe(105n);
});

it("never gives a timestamp too early for the block period at its height", () => {
  const schedule = aSchedule({
    eras: [
      { fromBlock: 0n, parameters: { blockPeriodSeconds: 2, blockRewardWei: 0n } },
      { fromBlock: 1n, parameters: { blockPeriodSeconds: 5, blockRewardWei: 0n } },
    ],
  });
  expect(earliestTimestamp(schedule, parent)).toBe(105n);
  expect(nextTimestamp(schedule, parent, 0, 90_000)).toBe(105n);
  expect(nextTimestamp(schedule, parent, 1, 104_999)).toBe(105n);
});
