import { type Hex, maxUint256, parseEther } from "viem";
import { expect, it } from "vitest";
import { until } from "../cluster/harness/nodeProcess.ts";
import { itIfThorough } from "../thorough.ts";
import { type Actor, type Contract, call, eventIn, nextBlock, read } from "./chainClient.ts";
import { type Deployment, SHORT_LOCK_SECONDS } from "./deployment.ts";
import { describeApplication } from "./describeApplication.ts";
import {
  ALL_BPS,
  EMERGENCY_TAX_BPS,
  EXCHANGE_TOKEN_RATE_BPS,
  LOCK_SECONDS,
  shareOf,
  WRAPPED_NATIVE_RATE_BPS,
  YEAR,
} from "./parameters.ts";
import { laterTime, type SimulatedCall, simulate } from "./simulatedTime.ts";

/** Rates, lock, tax and claims: with a real clock where the lock is short, with a simulated one where it is 14 days. */
export function stakingTests(deployment: () => Deployment): void {
  const balance = (token: Contract, account: Hex) =>
    read<bigint>(deployment().home, call(token, "balanceOf", account));
  const timeOf = async (blockNumber: bigint) =>
    (await deployment().home.reader.getBlock({ blockNumber })).timestamp;
  const rewardFor = (amount: bigint, rateBps: bigint, seconds: bigint) =>
    (amount * rateBps * seconds) / (ALL_BPS * YEAR);

  /** Waits until a lock of that account has passed in the head's time. */
  async function untilUnlocked(staking: Contract, account: Hex): Promise<void> {
    const { home } = deployment();
    const [, , , unlocksAt] = await read<readonly bigint[]>(home, call(staking, "positions", account));
    const passed = async () => (await home.reader.getBlock()).timestamp >= (unlocksAt ?? 0n) || undefined;
    await until(passed, "the end of the lock");
  }

  /** Wraps, approves and stakes, and fills the reserve. */
  async function enter(staker: Actor, staking: Contract, amount: bigint) {
    const { owner, contracts } = deployment();
    const funds = parseEther("1");
    const [, , , staked] = await Promise.all([
      owner.sendAll([
        { ...call(contracts.wrapped, "deposit"), value: funds },
        call(contracts.wrapped, "approve", staking.address, funds),
        call(staking, "fundReserve", funds),
      ]),
      staker.sendAll([{ ...call(contracts.wrapped, "deposit"), value: amount }]),
      staker.sendAll([call(contracts.wrapped, "approve", staking.address, maxUint256)]),
      staker.sendAll([call(staking, "stake", amount)]),
    ]);
    const [receipt] = staked;
    if (receipt === undefined) throw new Error("no receipt");
    return receipt;
  }

  describeApplication("staking", () => {
    itIfThorough(
      "pays 10 % a year for wrapped native by the second, and returns the stake after its lock",
      async () => {
        const { actors, contracts } = deployment();
        const { wrapped, shortNativeStaking: staking } = contracts;
        const { staker } = actors;
        const amount = parseEther("20");
        const staked = await enter(staker, staking, amount);
        const since = await timeOf(staked.blockNumber);
        const unlocksAt = since + SHORT_LOCK_SECONDS;
        expect(eventIn(staked, staking, "Staked")).toMatchObject({ amount, unlocksAt });
        await nextBlock(deployment().home);
        const claimed = await staker.send(call(staking, "claim"));
        const seconds = (await timeOf(claimed.blockNumber)) - since;
        const reward = rewardFor(amount, WRAPPED_NATIVE_RATE_BPS, seconds);
        expect(eventIn(claimed, staking, "Claimed")).toMatchObject({ reward });
        expect(await balance(wrapped, staker.address)).toBe(reward);
        await untilUnlocked(staking, staker.address);
        expect(await staker.refusal(call(staking, "withdraw", amount + 1n))).toEqual([
          "StakeTooSmall",
          [amount + 1n, amount],
        ]);
        expect(await staker.refusal(call(staking, "emergencyWithdraw"))).toEqual(["NotLocked", []]);
        const withdrawn = await staker.send(call(staking, "withdraw", amount));
        expect(eventIn(withdrawn, staking, "Withdrawn")).toMatchObject({ amount });
        expect(await balance(wrapped, staker.address)).toBe(amount + reward);
      },
    );

    it("taxes an emergency withdrawal with 25 %, for the reserve", async () => {
      const { home, actors, contracts } = deployment();
      const { wrapped, nativeStaking: staking } = contracts;
      const { hasty } = actors;
      const amount = parseEther("8") + 1n;
      await enter(hasty, staking, amount);
      expect((await hasty.refusal(call(staking, "withdraw", amount)))[0]).toBe("StillLocked");
      const reserve = await read<bigint>(home, call(staking, "reserve"));
      const receipt = await hasty.send(call(staking, "emergencyWithdraw"));
      const tax = shareOf(amount, EMERGENCY_TAX_BPS);
      expect(eventIn(receipt, staking, "EmergencyWithdrawn")).toMatchObject({ amount: amount - tax, tax });
      expect(await balance(wrapped, hasty.address)).toBe(amount - tax);
      expect(await read(home, call(staking, "reserve"))).toBe(reserve + tax);
      // What was earned before is paid, flexible as it was.
      expect(await read<bigint>(home, call(staking, "earned", hasty.address))).toBeGreaterThan(0n);
      expect(await hasty.refusal(call(staking, "emergencyWithdraw"))).toEqual(["NotLocked", []]);
    });

    it("refuses to stake, claim or withdraw nothing", async () => {
      const { actors, contracts } = deployment();
      const { holder } = actors;
      const staking = contracts.exchangeStaking;
      expect(await holder.refusal(call(staking, "stake", 0n))).toEqual(["ZeroAmount", []]);
      expect(await holder.refusal(call(staking, "withdraw", 0n))).toEqual(["ZeroAmount", []]);
      expect(await holder.refusal(call(staking, "withdraw", 1n))).toEqual(["StakeTooSmall", [1n, 0n]]);
      expect(await holder.refusal(call(staking, "claim"))).toEqual(["NothingToClaim", []]);
      expect((await holder.refusal(call(staking, "stake", 1n)))[0]).toBe("ERC20InsufficientAllowance");
    });

    it("gives exactly 10 % and 5 % for a year, and holds stakes for 14 days to the second", async () => {
      const { home, owner, contracts } = deployment();
      const from = owner.address;
      const start = await laterTime(home);
      const amount = parseEther("100");
      for (const [staking, token, rateBps] of [
        [contracts.nativeStaking, contracts.wrapped, WRAPPED_NATIVE_RATE_BPS],
        [contracts.exchangeStaking, contracts.exchangeToken, EXCHANGE_TOKEN_RATE_BPS],
      ] as const) {
        const by = (functionName: string, ...args: readonly unknown[]): SimulatedCall => ({
          ...call(staking, functionName, ...args),
          from,
        });
        const yearly = (amount * rateBps) / ALL_BPS;
        const wrap = { ...call(contracts.wrapped, "deposit"), value: amount * 2n, from };
        const outcomes = await simulate(home, [
          {
            time: start,
            calls: [
              wrap,
              { ...call(token, "approve", staking.address, maxUint256), from },
              by("stake", amount),
            ],
          },
          { time: start + LOCK_SECONDS - 1n, calls: [by("withdraw", amount), by("earned", from)] },
          { time: start + LOCK_SECONDS, calls: [by("withdraw", amount - 1n), by("stake", amount - 1n)] },
          { time: start + LOCK_SECONDS + 1n, calls: [by("withdraw", 1n), by("fundReserve", yearly)] },
          { time: start + YEAR, calls: [by("earned", from), by("claim"), by("withdraw", amount)] },
        ]);
        const earnedInLock = rewardFor(amount, rateBps, LOCK_SECONDS - 1n);
        expect(outcomes[3]).toEqual({ ok: false, refusal: ["StillLocked", [start + LOCK_SECONDS]] });
        expect(outcomes[4]).toMatchObject({ ok: true, result: earnedInLock });
        expect(outcomes[5]).toMatchObject({ ok: true });
        // A stake that grows is locked anew.
        expect(outcomes[7]).toEqual({ ok: false, refusal: ["StillLocked", [start + 2n * LOCK_SECONDS]] });
        const earned = outcomes[9]?.ok === true ? (outcomes[9].result as bigint) : -1n;
        // Each of two settlements rounds down.
        expect(earned).toBeLessThanOrEqual(yearly);
        expect(earned).toBeGreaterThanOrEqual(yearly - 3n);
        expect(outcomes.slice(10)).toMatchObject([{ ok: true, result: earned }, { ok: true }]);
      }
    });

    itIfThorough("keeps rewards owed while the reserve is short, and stakes whole", async () => {
      const { home, owner, actors, contracts } = deployment();
      const { exchangeStaking: staking, exchangeToken } = contracts;
      const from = actors.holder.address;
      const start = await laterTime(home);
      const amount = parseEther("100");
      const by = (functionName: string, ...args: readonly unknown[]): SimulatedCall => ({
        ...call(staking, functionName, ...args),
        from,
      });
      const yearly = (amount * EXCHANGE_TOKEN_RATE_BPS) / ALL_BPS;
      const outcomes = await simulate(home, [
        {
          time: start,
          calls: [
            { ...call(exchangeToken, "transfer", from, amount), from: owner.address },
            { ...call(exchangeToken, "approve", staking.address, maxUint256), from },
            by("stake", amount),
          ],
        },
        {
          time: start + YEAR,
          calls: [
            by("claim"),
            { ...call(exchangeToken, "approve", staking.address, maxUint256), from: owner.address },
            { ...by("fundReserve", yearly / 4n), from: owner.address },
            by("claim"),
            by("claim"),
            by("earned", from),
            by("withdraw", amount),
          ],
        },
      ]);
      expect(outcomes[3]).toEqual({ ok: false, refusal: ["ReserveEmpty", [yearly]] });
      expect(outcomes[6]).toMatchObject({ ok: true, result: yearly / 4n });
      expect(outcomes[7]).toEqual({ ok: false, refusal: ["ReserveEmpty", [yearly - yearly / 4n]] });
      expect(outcomes[8]).toMatchObject({ ok: true, result: yearly - yearly / 4n });
      expect(outcomes[9]).toMatchObject({ ok: true });
    });

    itIfThorough("stakes the exchange token on the live chain, too", async () => {
      const { owner, actors, contracts } = deployment();
      const { shortExchangeStaking: staking, exchangeToken } = contracts;
      const { staker } = actors;
      const amount = parseEther("1000");
      await owner.sendAll([
        call(exchangeToken, "transfer", staker.address, amount),
        call(exchangeToken, "approve", staking.address, amount),
        call(staking, "fundReserve", amount),
      ]);
      await Promise.all([
        staker.sendAll([
          call(exchangeToken, "approve", staking.address, amount),
          call(staking, "stake", amount),
        ]),
        // In the same block, where there is room.
        staker.sendRefused(call(staking, "withdraw", amount)),
      ]);
      await untilUnlocked(staking, staker.address);
      await staker.send(call(staking, "withdraw", amount));
      const claimed = await staker.send(call(staking, "claim"));
      const { reward } = eventIn(claimed, staking, "Claimed") as { reward: bigint };
      expect(await balance(exchangeToken, staker.address)).toBe(amount + reward);
    });
  });
}
