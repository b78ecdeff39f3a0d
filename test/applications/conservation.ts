import fc from "fast-check";
import { type Hex, maxUint256, parseEther, parseUnits } from "viem";
import { expect } from "vitest";
import { IS_THOROUGH, itIfThorough } from "../thorough.ts";
import { delivery, prove } from "./bridgeProofs.ts";
import { type Contract, call } from "./chainClient.ts";
import {
  accountNamed,
  BRIDGE_THRESHOLD,
  type Deployment,
  EMISSION_PER_SECOND,
  NATIVE,
  NATIVE_DAILY_LIMIT,
} from "./deployment.ts";
import { describeApplication } from "./describeApplication.ts";
import { ALL_BPS, BRIDGE_FEE_BPS, DAY, EXCHANGE_TOKEN_RATE_BPS, shareOf, YEAR } from "./parameters.ts";
import { amountsTo, HISTORY_SEED, runHistory, type Step, waits } from "./randomHistory.ts";
import type { SimulatedCall } from "./simulatedTime.ts";

const HISTORIES = IS_THOROUGH ? 20 : 2;
const STEPS = { minLength: 20, maxLength: IS_THOROUGH ? 50 : 30 };

/** What holds after every step of any history: nothing comes from nothing, and nothing is lost. */
export function conservationTests(deployment: () => Deployment): void {
  const users = ["first user", "second user", "third user"].map((name) => accountNamed(name).address);
  const [anyone = NATIVE] = users;
  const by = (
    from: Hex,
    contract: Contract,
    functionName: string,
    ...args: readonly unknown[]
  ): SimulatedCall => ({
    ...call(contract, functionName, ...args),
    from,
  });
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
  const histories = <T>(steps: fc.Arbitrary<T>, check: (steps: readonly T[]) => Promise<void>) =>
    fc.assert(fc.asyncProperty(fc.array(steps, STEPS), check), {
      seed: HISTORY_SEED,
      numRuns: HISTORIES,
      endOnFailure: true,
    });
  const userIndexes = fc.integer({ min: 0, max: users.length - 1 });

  describeApplication(`any history (IBEX_SEED=${HISTORY_SEED})`, () => {
    itIfThorough(
      "of pools never lowers what a share is worth, and swaps never lower the product",
      async () => {
        const { home, owner, contracts } = deployment();
        const { exchangeToken, wrapped, wrappedStable, router, nativePool, stablePool } = contracts;
        const from = owner.address;
        const tokens = [wrapped, exchangeToken, wrappedStable] as const;
        const pools = [nativePool, stablePool];
        const richly = [parseEther("100"), parseEther("100000"), parseUnits("100000", 6)];
        const provision = (token: Contract, other: Contract, desired: bigint, otherDesired: bigint) =>
          by(
            from,
            router,
            "addLiquidity",
            { token: token.address, other: other.address, desired, otherDesired, least: 0n, otherLeast: 0n },
            from,
            maxUint256,
          );
        const prepare = [
          { ...by(from, wrapped, "deposit"), value: richly[0] as bigint },
          by(from, wrappedStable, "mint", from, richly[2]),
          ...[...tokens, ...pools].map((token) => by(from, token, "approve", router.address, maxUint256)),
          provision(exchangeToken, wrapped, parseEther("20"), parseEther("10")),
          provision(exchangeToken, wrappedStable, parseEther("2000"), parseUnits("1000", 6)),
        ];
        const observe = pools.flatMap((pool) => [by(from, pool, "reserves"), by(from, pool, "totalSupply")]);
        const step = fc.record({
          kind: fc.constantFrom("swap", "swap", "hops", "add", "remove", "donate"),
          pool: fc.integer({ min: 0, max: 1 }),
          forward: fc.boolean(),
          amount: amountsTo(parseEther("30")),
          waitSeconds: waits,
        });
        await histories(step, async (steps) => {
          const calls = steps.map(({ kind, pool, forward, amount, waitSeconds }): Step => {
            const pair = pool === 0 ? [exchangeToken, wrapped] : [exchangeToken, wrappedStable];
            const route = kind === "hops" ? [...tokens] : pair;
            const path = (forward ? route : route.toReversed()).map(({ address }) => address);
            const [token, other] = pair as [Contract, Contract];
            switch (kind) {
              case "add":
                return { waitSeconds, call: provision(token, other, amount, amount) };
              case "remove": {
                const args = [token.address, other.address, amount / 10n ** 6n, 0n, 0n, from, maxUint256];
                return { waitSeconds, call: by(from, router, "removeLiquidity", ...args) };
              }
              case "donate":
                return {
                  waitSeconds,
                  call: by(from, token, "transfer", pools[pool]?.address, amount / 1000n),
                };
              default:
                return {
                  waitSeconds,
                  call: by(from, router, "swapExactIn", amount, 0n, path, from, maxUint256),
                };
            }
          });
          const { before, after } = await runHistory(home, prepare, calls, observe);
          let earlier = before.shown;
          for (const [index, { shown }] of after.entries()) {
            for (const pool of [0, 2]) {
              const [was0, was1] = earlier[pool] as readonly [bigint, bigint];
              const [is0, is1] = shown[pool] as readonly [bigint, bigint];
              const [wasSupply, isSupply] = [earlier[pool + 1], shown[pool + 1]] as [bigint, bigint];
              expect(is0 * is1 * wasSupply ** 2n).toBeGreaterThanOrEqual(was0 * was1 * isSupply ** 2n);
              const kind = steps[index]?.kind;
              if (kind === "swap" || kind === "hops") expect(is0 * is1).toBeGreaterThanOrEqual(was0 * was1);
            }
            earlier = shown;
          }
        });
      },
    );

    itIfThorough("of the bridge mints what was proved, once, and keeps every fee", async () => {
      const { home, base, owner, contracts, baseContracts, bridgeValidators } = deployment();
      const { bridge, wrappedStable } = contracts;
      const from = owner.address;
      const signers = bridgeValidators.slice(0, BRIDGE_THRESHOLD);
      const prepare = [
        by(from, wrappedStable, "mint", from, parseUnits("1000000", 6)),
        by(from, wrappedStable, "approve", bridge.address, maxUint256),
      ];
      const observe = [
        by(from, wrappedStable, "totalSupply"),
        by(from, wrappedStable, "balanceOf", bridge.address),
        by(from, bridge, "fees", wrappedStable.address),
        by(from, bridge, "held", NATIVE),
        by(from, bridge, "fees", NATIVE),
      ];
      const step = fc.record({
        kind: fc.constantFrom("send", "send", "deliver", "deliver", "forge"),
        isNative: fc.boolean(),
        amount: amountsTo(parseEther("120")),
        nonce: fc.integer({ min: 0, max: 12 }),
        waitSeconds: waits,
      });
      await histories(step, async (steps) => {
        const calls = await Promise.all(
          steps.map(async ({ kind, isNative, amount: drawn, nonce, waitSeconds }): Promise<Step> => {
            const token = isNative ? NATIVE : wrappedStable.address;
            const amount = isNative ? drawn : drawn / 10n ** 10n;
            if (kind === "send") {
              const send = by(from, bridge, "send", token, amount, from);
              return { waitSeconds, call: isNative ? { ...send, value: amount } : send };
            }
            const { project, stable } = baseContracts;
            const passage = {
              sourceChain: BigInt(base.chain.id),
              sourceBridge: baseContracts.bridge.address,
              nonce: 3_000_000n + BigInt(nonce),
              sourceToken: isNative ? project.address : stable.address,
              token,
              recipient: from,
              amount,
            };
            const end = { client: home, bridge };
            const told = kind === "forge" ? { ...passage, amount: amount + 1n } : passage;
            return {
              waitSeconds,
              call: { ...delivery(end, told, await prove(passage, end, signers)), from },
            };
          }),
        );
        const { before, after } = await runHistory(home, prepare, calls, observe);
        const totals = [...(before.shown as readonly bigint[])];
        const spent = new Set<number>();
        const deliveredOn = new Map<bigint, bigint>();
        for (const [index, { outcome, shown, time }] of after.entries()) {
          const { kind = "forge", isNative = false, amount: drawn = 0n, nonce = 0 } = steps[index] ?? {};
          const amount = isNative ? drawn : drawn / 10n ** 10n;
          const fee = shareOf(amount, BRIDGE_FEE_BPS);
          const add = (place: number, value: bigint) => {
            totals[place] = (totals[place] ?? 0n) + value;
          };
          if (kind === "forge") expect(outcome.ok).toBe(false);
          if (kind === "send") expect(outcome.ok).toBe(amount > fee);
          if (outcome.ok && kind === "send") {
            add(isNative ? 3 : 0, isNative ? amount - fee : fee - amount);
            add(isNative ? 4 : 2, fee);
            if (!isNative) add(1, fee);
          }
          if (outcome.ok && kind === "deliver") {
            expect(spent.has(nonce)).toBe(false);
            spent.add(nonce);
            add(isNative ? 3 : 0, isNative ? -amount : amount);
            const today = time / DAY;
            if (isNative) deliveredOn.set(today, (deliveredOn.get(today) ?? 0n) + amount);
          }
          expect(shown).toEqual(totals);
        }
        for (const delivered of deliveredOn.values())
          expect(delivered).toBeLessThanOrEqual(NATIVE_DAILY_LIMIT);
      });
    });

    itIfThorough("of staking leaves every stake whole, and pays no more than the rate", async () => {
      const { home, owner, contracts } = deployment();
      const { exchangeStaking: staking, exchangeToken } = contracts;
      const prepare = [owner.address, ...users].flatMap((user) => [
        by(owner.address, exchangeToken, "transfer", user, parseEther("10000")),
        by(user, exchangeToken, "approve", staking.address, maxUint256),
      ]);
      const observe = [
        by(anyone, exchangeToken, "balanceOf", staking.address),
        by(anyone, staking, "totalStaked"),
        by(anyone, staking, "reserve"),
        ...users.map((user) => by(anyone, staking, "earned", user)),
        ...users.map((user) => by(anyone, staking, "positions", user)),
      ];
      const step = fc.record({
        kind: fc.constantFrom("stake", "stake", "withdraw", "claim", "emergencyWithdraw", "fundReserve"),
        user: userIndexes,
        amount: amountsTo(parseEther("2000")),
        waitSeconds: waits,
      });
      await histories(step, async (steps) => {
        const calls = steps.map(({ kind, user, amount, waitSeconds }): Step => {
          const args = kind === "claim" || kind === "emergencyWithdraw" ? [] : [amount];
          return { waitSeconds, call: by(users[user] ?? anyone, staking, kind, ...args) };
        });
        const { before, after } = await runHistory(home, prepare, calls, observe);
        let [staked, time, paid, most] = [before.shown[1] as bigint, before.time, 0n, 0n];
        const earnedBefore = sum(before.shown.slice(3, 6) as bigint[]);
        for (const [index, { outcome, shown, time: now }] of after.entries()) {
          const [balance, totalStaked, reserve] = shown as readonly bigint[];
          expect(balance).toBe((totalStaked ?? 0n) + (reserve ?? 0n));
          const positions = shown.slice(6) as readonly (readonly [bigint])[];
          expect(sum(positions.map(([amount]) => amount))).toBe(totalStaked);
          if (outcome.ok && steps[index]?.kind === "claim") paid += outcome.result as bigint;
          most += staked * (now - time);
          const earned = sum(shown.slice(3, 6) as bigint[]) - earnedBefore;
          expect((earned + paid) * ALL_BPS * YEAR).toBeLessThanOrEqual(most * EXCHANGE_TOKEN_RATE_BPS);
          [staked, time] = [totalStaked ?? 0n, now];
        }
      });
    });

    itIfThorough("of a farm pays no more than it emits, and holds every share", async () => {
      const { home, owner, contracts } = deployment();
      const { farm, farmedPool, wrapped, wrappedStable, exchangeToken } = contracts;
      const from = owner.address;
      const part = 10n ** 12n;
      const prepare = [
        { ...by(from, wrapped, "deposit"), value: parseEther("20") },
        by(from, wrapped, "transfer", farmedPool.address, parseEther("20")),
        by(from, wrappedStable, "mint", farmedPool.address, parseUnits("100", 6)),
        by(from, farmedPool, "mint", from),
        ...users.flatMap((user) => [
          by(from, farmedPool, "transfer", user, part),
          by(user, farmedPool, "approve", farm.address, maxUint256),
        ]),
      ];
      const observe = [
        by(anyone, farmedPool, "balanceOf", farm.address),
        by(anyone, farm, "plots", 0n),
        by(anyone, farm, "totalPaid"),
        ...users.map((user) => by(anyone, farm, "pending", 0n, user)),
      ];
      const step = fc.record({
        kind: fc.constantFrom("deposit", "deposit", "withdraw", "claim", "addPlot"),
        user: userIndexes,
        amount: amountsTo(part),
        waitSeconds: waits,
      });
      await histories(step, async (steps) => {
        const calls = steps.map(({ kind, user, amount, waitSeconds }): Step => {
          if (kind === "addPlot")
            return { waitSeconds, call: by(from, farm, kind, exchangeToken.address, amount % 5n) };
          const args = kind === "claim" ? [0n] : [0n, amount];
          return { waitSeconds, call: by(users[user] ?? anyone, farm, kind, ...args) };
        });
        const { before, after } = await runHistory(home, prepare, calls, observe);
        const paidBefore = before.shown[2] as bigint;
        for (const { shown, time } of after) {
          const [held, plot, paid] = shown as [bigint, readonly [Hex, bigint, bigint], bigint];
          expect(held).toBeGreaterThanOrEqual(plot[2]);
          const owed = sum(shown.slice(3) as bigint[]);
          expect(paid - paidBefore + owed).toBeLessThanOrEqual((time - before.time) * EMISSION_PER_SECOND);
        }
      });
    });
  });
}
