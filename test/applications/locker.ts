import { maxUint256, parseEther } from "viem";
import { expect, it } from "vitest";
import { until } from "../cluster/harness/nodeProcess.ts";
import { itIfThorough } from "../thorough.ts";
import { type Actor, type Contract, call, eventIn, read } from "./chainClient.ts";
import { type Deployment, SHORT_LOCK_SECONDS } from "./deployment.ts";
import { describeApplication } from "./describeApplication.ts";
import { DAY, MINIMUM_LOCKER_SECONDS } from "./parameters.ts";
import { laterTime, type SimulatedCall, simulate } from "./simulatedTime.ts";

/** Tokens that stay where they are until their time. */
export function lockerTests(deployment: () => Deployment): void {
  /** Locks for some seconds beyond the least time; for more of them where too many pass before a block takes it. */
  async function lockSoon(actor: Actor, token: Contract, amount: bigint) {
    const { home, contracts } = deployment();
    let margin = 4n;
    return until(async () => {
      const { timestamp } = await home.reader.getBlock();
      const unlocksAt = timestamp + SHORT_LOCK_SECONDS + margin;
      margin *= 2n;
      const lock = call(contracts.shortLocker, "lock", token.address, amount, unlocksAt);
      const [receipt] = await actor.sendAll([lock]).catch(() => []);
      return receipt && { receipt, unlocksAt };
    }, "a lock");
  }

  describeApplication("locker", () => {
    it("keeps tokens until their time, and gives them to their owner alone", async () => {
      const { home, actors, contracts } = deployment();
      const { wrapped, shortLocker: locker } = contracts;
      const { holder, relayer } = actors;
      const amount = parseEther("1");
      await holder.sendAll([
        { ...call(wrapped, "deposit"), value: amount },
        call(wrapped, "approve", locker.address, maxUint256),
      ]);
      const { receipt, unlocksAt } = await lockSoon(holder, wrapped, amount);
      const { id } = eventIn(receipt, locker, "Locked") as { id: bigint };
      const unlock = call(locker, "unlock", id);
      expect(await holder.refusal(unlock, receipt.blockNumber)).toEqual(["StillLocked", [unlocksAt]]);
      expect(await relayer.refusal(unlock)).toEqual(["NotOwner", [id, relayer.address]]);
      expect(await holder.refusal(call(locker, "unlock", 77n))).toEqual(["NoLock", [77n]]);
      const passed = async () => (await home.reader.getBlock()).timestamp >= unlocksAt || undefined;
      await until(passed, "the lock's time");
      expect(await relayer.refusal(unlock)).toEqual(["NotOwner", [id, relayer.address]]);
      await holder.send(unlock);
      expect(await read(home, call(wrapped, "balanceOf", holder.address))).toBe(amount);
      expect(await holder.refusal(unlock)).toEqual(["NoLock", [id]]);
    });

    it("locks for a day at the least, to the second, and can be extended but not shortened", async () => {
      const { home, owner, actors, contracts } = deployment();
      const { exchangeToken, locker } = contracts;
      const from = owner.address;
      const start = await laterTime(home);
      const earliest = start + MINIMUM_LOCKER_SECONDS;
      const by = (functionName: string, ...args: readonly unknown[]): SimulatedCall => ({
        ...call(locker, functionName, ...args),
        from,
      });
      const lock = (unlocksAt: bigint) => by("lock", exchangeToken.address, 1000n, unlocksAt);
      const outcomes = await simulate(home, [
        {
          time: start,
          calls: [
            { ...call(exchangeToken, "approve", locker.address, maxUint256), from },
            lock(earliest - 1n),
            lock(earliest),
            by("lock", exchangeToken.address, 0n, earliest),
          ],
        },
        {
          time: earliest - 1n,
          calls: [by("unlock", 0n), { ...by("extend", 0n, earliest + DAY), from: actors.trader.address }],
        },
        {
          time: earliest,
          calls: [by("extend", 0n, earliest + DAY), by("extend", 0n, earliest), by("unlock", 0n)],
        },
        { time: earliest + DAY, calls: [by("unlock", 0n), by("unlock", 0n)] },
      ]);
      expect(outcomes).toMatchObject([
        { ok: true },
        { ok: false, refusal: ["TooEarly", [earliest - 1n, earliest]] },
        { ok: true, result: 0n },
        { ok: false, refusal: ["ZeroAmount", []] },
        { ok: false, refusal: ["StillLocked", [earliest]] },
        { ok: false, refusal: ["NotOwner", [0n, actors.trader.address]] },
        { ok: true },
        { ok: false, refusal: ["TooEarly", [earliest, earliest + DAY + 1n]] },
        { ok: false, refusal: ["StillLocked", [earliest + DAY]] },
        { ok: true },
        { ok: false, refusal: ["NoLock", [0n]] },
      ]);
    });

    itIfThorough("locks shares of a pool like any token", async () => {
      const { home, actors, contracts } = deployment();
      const { nativePool, shortLocker: locker } = contracts;
      const { provider } = actors;
      const shares = (await read<bigint>(home, call(nativePool, "balanceOf", provider.address))) / 3n;
      await provider.sendAll([call(nativePool, "approve", locker.address, shares)]);
      const { receipt, unlocksAt } = await lockSoon(provider, nativePool, shares);
      const { id } = eventIn(receipt, locker, "Locked") as { id: bigint };
      expect(await read(home, call(nativePool, "balanceOf", locker.address))).toBe(shares);
      await provider.sendRefused(call(locker, "unlock", id));
      const passed = async () => (await home.reader.getBlock()).timestamp >= unlocksAt || undefined;
      await until(passed, "the lock's time");
      await provider.send(call(locker, "unlock", id));
      expect(await read(home, call(nativePool, "balanceOf", locker.address))).toBe(0n);
    });
  });
}
