import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Faucet, type FaucetParts } from "../../src/faucet/faucet.ts";
import { GiftRecord } from "../../src/faucet/giftRecord.ts";
import { DAY_MS, GIFT_GAS, WAITING_LIMIT } from "../../src/faucet/limits.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { err, ok } from "../../src/primitives/result.ts";
import { decodeTransaction, type Transaction } from "../../src/types/transaction.ts";
import { recoverSender } from "../../src/types/transactionSignature.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { account, accountFromSeed } from "../builders/testAccounts.ts";
import { aRegistry, readSample } from "../observability/aRegistry.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

const GIVER = account(9);
const HOUR_MS = 3_600_000;
const TERMS = {
  amountWei: 1_000n,
  addressCooldownMs: 24 * HOUR_MS,
  hostCooldownMs: HOUR_MS,
  dailyLimitWei: 5_000n,
};

const FLOORS = { minGasPriceWei: 7n, minPriorityFeeWei: 2n };

const addressOf = (seed: number): string => toHex(accountFromSeed(seed).address);

async function open(path = join(temporaryFolder(), "faucet.jsonl"), changes: Partial<FaucetParts> = {}) {
  const world = { nowMs: 1_700_000_000_000, sent: [] as Transaction[], answers: [] as string[] };
  const { logger, lines } = loggedLines();
  const record = await GiftRecord.open(path, 24 * HOUR_MS, world.nowMs);
  const faucet = new Faucet(
    { ...TERMS, privateKey: GIVER.privateKey, chainId: 1337n },
    {
      record,
      nowMs: () => world.nowMs,
      view: { balanceWei: () => 10n ** 18n, nextBaseFeePerGas: undefined },
      pool: { nextNonce: () => BigInt(world.sent.length), blockFloors: FLOORS },
      async submit(raw) {
        const decoded = decodeTransaction(raw);
        if (!decoded.ok) return decoded;
        world.sent.push(decoded.value);
        return ok(decoded.value.hash);
      },
      onAnswer: (answer) => void world.answers.push(answer),
      logger,
      ...changes,
    },
  );
  onTestFinished(() => faucet.close());
  return { faucet, world, path, lines };
}

async function reasonOf(faucet: Faucet, address: string, remoteHost: string): Promise<string> {
  const answer = await faucet.give({ address, remoteHost });
  return answer.kind === "given" ? "given" : answer.reason;
}

describe("the faucet", () => {
  it("pays the pool's minimum, and twice the base fee beside it", async () => {
    const view = { balanceWei: () => 10n ** 18n, nextBaseFeePerGas: 100n };
    const { faucet, world } = await open(undefined, { view });
    await faucet.give({ address: addressOf(1), remoteHost: "host" });
    expect(world.sent).toMatchObject([{ gasPrice: 207n }]);
  });

  it("is opened with the terms in the log, without its key, and counts its answers", async () => {
    const { logger, lines } = loggedLines();
    const metrics = aRegistry();
    const faucet = await Faucet.open(
      { ...TERMS, privateKey: GIVER.privateKey, chainId: 1337n },
      join(temporaryFolder(), "faucet.jsonl"),
      {
        nowMs: () => 0,
        view: { balanceWei: () => 0n, nextBaseFeePerGas: undefined },
        pool: { nextNonce: () => 0n, blockFloors: FLOORS },
        submit: async () => ok(new Uint8Array(32)),
        metrics,
        logger,
      },
    );
    onTestFinished(() => faucet.close());
    expect(lines).toMatchObject([
      { message: "the faucet is open", amountWei: "1000", dailyLimitWei: "5000" },
    ]);
    expect(JSON.stringify(lines)).not.toContain(toHex(GIVER.privateKey).slice(2));
    await faucet.give({ address: addressOf(1), remoteHost: "host" });
    expect(await readSample(metrics, "node_faucet_answers_total", { answer: "empty" })).toBe(1);
  });

  it("sends a signed transfer with the next nonce, and says its hash", async () => {
    const { faucet, world, lines } = await open();
    for (const seed of [1, 2]) {
      const answer = await faucet.give({ address: addressOf(seed), remoteHost: `host ${seed}` });
      const sent = world.sent[seed - 1] as Transaction;
      expect(answer).toEqual({ kind: "given", transactionHash: toHex(sent.hash), amountWei: 1_000n });
      expect(sent).toMatchObject({
        chainId: 1337n,
        nonce: BigInt(seed - 1),
        value: 1_000n,
        gasPrice: 7n,
        gasLimit: GIFT_GAS,
      });
      expect(sent.to).toEqual(accountFromSeed(seed).address);
      expect(recoverSender(sent)).toEqual(GIVER.address);
    }
    expect(JSON.stringify(lines)).not.toContain(toHex(GIVER.privateKey).slice(2));
  });

  it("gives to an address once a day, to a remote host once an hour, and says when again", async () => {
    const { faucet, world } = await open();
    const from = (remoteHost: string) => reasonOf(faucet, addressOf(1), remoteHost);
    expect(await from("a")).toBe("given");
    expect(await reasonOf(faucet, addressOf(2), "a")).toBe("hostCooldown");
    expect(
      await faucet.give({ address: addressOf(1).toUpperCase().replace("0X", "0x"), remoteHost: "b" }),
    ).toMatchObject({
      reason: "addressCooldown",
      retryAfterSeconds: 24 * 3600,
    });
    world.nowMs += HOUR_MS;
    expect(await reasonOf(faucet, addressOf(2), "a")).toBe("given");
    world.nowMs += 23 * HOUR_MS - 1;
    expect(await from("c")).toBe("addressCooldown");
    world.nowMs += 1;
    expect(await from("c")).toBe("given");
    expect(world.answers).toEqual([
      "given",
      "hostCooldown",
      "addressCooldown",
      "given",
      "addressCooldown",
      "given",
    ]);
  });

  it("never gives twice to requests that come at once", async () => {
    const { faucet, world } = await open();
    const same = Array.from({ length: 30 }, () => reasonOf(faucet, addressOf(1), "a"));
    const sameHost = Array.from({ length: 30 }, (_, index) => reasonOf(faucet, addressOf(10 + index), "b"));
    expect((await Promise.all([...same, ...sameHost])).filter((reason) => reason === "given")).toHaveLength(
      2,
    );
    const others = Array.from({ length: 30 }, (_, index) =>
      reasonOf(faucet, addressOf(50 + index), `host ${index}`),
    );
    const answers = await Promise.all(others);
    expect(answers.filter((reason) => reason === "given")).toHaveLength(3);
    expect(answers.filter((reason) => reason === "dailyLimit")).toHaveLength(27);
    expect(world.sent.map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n, 3n, 4n]);
    world.nowMs += DAY_MS;
    expect(await reasonOf(faucet, addressOf(99), "z")).toBe("given");
  });

  it("gives to the next one after an answer that failed", async () => {
    let failures = 1;
    const { faucet } = await open(undefined, {
      onAnswer: () => {
        if (failures-- > 0) throw new Error("the counter is broken");
      },
    });
    const first = reasonOf(faucet, addressOf(1), "a");
    const second = reasonOf(faucet, addressOf(2), "b");
    await expect(first).rejects.toThrow("the counter is broken");
    expect(await second).toBe("given");
  });

  it("lets a bounded number wait", async () => {
    const { faucet } = await open();
    const answers = await Promise.all(
      Array.from({ length: WAITING_LIMIT + 5 }, () => reasonOf(faucet, addressOf(1), "a")),
    );
    expect(answers.filter((reason) => reason === "busy")).toHaveLength(5);
  });

  it("has a gift on disk before it is sent, and counts it after a restart", async () => {
    const { faucet, path } = await open(undefined, {
      submit: async (raw) => {
        expect(readFileSync(path, "utf8")).toContain(addressOf(1));
        return ok(raw.slice(0, 32));
      },
    });
    expect(await reasonOf(faucet, addressOf(1), "a")).toBe("given");
    // A kill in the middle of the next line.
    writeFileSync(path, `${readFileSync(path, "utf8")}{"atMs":17`);
    const { faucet: again } = await open(path);
    expect(await reasonOf(again, addressOf(1), "b")).toBe("addressCooldown");
    expect(await reasonOf(again, addressOf(2), "a")).toBe("hostCooldown");
    expect(await reasonOf(again, addressOf(2), "b")).toBe("given");
    const { faucet: third } = await open(path);
    expect(await reasonOf(third, addressOf(2), "c")).toBe("addressCooldown");
  });

  it("does not count a gift that the pool refuses", async () => {
    let isFull = true;
    const { faucet, path } = await open(undefined, {
      submit: async (raw) =>
        isFull ? err({ code: "full", fault: "caller", message: "the pool is full" }) : ok(raw.slice(0, 32)),
    });
    expect(await faucet.give({ address: addressOf(1), remoteHost: "a" })).toMatchObject({
      reason: "notAccepted",
      message: "The gift was not accepted: the pool is full.",
    });
    expect(readFileSync(path, "utf8")).toBe("");
    isFull = false;
    expect(await reasonOf(faucet, addressOf(1), "a")).toBe("given");
  });

  it("says that it is empty, that an address is none, and that the node stops", async () => {
    const { faucet: empty } = await open(undefined, {
      view: { balanceWei: () => 1_000n + 7n * GIFT_GAS - 1n, nextBaseFeePerGas: undefined },
    });
    expect(await reasonOf(empty, addressOf(1), "a")).toBe("empty");
    const { faucet } = await open();
    for (const address of ["", "0x", `0x${"g".repeat(40)}`, `${addressOf(1)}0`, addressOf(1).slice(2), " "])
      expect(await reasonOf(faucet, address, "a")).toBe("badAddress");
    await faucet.close();
    expect(await reasonOf(faucet, addressOf(1), "a")).toBe("busy");
  });
});
