import { encodeErrorResult, type Hex, maxUint256, parseEther, parseUnits, zeroAddress } from "viem";
import { expect, it } from "vitest";
import { itIfThorough } from "../thorough.ts";
import { type Call, type Contract, call, eventIn, read } from "./chainClient.ts";
import type { Deployment } from "./deployment.ts";
import { describeApplication } from "./describeApplication.ts";
import { laterTime, simulate } from "./simulatedTime.ts";

const NEVER = maxUint256;

/** Pools, swaps over one and two hops, and the limits that a trader may set. */
export function exchangeTests(deployment: () => Deployment): void {
  const reserves = async (pool: Contract) => {
    const [first, second] = await read<readonly [bigint, bigint]>(deployment().home, call(pool, "reserves"));
    const token0 = await read<Hex>(deployment().home, call(pool, "token0"));
    return { first, second, token0 };
  };
  const balance = (token: Contract, account: Hex) =>
    read<bigint>(deployment().home, call(token, "balanceOf", account));
  const shares = (pool: Contract, account: Hex) => balance(pool, account);
  const route = (...tokens: readonly Contract[]) => tokens.map(({ address }) => address);

  /** What a swap gives by the rule of constant products, after a fee of 0.3 %. */
  function output(amountIn: bigint, reserveIn: bigint, reserveOut: bigint): bigint {
    const net = amountIn * 997n;
    return (net * reserveOut) / (reserveIn * 1000n + net);
  }

  const provision = (
    other: Contract,
    desired: bigint,
    otherDesired: bigint,
    least = 0n,
    otherLeast = 0n,
  ) => ({
    token: deployment().contracts.exchangeToken.address,
    other: other.address,
    desired,
    otherDesired,
    least,
    otherLeast,
  });

  /** Both pools at two exchange tokens for one native coin, and one for half a stablecoin. */
  async function provide(): Promise<void> {
    const { actors, contracts } = deployment();
    const { exchangeToken, wrapped, wrappedStable, router } = contracts;
    const { provider } = actors;
    const [natives, stables] = [parseEther("50"), parseUnits("1000", 6)];
    const tokens = parseEther("100");
    const approvals = [exchangeToken, wrapped, wrappedStable].map((token) =>
      call(token, "approve", router.address, maxUint256),
    );
    await provider.sendAll([
      { ...call(wrapped, "deposit"), value: natives * 3n },
      ...approvals,
      call(router, "addLiquidity", provision(wrapped, tokens, natives), provider.address, NEVER),
      call(router, "addLiquidity", provision(wrappedStable, tokens * 20n, stables), provider.address, NEVER),
    ]);
  }

  describeApplication("exchange", () => {
    it("gives shares for both tokens, swaps them over one and two hops, and gives the tokens back", async () => {
      const { home, actors, contracts } = deployment();
      const { exchangeToken, wrapped, wrappedStable, router, nativePool, stablePool } = contracts;
      const { provider, trader } = actors;
      await provide();
      const minimum = await read<bigint>(home, call(nativePool, "MINIMUM_LIQUIDITY"));
      const supply = await read<bigint>(home, call(nativePool, "totalSupply"));
      expect(await shares(nativePool, provider.address)).toBe(supply - minimum);

      const amount = parseEther("3");
      const before = await reserves(nativePool);
      const isFirst = before.token0.toLowerCase() === exchangeToken.address.toLowerCase();
      const [reserveIn, reserveOut] = isFirst ? [before.first, before.second] : [before.second, before.first];
      const expected = output(amount, reserveIn, reserveOut);
      const path = route(exchangeToken, wrapped);
      expect(await read(home, call(router, "quoteOut", amount, path))).toEqual([amount, expected]);
      const [, swap] = await trader.sendAll([
        call(exchangeToken, "approve", router.address, maxUint256),
        call(router, "swapExactIn", amount, expected, path, trader.address, NEVER),
      ]);
      if (swap === undefined) throw new Error("no receipt");
      expect(await balance(wrapped, trader.address)).toBe(expected);
      expect(eventIn(swap, nativePool, "Swapped")).toMatchObject({
        sender: router.address,
        to: trader.address,
        [isFirst ? "amount0In" : "amount1In"]: amount,
        [isFirst ? "amount1Out" : "amount0Out"]: expected,
      });
      const after = await reserves(nativePool);
      expect(after.first * after.second).toBeGreaterThan(before.first * before.second);

      const hops = route(wrapped, exchangeToken, wrappedStable);
      const value = parseEther("1");
      const quoted = await read<readonly bigint[]>(home, call(router, "quoteOut", value, hops));
      await trader.send({
        ...call(router, "swapExactNativeIn", quoted[2], hops, trader.address, NEVER),
        value,
      });
      expect(await balance(wrappedStable, trader.address)).toBe(quoted[2]);
      for (const token of [exchangeToken, wrapped, wrappedStable])
        expect(await balance(token, router.address)).toBe(0n);

      const half = (await shares(stablePool, provider.address)) / 2n;
      const stablesBefore = await balance(wrappedStable, provider.address);
      const [, removal] = await provider.sendAll([
        call(stablePool, "approve", router.address, half),
        call(
          router,
          "removeLiquidity",
          ...route(exchangeToken, wrappedStable),
          half,
          0n,
          0n,
          provider.address,
          NEVER,
        ),
      ]);
      if (removal === undefined) throw new Error("no receipt");
      const burned = eventIn(removal, stablePool, "Burned") as { amount0: bigint; amount1: bigint };
      const got = (await balance(wrappedStable, provider.address)) - stablesBefore;
      expect([burned.amount0, burned.amount1]).toContain(got);
    });

    it("refuses what a trader's limits exclude, and what has no pool", async () => {
      const { actors, contracts, home } = deployment();
      const { exchangeToken, wrapped, wrappedStable, router, exchange, bridge, stablePool } = contracts;
      const { owner } = deployment();
      const path = route(exchangeToken, wrappedStable);
      const { timestamp } = await home.reader.getBlock();
      const swap = (...args: readonly unknown[]) => call(router, "swapExactIn", ...args);
      const to = owner.address;
      const past = await owner.refusal(swap(1n, 0n, path, to, timestamp - 1n));
      expect(past).toEqual(["Expired", [timestamp - 1n, expect.any(BigInt)]]);
      const unpooled = route(wrappedStable, stablePool);
      expect(await owner.refusal(swap(1n, 0n, unpooled, to, NEVER))).toEqual(["NoPool", unpooled]);
      expect(await owner.refusal(swap(1n, 0n, path.slice(1), to, NEVER))).toEqual(["InvalidPath", [1n]]);
      expect(await owner.refusal(call(exchange, "createPool", path[1], path[0]))).toEqual([
        "PoolExists",
        [await read(home, call(exchange, "poolOf", path[0], path[1]))],
      ]);
      expect((await owner.refusal(call(exchange, "createPool", path[0], path[0])))[0]).toBe("InvalidPair");
      expect((await owner.refusal(call(exchange, "createPool", zeroAddress, path[0])))[0]).toBe(
        "InvalidPair",
      );
      const native = call(router, "swapExactNativeIn", 0n, path, to, NEVER);
      expect(await owner.refusal({ ...native, value: 1n })).toEqual(["NotWrappedNative", [path[0]]]);
      const { holder } = actors;
      expect((await holder.refusal(call(wrapped, "withdraw", maxUint256)))[0]).toBe(
        "ERC20InsufficientBalance",
      );
      expect((await holder.refusal(call(bridge, "fund", exchangeToken.address, 1n)))[0]).toBe("UnknownPair");
    });

    itIfThorough("keeps slippage within the limits of both directions, to the last unit", async () => {
      const { actors, contracts, home } = deployment();
      const { exchangeToken, wrapped, router } = contracts;
      const { trader } = actors;
      const path = route(exchangeToken, wrapped);
      const amount = parseEther("1");
      const [, out = 0n] = await read<readonly bigint[]>(home, call(router, "quoteOut", amount, path));
      const exactIn = (least: bigint) =>
        call(router, "swapExactIn", amount, least, path, trader.address, NEVER);
      expect(await trader.refusal(exactIn(out + 1n))).toEqual(["TooLittle", [out, out + 1n]]);
      const [needed = 0n] = await read<readonly bigint[]>(home, call(router, "quoteIn", out, path));
      expect(needed).toBeLessThanOrEqual(amount);
      const exactOut = (most: bigint) => call(router, "swapExactOut", out, most, path, trader.address, NEVER);
      expect(await trader.refusal(exactOut(needed - 1n))).toEqual(["TooMuch", [needed, needed - 1n]]);
      const before = await balance(exchangeToken, trader.address);
      await trader.send(exactOut(needed));
      expect(before - (await balance(exchangeToken, trader.address))).toBe(needed);
      const [reserve] = [(await reserves(contracts.nativePool)).first];
      const tooMuch = call(router, "swapExactOut", reserve * 1000n, NEVER, path, trader.address, NEVER);
      expect((await trader.refusal(tooMuch))[0]).toBe("TooMuch");
    });

    itIfThorough("pays out native coins for tokens, and unwraps for nobody else", async () => {
      const { actors, contracts, home } = deployment();
      const { exchangeToken, wrapped, router } = contracts;
      const { trader, holder } = actors;
      const path = route(exchangeToken, wrapped);
      const amount = parseEther("2");
      const [, out = 0n] = await read<readonly bigint[]>(home, call(router, "quoteOut", amount, path));
      const before = await home.reader.getBalance({ address: holder.address });
      await trader.send(call(router, "swapExactInForNative", amount, out, path, holder.address, NEVER));
      expect(await home.reader.getBalance({ address: holder.address })).toBe(before + out);
      const direct = home.reader.call({ account: holder.address, to: router.address, value: 1n });
      const refused = encodeErrorResult({
        abi: router.abi,
        errorName: "NotWrappedNative",
        args: [holder.address],
      });
      await expect(direct).rejects.toMatchObject({
        cause: { cause: { data: refused } },
      });
    });

    itIfThorough("provides at the pool's ratio, and refuses to provide below the least amounts", async () => {
      const { actors, contracts, home } = deployment();
      const { wrapped, router, nativePool, exchangeToken } = contracts;
      const { provider } = actors;
      const now = await reserves(nativePool);
      const isFirst = now.token0.toLowerCase() === exchangeToken.address.toLowerCase();
      const [tokens, natives] = isFirst ? [now.first, now.second] : [now.second, now.first];
      const desired = parseEther("4");
      const matching = (desired * natives) / tokens;
      const add = (...args: Parameters<typeof provision>) =>
        call(router, "addLiquidity", provision(...args), provider.address, NEVER);
      expect(await provider.refusal(add(wrapped, desired, desired * 9n, 0n, matching + 1n))).toEqual([
        "TooLittle",
        [matching, matching + 1n],
      ]);
      const fewer = matching / 2n;
      const least = (fewer * tokens) / natives;
      expect(await provider.refusal(add(wrapped, desired, fewer, least + 1n, 0n))).toEqual([
        "TooLittle",
        [least, least + 1n],
      ]);
      const supply = await read<bigint>(home, call(nativePool, "totalSupply"));
      const receipt = await provider.send(add(wrapped, desired, desired * 9n, desired, matching));
      const { shares: issued } = eventIn(receipt, nativePool, "Minted") as { shares: bigint };
      expect([(desired * supply) / tokens, (matching * supply) / natives]).toContain(issued);
      expect(issued * tokens).toBeLessThanOrEqual(desired * supply);
      expect(issued * natives).toBeLessThanOrEqual(matching * supply);
    });

    itIfThorough("lets nobody take from a pool without paying", async () => {
      const { actors, contracts } = deployment();
      const { nativePool, wrapped, exchangeToken } = contracts;
      const { trader } = actors;
      const { first, token0 } = await reserves(nativePool);
      const refusedFor = async (...args: readonly unknown[]) =>
        (await trader.refusal(call(nativePool, "swap", ...args)))[0];
      expect(await refusedFor(0n, 0n, trader.address)).toBe("NothingAsked");
      expect(await refusedFor(1n, 0n, trader.address)).toBe("NothingPaid");
      expect(await refusedFor(first, 0n, trader.address)).toBe("ReserveExceeded");
      expect(await refusedFor(1n, 0n, token0)).toBe("InvalidRecipient");
      expect((await trader.refusal(call(nativePool, "mint", trader.address)))[0]).toBe("NoShares");
      expect((await trader.refusal(call(nativePool, "burn", trader.address)))[0]).toBe("NoShares");
      // Pays a little of one token, and asks for one unit too many of the other.
      const { home } = deployment();
      const isFirst = token0.toLowerCase() === wrapped.address.toLowerCase();
      const paid = 10n ** 15n;
      const [, fair = 0n] = await read<readonly bigint[]>(
        home,
        call(contracts.router, "quoteOut", paid, route(exchangeToken, wrapped)),
      );
      const swap = (out: bigint): Call =>
        call(nativePool, "swap", isFirst ? out : 0n, isFirst ? 0n : out, trader.address);
      const from = trader.address;
      const time = await laterTime(home);
      const pay = { ...call(exchangeToken, "transfer", nativePool.address, paid), from };
      const outcomes = await simulate(home, [
        { time, calls: [pay, { ...swap(fair + 1n), from }, { ...swap(fair), from }] },
      ]);
      expect(outcomes).toMatchObject([
        { ok: true },
        { ok: false, refusal: ["ProductLowered", []] },
        { ok: true },
      ]);
    });
  });
}
