import { type Hex, maxUint256, parseEther, parseUnits } from "viem";
import { expect, it } from "vitest";
import { itIfThorough } from "../thorough.ts";
import { type Contract, call, eventIn, nextBlock, read } from "./chainClient.ts";
import { type Deployment, EMISSION_PER_SECOND, PLOT_WEIGHTS } from "./deployment.ts";
import { describeApplication } from "./describeApplication.ts";
import { DAY } from "./parameters.ts";
import { laterTime, resultsOf, type SimulatedCall, simulate } from "./simulatedTime.ts";

const SCALE = 10n ** 18n;
const TOTAL_WEIGHT = PLOT_WEIGHTS[0] + PLOT_WEIGHTS[1];

/** Farming pools: rewards by time, stake and weight, paid in the exchange token. */
export function farmTests(deployment: () => Deployment): void {
  const balance = (token: Contract, account: Hex) =>
    read<bigint>(deployment().home, call(token, "balanceOf", account));
  const timeOf = async (blockNumber: bigint) =>
    (await deployment().home.reader.getBlock({ blockNumber })).timestamp;

  /** What plot 0 gives for `stake` of `staked` in so many seconds. */
  function reward(seconds: bigint, stake: bigint, staked: bigint): bigint {
    const emitted = (seconds * EMISSION_PER_SECOND * PLOT_WEIGHTS[0]) / TOTAL_WEIGHT;
    return (stake * ((emitted * SCALE) / staked)) / SCALE;
  }

  /** Shares of the farmed pool, paid in directly: nobody else uses this pool. */
  async function buyShares(): Promise<bigint> {
    const { actors, contracts } = deployment();
    const { wrappedStable, wrapped, farmedPool, farm } = contracts;
    const { farmer } = actors;
    await farmer.sendAll([
      { ...call(wrapped, "deposit"), value: parseEther("20") },
      call(wrapped, "transfer", farmedPool.address, parseEther("20")),
      call(wrappedStable, "transfer", farmedPool.address, parseUnits("40", 6)),
      call(farmedPool, "mint", farmer.address),
      call(farmedPool, "approve", farm.address, maxUint256),
    ]);
    return balance(farmedPool, farmer.address);
  }

  describeApplication("farm", () => {
    itIfThorough("pays by the second for staked shares, in the exchange token", async () => {
      const { actors, contracts } = deployment();
      const { farm, farmedPool, exchangeToken } = contracts;
      const { farmer } = actors;
      const shares = await buyShares();
      const deposited = await farmer.send(call(farm, "deposit", 0n, shares));
      expect(eventIn(deposited, farm, "Deposited")).toMatchObject({ plot: 0n, amount: shares });
      const before = await balance(exchangeToken, farmer.address);
      await nextBlock(deployment().home);
      const claimed = await farmer.send(call(farm, "claim", 0n));
      const seconds = (await timeOf(claimed.blockNumber)) - (await timeOf(deposited.blockNumber));
      const expected = reward(seconds, shares, shares);
      expect(eventIn(claimed, farm, "Claimed")).toMatchObject({ reward: expected });
      expect(await balance(exchangeToken, farmer.address)).toBe(before + expected);
      await farmer.send(call(farm, "withdraw", 0n, shares));
      expect(await balance(farmedPool, farmer.address)).toBe(shares);
      // What was earned until then is still there.
      const left = await read<bigint>(deployment().home, call(farm, "pending", 0n, farmer.address));
      expect(left).toBeGreaterThan(0n);
      expect(await farmer.refusal(call(farm, "withdraw", 0n, 1n))).toEqual(["StakeTooSmall", [1n, 0n]]);
    });

    it("refuses nothing, too much, and plots that are not there", async () => {
      const { actors, contracts } = deployment();
      const { holder } = actors;
      const { farm, farmedPool } = contracts;
      expect(await holder.refusal(call(farm, "deposit", 0n, 0n))).toEqual(["ZeroAmount", []]);
      expect(await holder.refusal(call(farm, "withdraw", 0n, 0n))).toEqual(["ZeroAmount", []]);
      expect(await holder.refusal(call(farm, "withdraw", 0n, 1n))).toEqual(["StakeTooSmall", [1n, 0n]]);
      expect(await holder.refusal(call(farm, "claim", 0n))).toEqual(["NothingToClaim", []]);
      expect(await holder.refusal(call(farm, "claim", 9n))).toEqual(["NoPlot", [9n]]);
      expect((await holder.refusal(call(farm, "deposit", 0n, 1n)))[0]).toBe("ERC20InsufficientAllowance");
      expect((await holder.refusal(call(farm, "addPlot", farmedPool.address, 1n)))[0]).toBe(
        "OwnableUnauthorizedAccount",
      );
      expect(await deployment().owner.refusal(call(farm, "addPlot", farmedPool.address, 0n))).toEqual([
        "ZeroAmount",
        [],
      ]);
    });

    itIfThorough("divides by stake and time, over a day, and by weight when a plot is added", async () => {
      const { home, owner, actors, contracts } = deployment();
      const { farm, farmedPool, exchangeToken } = contracts;
      const { farmer, holder } = actors;
      const shares = await balance(farmedPool, farmer.address);
      const part = shares / 4n;
      const start = await laterTime(home);
      const by = (from: Hex, functionName: string, ...args: readonly unknown[]): SimulatedCall => ({
        ...call(farm, functionName, ...args),
        from,
      });
      const pending = (account: Hex) => by(holder.address, "pending", 0n, account);
      const settled = by(farmer.address, "claim", 0n);
      const outcomes = await simulate(home, [
        {
          time: start - 1n,
          calls: [
            settled,
            { ...call(farmedPool, "transfer", holder.address, part), from: farmer.address },
            { ...call(farmedPool, "approve", farm.address, maxUint256), from: holder.address },
          ],
        },
        { time: start, calls: [by(farmer.address, "deposit", 0n, part)] },
        {
          time: start + DAY,
          calls: [pending(farmer.address), by(holder.address, "deposit", 0n, part)],
        },
        {
          time: start + 2n * DAY,
          calls: [
            pending(farmer.address),
            pending(holder.address),
            by(owner.address, "addPlot", exchangeToken.address, TOTAL_WEIGHT),
          ],
        },
        { time: start + 3n * DAY, calls: [pending(farmer.address), by(holder.address, "claim", 0n)] },
      ]);
      const results = resultsOf(outcomes);
      const [alone, together, asSecond, later, paid] = [4, 6, 7, 9, 10].map(
        (index) => results[index] as bigint,
      );
      const near = (value: bigint | undefined, expected: bigint) => {
        // Each settlement rounds down once for each staked unit.
        expect(value).toBeLessThanOrEqual(expected);
        expect(value).toBeGreaterThan(expected - expected / 10n ** 12n - 10n);
      };
      const day = (DAY * EMISSION_PER_SECOND * PLOT_WEIGHTS[0]) / TOTAL_WEIGHT;
      near(alone, day);
      near(together, day + day / 2n);
      near(asSecond, day / 2n);
      near(later, day + day / 2n + day / 4n);
      near(paid, day / 2n + day / 4n);
    });
  });
}
