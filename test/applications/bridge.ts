import { type Hex, parseEther, parseUnits, zeroAddress } from "viem";
import { expect, it } from "vitest";
import { itIfThorough } from "../thorough.ts";
import { type BridgeEnd, delivery, type Passage, passageIn, prove, sign } from "./bridgeProofs.ts";
import { type Actor, call, createActor, eventIn, read } from "./chainClient.ts";
import {
  accountNamed,
  BRIDGE_THRESHOLD,
  type Deployment,
  KIND,
  NATIVE,
  NATIVE_DAILY_LIMIT,
} from "./deployment.ts";
import { describeApplication } from "./describeApplication.ts";
import { ALL_BPS, BRIDGE_FEE_BPS, DAY, shareOf } from "./parameters.ts";
import { laterTime, resultsOf, simulate } from "./simulatedTime.ts";

/** Both pairs there and back, and everything that a proof or a sender may do wrong. */
export function bridgeTests(deployment: () => Deployment): void {
  const home = (): BridgeEnd => ({ client: deployment().home, bridge: deployment().contracts.bridge });
  const base = (): BridgeEnd => ({ client: deployment().base, bridge: deployment().baseContracts.bridge });
  const signers = () => deployment().bridgeValidators.slice(0, BRIDGE_THRESHOLD);
  const heldAt = (end: BridgeEnd, token: Hex) => read<bigint>(end.client, call(end.bridge, "held", token));
  const feesAt = (end: BridgeEnd, token: Hex) => read<bigint>(end.client, call(end.bridge, "fees", token));

  /** An account's handle at the other end; the same one where both ends are on one chain. */
  async function atBase(name: "bridger" | "relayer"): Promise<Actor> {
    const { base: client, home: own, actors } = deployment();
    return client === own ? actors[name] : createActor(client, accountNamed(name));
  }

  /** A passage that no contract sent, for proofs that are refused; nonces this high stay unused. */
  function invented(change: Partial<Passage> = {}): Passage {
    return {
      sourceChain: BigInt(deployment().base.chain.id),
      sourceBridge: deployment().baseContracts.bridge.address,
      nonce: 1_000_000n,
      sourceToken: deployment().baseContracts.project.address,
      token: NATIVE,
      recipient: deployment().actors.holder.address,
      amount: parseEther("1"),
      ...change,
    };
  }

  async function refusalOf(passage: Passage, signatures: readonly Hex[]) {
    return deployment().actors.relayer.refusal(delivery(home(), passage, signatures));
  }

  describeApplication("bridge", () => {
    it("takes the project token over to native coins and back, after an approval and for a fee of 0.5 %", async () => {
      const { actors, baseContracts, home: client } = deployment();
      const bridger = await atBase("bridger");
      const amount = parseEther("10") + 1n;
      const fee = shareOf(amount, BRIDGE_FEE_BPS);
      const recipient = accountNamed("recipient of native coins").address;
      const send = call(base().bridge, "send", baseContracts.project.address, amount, recipient);
      const spender = base().bridge.address;
      expect(await bridger.refusal(send)).toEqual(["ERC20InsufficientAllowance", [spender, 0n, amount]]);
      const [, receipt] = await bridger.sendAll([
        call(baseContracts.project, "approve", spender, amount),
        send,
      ]);
      if (receipt === undefined) throw new Error("no receipt");
      expect(eventIn(receipt, base().bridge, "Sent")).toMatchObject({ recipient, amount: amount - fee, fee });

      const passage = await passageIn(receipt, base());
      const proof = delivery(home(), passage, await prove(passage, home(), signers()));
      const reserve = await heldAt(home(), NATIVE);
      const delivered = await actors.relayer.send(proof);
      expect(eventIn(delivered, home().bridge, "Delivered")).toMatchObject({
        recipient,
        amount: amount - fee,
      });
      expect(await client.reader.getBalance({ address: recipient })).toBe(amount - fee);
      expect(await heldAt(home(), NATIVE)).toBe(reserve - (amount - fee));
      expect(await actors.relayer.refusal(proof)).toEqual(["AlreadyDelivered", [passage.nonce]]);
      await Promise.all([actors.relayer.sendRefused(proof), sendNativeBack(recipient)]);
      expect(await client.reader.getBalance({ address: recipient })).toBe(amount - fee);
    });

    /** Native coins return into the reserve, and as many project tokens leave the other end. */
    async function sendNativeBack(recipient: Hex): Promise<void> {
      const { actors, baseContracts, base: client } = deployment();
      const back = parseEther("2");
      const [reserve, earlierFees] = [await heldAt(home(), NATIVE), await feesAt(home(), NATIVE)];
      const send = call(home().bridge, "send", NATIVE, back, recipient);
      expect(await actors.bridger.refusal({ ...send, value: 1n })).toEqual(["WrongValue", [1n, back]]);
      const passage = await passageIn(await actors.bridger.send({ ...send, value: back }), home());
      const fee = shareOf(back, BRIDGE_FEE_BPS);
      expect(passage.amount).toBe(back - fee);
      expect(await heldAt(home(), NATIVE)).toBe(reserve + passage.amount);
      expect(await feesAt(home(), NATIVE)).toBe(earlierFees + fee);
      const relayer = await atBase("relayer");
      await relayer.send(delivery(base(), passage, await prove(passage, base(), signers())));
      expect(await read(client, call(baseContracts.project, "balanceOf", recipient))).toBe(passage.amount);
    }

    it("decides by the signatures of enough validators, and by nothing less", async () => {
      const passage = invented();
      const all = await prove(passage, home(), deployment().bridgeValidators);
      const [first = "0x", second = "0x", third = "0x"] = all;
      const needed = BigInt(BRIDGE_THRESHOLD);
      const outsider = accountNamed("outsider");
      expect(await refusalOf(passage, [first, second])).toEqual(["TooFewSignatures", [2n, needed]]);
      expect((await refusalOf(passage, [first, first, second]))[0]).toBe("SignersNotAscending");
      expect((await refusalOf(passage, [second, first, third]))[0]).toBe("SignersNotAscending");
      const foreign = await prove(passage, home(), [...deployment().bridgeValidators.slice(0, 2), outsider]);
      expect(await refusalOf(passage, foreign)).toEqual(["NotValidator", [outsider.address]]);
      // Signed words that are not these: another amount, the same one for the other end, another recipient.
      expect((await refusalOf({ ...passage, amount: passage.amount + 1n }, all))[0]).toBe("NotValidator");
      const elsewhere = await prove(passage, base(), signers());
      expect((await refusalOf(passage, elsewhere))[0]).toBe("NotValidator");
      const robber = { ...passage, recipient: deployment().actors.relayer.address };
      expect((await refusalOf(robber, all))[0]).toBe("NotValidator");
      expect(await refusalOf(passage, [first, second, `${third.slice(0, -2)}1d` as Hex])).toEqual([
        "ECDSAInvalidSignature",
        [],
      ]);
      expect(await refusalOf(passage, [first, second, "0x1234"])).toEqual([
        "ECDSAInvalidSignatureLength",
        [2n],
      ]);
      const { relayer } = deployment().actors;
      const [outcome] = await simulateNow([{ ...delivery(home(), passage, all), from: relayer.address }]);
      expect(outcome?.ok).toBe(true);
    });

    it("delivers only what it knows", async () => {
      const prover = async (passage: Passage) => refusalOf(passage, await prove(passage, home(), signers()));
      const elsewhere = { sourceChain: 5n, sourceBridge: deployment().baseContracts.project.address };
      expect(await prover(invented(elsewhere))).toEqual(["UnknownSource", Object.values(elsewhere)]);
      const { exchangeToken, wrappedStable } = deployment().contracts;
      expect(await prover(invented({ token: exchangeToken.address }))).toEqual([
        "UnknownPair",
        [exchangeToken.address],
      ]);
      // A token of one pair for the other pair's.
      expect(await prover(invented({ token: wrappedStable.address }))).toEqual([
        "UnknownPair",
        [wrappedStable.address],
      ]);
    });

    it("rounds the fee up, and takes nothing that the fee would eat", async () => {
      const { bridger } = deployment().actors;
      const recipient = bridger.address;
      const send = (amount: bigint) => ({
        ...call(home().bridge, "send", NATIVE, amount, recipient),
        value: amount,
      });
      expect(await bridger.refusal(send(0n))).toEqual(["AmountTooSmall", [0n]]);
      expect(await bridger.refusal(send(1n))).toEqual(["AmountTooSmall", [1n]]);
      for (const amount of [2n, 199n, 200n, 201n, 400n, 401n, 10n ** 18n + 7n]) {
        const fee = await read<bigint>(home().client, call(home().bridge, "feeOf", amount));
        expect(fee).toBe((amount * BRIDGE_FEE_BPS + ALL_BPS - 1n) / ALL_BPS);
        expect(fee * ALL_BPS).toBeGreaterThanOrEqual(amount * BRIDGE_FEE_BPS);
      }
      expect(await bridger.refusal(call(home().bridge, "send", NATIVE, 100n, zeroAddress))).toEqual([
        "ZeroRecipient",
        [],
      ]);
      const unknown = deployment().contracts.exchangeToken.address;
      expect(await bridger.refusal(call(home().bridge, "send", unknown, 100n, recipient))).toEqual([
        "UnknownPair",
        [unknown],
      ]);
    });

    it("lets out no more in a day than its limit, and more on the next", async () => {
      const { relayer } = deployment().actors;
      const head = await deployment().home.reader.getBlock();
      // The whole of a day that is still to come.
      const tomorrow = (head.timestamp / DAY + 2n) * DAY;
      const parts = [NATIVE_DAILY_LIMIT - 5n, 6n, 5n, 1n];
      const calls = await Promise.all(
        parts.map(async (amount, index) => {
          const passage = invented({ amount, nonce: 2_000_000n + BigInt(index) });
          return {
            ...delivery(home(), passage, await prove(passage, home(), signers())),
            from: relayer.address,
          };
        }),
      );
      const outcomes = await simulate(deployment().home, [
        { time: tomorrow, calls },
        { time: tomorrow + DAY - 1n, calls: calls.slice(3) },
        { time: tomorrow + DAY, calls: calls.slice(3) },
      ]);
      const refused = (amount: bigint, available: bigint) => ({
        ok: false,
        refusal: ["DailyLimitExceeded", [NATIVE, amount, available]],
      });
      expect(outcomes).toMatchObject([
        { ok: true },
        refused(6n, 5n),
        { ok: true },
        refused(1n, 0n),
        refused(1n, 0n),
        { ok: true },
      ]);
    });

    itIfThorough("mints a wrapped stablecoin for a locked one, and burns it on the way back", async () => {
      const { actors, baseContracts, contracts, home: client } = deployment();
      const bridger = await atBase("bridger");
      const amount = parseUnits("100", 6) + 3n;
      const wrapped = contracts.wrappedStable;
      const supply = () => read<bigint>(client, call(wrapped, "totalSupply"));
      const before = await supply();
      const [, receipt] = await bridger.sendAll([
        call(baseContracts.stable, "approve", base().bridge.address, amount),
        call(base().bridge, "send", baseContracts.stable.address, amount, actors.bridger.address),
      ]);
      if (receipt === undefined) throw new Error("no receipt");
      const passage = await passageIn(receipt, base());
      await actors.relayer.send(delivery(home(), passage, await prove(passage, home(), signers())));
      expect(await supply()).toBe(before + passage.amount);
      expect(await heldAt(base(), baseContracts.stable.address)).toBe(passage.amount);

      const back = parseUnits("40", 6);
      const [, returned] = await actors.bridger.sendAll([
        call(wrapped, "approve", home().bridge.address, back),
        call(home().bridge, "send", wrapped.address, back, actors.bridger.address),
      ]);
      if (returned === undefined) throw new Error("no receipt");
      const fee = shareOf(back, BRIDGE_FEE_BPS);
      expect(await supply()).toBe(before + passage.amount - (back - fee));
      expect(await feesAt(home(), wrapped.address)).toBe(fee);
      const homewards = await passageIn(returned, home());
      const relayer = await atBase("relayer");
      await relayer.send(delivery(base(), homewards, await prove(homewards, base(), signers())));
      expect(await heldAt(base(), baseContracts.stable.address)).toBe(passage.amount - homewards.amount);
      // What is in use here is covered there: the wrapped fee, which the bridge still holds, is part of it.
      expect((await supply()) - before).toBe(await heldAt(base(), baseContracts.stable.address));
      const owner = deployment().owner;
      await owner.send(call(home().bridge, "withdrawFees", wrapped.address, owner.address));
      expect(await feesAt(home(), wrapped.address)).toBe(0n);
      expect(await read(client, call(wrapped, "balanceOf", home().bridge.address))).toBe(0n);
    });

    itIfThorough("pays out no more than it holds", async () => {
      const held = await heldAt(base(), deployment().baseContracts.project.address);
      const passage = {
        ...invented({ sourceChain: BigInt(deployment().home.chain.id), sourceBridge: home().bridge.address }),
        ...{ sourceToken: NATIVE, token: deployment().baseContracts.project.address, amount: held + 1n },
      } as const;
      const proof = delivery(base(), passage, await prove(passage, base(), signers()));
      expect(await (await atBase("relayer")).refusal(proof)).toEqual([
        "ReserveTooSmall",
        [passage.token, held + 1n, held],
      ]);
    });

    itIfThorough("is governed by its owner alone, who cannot rename its other end", async () => {
      const { owner, actors } = deployment();
      const bridge = home().bridge;
      const outsider = actors.holder;
      const governing = [
        call(bridge, "pause"),
        call(bridge, "unpause"),
        call(bridge, "setValidators", [outsider.address], 1n),
        call(bridge, "addPair", outsider.address, outsider.address, KIND.minted, 1n),
        call(bridge, "setRemoteBridge", outsider.address),
        call(bridge, "withdrawFees", NATIVE, outsider.address),
      ];
      for (const one of governing)
        expect(await outsider.refusal(one)).toEqual(["OwnableUnauthorizedAccount", [outsider.address]]);
      expect(await owner.refusal(call(bridge, "setRemoteBridge", outsider.address))).toEqual([
        "RemoteAlreadySet",
        [base().bridge.address],
      ]);
      expect(await owner.refusal(call(bridge, "setValidators", [outsider.address], 2n))).toEqual([
        "InvalidThreshold",
        [2n, 1n],
      ]);
      const twice = [outsider.address, outsider.address];
      expect(await owner.refusal(call(bridge, "setValidators", twice, 1n))).toEqual([
        "DuplicateValidator",
        [outsider.address],
      ]);
      expect(await owner.refusal(call(bridge, "addPair", NATIVE, NATIVE, KIND.native, 1n))).toEqual([
        "PairExists",
        [NATIVE],
      ]);
    });

    itIfThorough("stands still while it is paused, and forgets validators that were replaced", async () => {
      const { owner, actors, bridgeValidators } = deployment();
      const { relayer, bridger } = actors;
      const [bridge, passage] = [home().bridge, invented()];
      const proof = delivery(home(), passage, await prove(passage, home(), signers()));
      const send = { ...call(bridge, "send", NATIVE, 1_000n, bridger.address), value: 1_000n };
      const next = accountNamed("next validator");
      const byNext = delivery(home(), passage, [await sign(passage, home(), next)]);
      const outcomes = await simulateNow([
        { ...call(bridge, "pause"), from: owner.address },
        { ...send, from: bridger.address },
        { ...proof, from: relayer.address },
        { ...call(bridge, "unpause"), from: owner.address },
        { ...send, from: bridger.address },
        { ...call(bridge, "setValidators", [next.address], 1n), from: owner.address },
        { ...proof, from: relayer.address },
        { ...byNext, from: relayer.address },
      ]);
      expect(outcomes).toMatchObject([
        { ok: true },
        { ok: false, refusal: ["EnforcedPause", []] },
        { ok: false, refusal: ["EnforcedPause", []] },
        { ok: true },
        { ok: true },
        { ok: true },
        { ok: false, refusal: ["NotValidator", [expect.any(String)]] },
        { ok: true },
      ]);
      expect(bridgeValidators.map(({ address }) => address)).toContain(
        outcomes[6]?.ok === false ? outcomes[6].refusal[1][0] : undefined,
      );
      expect(resultsOf(outcomes.slice(7))).toEqual([undefined]);
    });
  });

  async function simulateNow(calls: Parameters<typeof simulate>[1][number]["calls"]) {
    const { home } = deployment();
    return simulate(home, [{ time: await laterTime(home), calls }]);
  }
}
