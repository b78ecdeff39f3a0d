import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { candidateOfBlock, createCandidate, sealedHeader } from "../../src/ibft/candidate.ts";
import { hexToBytes } from "../../src/primitives/hex.ts";
import { sign } from "../../src/primitives/secp256k1.ts";
import { MarkedFolder } from "../../src/storage/developmentMark.ts";
import { decodeBlock, encodeBlock, type StoredBlock } from "../../src/types/block.ts";
import type { Header } from "../../src/types/header.ts";
import { impersonatedSignature } from "../../src/types/impersonatedSignature.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { account, accountFromSeed } from "../builders/testAccounts.ts";
import { itIfThorough } from "../thorough.ts";
import { aDevelopmentChain, anotherNode, START_SECONDS } from "./aDevelopmentChain.ts";

const START = BigInt(START_SECONDS);
const NOBODY = accountFromSeed(77).address;

type Chain = Awaited<ReturnType<typeof aDevelopmentChain>>["chain"];

const times = (chain: Chain): bigint[] => {
  const found: bigint[] = [];
  for (let number = 1n; number <= chain.head.header.number; number++)
    found.push(chain.headerByNumber(number)?.header.timestamp ?? -1n);
  return found;
};

function blockOf(chain: Chain, number: bigint): StoredBlock {
  const block = chain.blockByNumber(number);
  if (block === undefined) throw new Error(`there is no block ${number}`);
  return block;
}

describe("the mark of a development chain", () => {
  it("is not made by a question or a snapshot, and is durable before consensus stops and before a block", async () => {
    const seen: string[] = [];
    const { development, chain, dataPath } = await aDevelopmentChain({
      onStopConsensus: () => seen.push(`${existsSync(mark)} ${chain.head.header.number}`),
    });
    const mark = join(dataPath, "development.json");
    expect(await development.snapshot()).toMatchObject({ ok: true, value: 1n });
    expect(development.isAutomatic).toBe(false);
    expect(existsSync(mark)).toBe(false);
    expect(development.isMarked).toBe(false);
    await development.mine({ blocks: 1 });
    expect(seen).toEqual(["true 0"]);
    await development.increaseTime(1n);
    expect(seen).toHaveLength(1);
  });

  it("opens again after a crash between the mark and the first block", async () => {
    const first = await aDevelopmentChain({
      onStopConsensus: () => {
        throw new Error("the node is gone");
      },
    });
    await expect(first.development.mine({ blocks: 1 })).rejects.toThrow("the node is gone");
    expect(existsSync(join(first.dataPath, "development.json"))).toBe(true);
    expect(first.chain.head.header.number).toBe(0n);
    const second = await aDevelopmentChain({ before: first });
    expect(second.development.isMarked).toBe(true);
    await second.development.mine({ blocks: 1 });
    expect(second.chain.head.header.number).toBe(1n);
  });

  it("is made before the first block where blocks are instant from the start", async () => {
    const { dataPath, development, chain } = await aDevelopmentChain({ isInstant: true });
    expect(existsSync(join(dataPath, "development.json"))).toBe(true);
    expect(development.isAutomatic).toBe(true);
    expect(times(chain)).toEqual([START]);
  });

  it("keeps the time and the way of mining for the next start, and forgets snapshots", async () => {
    const first = await aDevelopmentChain();
    await first.development.increaseTime(500n);
    await first.development.setAutomatic(true);
    await first.development.setInterval({ least: 5000, most: 7000 });
    await first.development.mine({ blocks: 2 });
    await first.development.snapshot();
    await first.development.close();
    const second = await aDevelopmentChain({ before: first, clock: first.clock });
    expect(second.chain.head.header.number).toBe(2n);
    expect(second.development.isAutomatic).toBe(true);
    expect(second.clock.nextAlarmMs).toBe(START_SECONDS * 1000 + 6000);
    expect(await second.development.revert(1n)).toMatchObject({ ok: true, value: false });
    await second.development.mine({ blocks: 1 });
    expect(times(second.chain)).toEqual([START + 500n, START + 501n, START + 502n]);
  });

  it("refuses a folder whose mark says nothing that can be relied upon", async () => {
    const { development, dataPath } = await aDevelopmentChain();
    await development.mine({ blocks: 1 });
    const file = join(dataPath, "development.json");
    const good = readFileSync(file, "utf8");
    for (const bad of ["", "null", "[]", '{"version":2}', good.replace(/"genesis": "0x/, '"genesis": "')]) {
      writeFileSync(file, bad);
      expect(MarkedFolder.read(dataPath)).toMatchObject({ ok: false, error: { code: "unusableMark" } });
    }
    writeFileSync(file, good);
    expect(MarkedFolder.read(dataPath)).toMatchObject({ ok: true, value: { state: { offsetSeconds: 0n } } });
  });
});

describe("the blocks of a development chain", () => {
  it("follow one another by at least a second, ahead of the clock if need be, and time goes on from there", async () => {
    const { development, chain, clock } = await aDevelopmentChain();
    await development.mine({ blocks: 3 });
    expect(times(chain)).toEqual([START, START + 1n, START + 2n]);
    expect(await development.increaseTime(60n)).toMatchObject({ ok: true, value: 62n });
    clock.advanceTo((START_SECONDS + 1) * 1000);
    await development.mine({ blocks: 1 });
    expect(times(chain).at(-1)).toBeGreaterThanOrEqual(START + 63n);
  });

  it("have exactly the time that was set, and go on from it", async () => {
    const { development, chain } = await aDevelopmentChain();
    expect(await development.setNextTimestamp(START + 1000n)).toMatchObject({ ok: true });
    await development.mine({ blocks: 2 });
    await development.mine({ blocks: 1, timestamp: START + 5000n });
    expect(times(chain)).toEqual([START + 1000n, START + 1001n, START + 5000n]);
    expect(await development.setNextTimestamp(START + 5000n)).toMatchObject({
      error: { code: "timeTooEarly", message: expect.stringContaining("is equal to") },
    });
    expect(await development.mine({ blocks: 1, timestamp: 5n })).toMatchObject({
      error: { message: `Timestamp 5 is lower than the previous block's timestamp ${START + 5000n}` },
    });
    expect(await development.setNextTimestamp(2n ** 60n)).toMatchObject({ error: { code: "timeTooLate" } });
    expect(await development.increaseTime(2n ** 60n)).toMatchObject({ error: { code: "timeTooLate" } });
    await development.setTime(START);
    await development.mine({ blocks: 1 });
    expect(times(chain).at(-1)).toBe(START + 5001n);
  });

  it("have the time that was told before", async () => {
    const { development, chain, clock } = await aDevelopmentChain();
    const told: bigint[] = [];
    const mine = async () => {
      told.push(development.nextTimestamp());
      await development.mine({ blocks: 1 });
    };
    await mine();
    await development.increaseTime(500n);
    await mine();
    await development.setNextTimestamp(START + 2000n);
    await mine();
    clock.advanceTo((START_SECONDS + 10) * 1000);
    await mine();
    expect(told).toEqual(times(chain));
    expect(told).toEqual([START, START + 500n, START + 2000n, START + 2010n]);
  });

  it("are as far apart as is asked for", async () => {
    const { development, chain } = await aDevelopmentChain();
    await development.mine({ blocks: 3, spacingSeconds: 12n });
    expect(await development.setTimestampInterval(7n)).toBe(false);
    await development.mine({ blocks: 2 });
    expect(await development.setTimestampInterval(undefined)).toBe(true);
    expect(times(chain)).toEqual([START, START + 12n, START + 24n, START + 31n, START + 38n]);
  });

  it("do not pass what numbers hold where the time between them would, but follow their parents", async () => {
    const { development, chain } = await aDevelopmentChain();
    const latest = 2n ** 53n - 1n;
    await development.mine({ blocks: 1, timestamp: latest - 2n ** 40n - 1n });
    await development.setTimestampInterval(2n ** 40n);
    await development.mine({ blocks: 40 });
    expect(times(chain).slice(1, 4)).toEqual([latest - 1n, latest, latest + 1n]);
    expect(times(chain).at(-1)).toBe(latest + 38n);
  });

  it("come after each interval, until that is ended", async () => {
    const { development, chain, clock } = await aDevelopmentChain();
    await development.setInterval({ least: 1000, most: 1000 });
    await development.mine({ blocks: 1 });
    for (let second = 1; second <= 3; second++) {
      clock.advanceTo((START_SECONDS + second) * 1000);
      await development.increaseTime(0n);
    }
    expect(chain.head.header.number).toBe(4n);
    await development.setInterval(undefined);
    expect(clock.nextAlarmMs).toBeUndefined();
    await development.setAutomatic(false);
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("come for transactions alone once a comfort is used, so that none uses up a time that was set", async () => {
    const { development, clock } = await aDevelopmentChain();
    expect(development.isModeDefault).toBe(true);
    await development.setNextTimestamp(START + 5n);
    expect(development.isModeDefault).toBe(false);
    expect(development.isAutomatic).toBe(true);
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("hold each transaction before its caller has the answer, where that is asked for", async () => {
    const { development, chain, pool, admission } = await aDevelopmentChain({ isInstant: true });
    for (let nonce = 0n; nonce < 3n; nonce++) {
      expect(await admission.submit(aTransaction({ nonce }).raw)).toMatchObject({ ok: true });
      // Block 1 is empty, and has the time of the clock.
      expect(chain.head.header.number).toBe(nonce + 2n);
      expect(blockOf(chain, nonce + 2n).transactions).toHaveLength(1);
    }
    // A gap: nothing can be mined, and no empty block is.
    expect(await admission.submit(aTransaction({ nonce: 5n }).raw)).toMatchObject({ ok: true });
    expect(chain.head.header.number).toBe(4n);
    await Promise.all([3n, 4n].map((nonce) => admission.submit(aTransaction({ nonce }).raw)));
    expect(pool.statistics).toMatchObject({ pending: 0, queued: 0 });
    await development.setAutomatic(false);
    await admission.submit(aTransaction({ nonce: 6n }).raw);
    expect(pool.statistics.pending).toBe(1);
    expect(development.pool.drop(aTransaction({ nonce: 6n }).hash)).toBe(true);
    expect(development.pool.drop(aTransaction({ nonce: 6n }).hash)).toBe(false);
    await admission.submit(aTransaction({ nonce: 6n }).raw);
    await development.pool.dropAll();
    expect(pool.statistics.pending).toBe(0);
  });

  it("are the same when many are made in a run as when they are made one by one", async () => {
    const [many, single] = [await aDevelopmentChain(), await aDevelopmentChain()];
    expect(await many.development.mine({ blocks: 300 })).toMatchObject({ ok: true });
    for (let made = 0; made < 300; made++) await single.development.mine({ blocks: 1 });
    expect(many.chain.head.header.number).toBe(300n);
    expect(many.chain.head.hash).toEqual(single.chain.head.hash);
    expect(encodeBlock(blockOf(many.chain, 150n))).toEqual(encodeBlock(blockOf(single.chain, 150n)));
    for (const { development } of [many, single])
      await development.mine({ blocks: 1, timestamp: START + 9000n });
    expect(many.chain.head.hash).toEqual(single.chain.head.hash);
    const again = await aDevelopmentChain({ before: many });
    expect(again.chain.head.hash).toEqual(many.chain.head.hash);
    expect(times(again.chain).slice(0, 3)).toEqual([START, START + 1n, START + 2n]);
  });

  itIfThorough(
    "are announced in groups when many are made, and hold a transaction that comes meanwhile",
    async () => {
      const { development, chain, admission } = await aDevelopmentChain();
      await development.setAutomatic(false);
      const groups: number[] = [];
      let submitted: Promise<unknown> | undefined;
      chain.onHeadChanged("subscriptions", ({ added }) => {
        groups.push(added.length);
        submitted ??= admission.submit(aTransaction().raw);
      });
      expect(await development.mine({ blocks: 1000, spacingSeconds: 60n })).toMatchObject({ ok: true });
      await submitted;
      expect(chain.head.header.number).toBe(1000n);
      expect(groups.reduce((sum, each) => sum + each, 0)).toBe(1000);
      expect(Math.max(...groups)).toBe(128);
      const full = times(chain).findIndex((_, at) => blockOf(chain, BigInt(at + 1)).transactions.length > 0);
      expect(full).toBeGreaterThan(0);
      expect(times(chain)[999]).toBe(START + 999n * 60n);
    },
  );

  it("end in the middle of an order when the node stops, or something forbids them", async () => {
    let why: string | undefined;
    const { development, chain, database, dataPath, clock } = await aDevelopmentChain({
      whyHalted: () => why,
    });
    const seen = new Promise<void>((resolve) => {
      chain.onHeadChanged("subscriptions", ({ head }) => {
        if (head.header.number === 128n) why = "the disk is almost full";
        if (head.header.number >= 400n) resolve();
      });
    });
    expect(await development.mine({ blocks: 1000 })).toMatchObject({ error: { code: "halted" } });
    expect(chain.head.header.number).toBeLessThan(400n);
    why = undefined;
    const mined = development.mine({ blocks: 100_000 });
    await seen;
    await development.close();
    expect(await mined).toMatchObject({
      error: { code: "halted", message: expect.stringContaining("stops") },
    });
    const again = await aDevelopmentChain({ before: { database, dataPath }, clock });
    expect(again.chain.head.hash).toEqual(chain.head.hash);
    await again.development.mine({ blocks: 1 });
    expect(again.chain.head.header.number).toBe(chain.head.header.number + 1n);
  });

  it("are refused when a start that they wait for fails, which ends without them", async () => {
    const { development, chain } = await aDevelopmentChain({ isBegun: false });
    const mined = development.mine({ blocks: 1 }).catch((error: unknown) => error);
    await development.close();
    expect(await mined).toMatchObject({ message: expect.stringContaining("the node stopped") });
    expect(chain.head.header.number).toBe(0n);
    expect(development.isMarked).toBe(false);
  });

  it("are not more than a request may ask for, and none are made while something forbids it", async () => {
    let why: string | undefined;
    const { development, chain } = await aDevelopmentChain({ whyHalted: () => why });
    expect(await development.mine({ blocks: 100_001 })).toMatchObject({
      error: { code: "tooManyBlocks", message: expect.stringContaining("further requests") },
    });
    expect(development.isMarked).toBe(false);
    why = "the disk is almost full";
    const alteration = { kind: "balance", address: NOBODY, balanceWei: 1n } as const;
    for (const refused of [
      await development.mine({ blocks: 1 }),
      await development.alter([alteration]),
      await development.setGasLimit(10_000n),
    ])
      expect(refused).toMatchObject({ error: { code: "halted" } });
    expect(chain.head.header.number).toBe(0n);
  });
});

describe("a transaction that takes longer than a share of the block period", () => {
  it.each([
    ["mined at once", true],
    ["mined on demand", false],
  ])("is in the next block where it is %s: no other block would come first", async (_, isInstant) => {
    const hand = createHandClock(START_SECONDS * 1000);
    let lookups = 0;
    // Each look at the clock takes a millisecond.
    const clock = { ...hand, nowMs: () => hand.nowMs() + lookups++ };
    const { development, admission, chain } = await aDevelopmentChain({ isInstant, clock });
    const data = hexToBytes("0x5b600056");
    const endless = aTransaction({ to: undefined, data, gasLimit: 30_000_000n });
    expect(await admission.submit(endless.raw)).toMatchObject({ ok: true });
    if (!isInstant) await development.mine({ blocks: 1 });
    await development.whenMined();
    expect(blockOf(chain, chain.head.header.number).transactions).toHaveLength(1);
    const tookMs = hand.nowMs() + lookups - START_SECONDS * 1000;
    expect(tookMs).toBeGreaterThan(1000);
  });
});

describe("an altered block", () => {
  it("changes the state at once, with its parent's time and without transactions; earlier states stay", async () => {
    const { development, chain } = await aDevelopmentChain();
    await development.mine({ blocks: 1 });
    const code = Uint8Array.of(0x60, 0x00);
    const slot = new Uint8Array(32).fill(1);
    expect(
      await development.alter([
        { kind: "balance", address: NOBODY, balanceWei: 5n },
        { kind: "nonce", address: NOBODY, nonce: 9n },
        { kind: "code", address: NOBODY, code },
        { kind: "storage", address: NOBODY, slot, value: 0x1234n },
      ]),
    ).toMatchObject({ ok: true });
    const block = blockOf(chain, 2n);
    expect(block.transactions).toEqual([]);
    expect(block.header.timestamp).toBe(START);
    const after = chain.stateAt(2n);
    const altered = after?.account(NOBODY);
    expect(altered).toMatchObject({ balance: 5n, nonce: 9n });
    expect(altered && after?.code(altered.codeHash)).toEqual(code);
    expect(after?.storage(NOBODY, slot)).toEqual(Uint8Array.of(0x12, 0x34));
    expect(chain.stateAt(1n)?.account(NOBODY)).toBeUndefined();
    await development.alter([{ kind: "storage", address: NOBODY, slot, value: 0n }]);
    await development.alter([
      { kind: "code", address: NOBODY, code: new Uint8Array(0) },
      { kind: "nonce", address: NOBODY, nonce: 0n },
      { kind: "balance", address: NOBODY, balanceWei: 0n },
    ]);
    expect(chain.stateAt(4n)?.account(NOBODY)).toBeUndefined();
  });

  it("gives the chain another gas limit, which later blocks keep", async () => {
    const { development, chain } = await aDevelopmentChain();
    expect(await development.setGasLimit(4999n)).toMatchObject({ error: { code: "gasLimitOutOfBounds" } });
    expect(await development.setGasLimit(2n ** 63n)).toMatchObject({
      error: { code: "gasLimitOutOfBounds" },
    });
    await development.setGasLimit(7_654_321n);
    await development.mine({ blocks: 1 });
    expect(chain.head.header.gasLimit).toBe(7_654_321n);
  });

  it("is refused by another node, also with a time and a seal that fit", async () => {
    const { development, chain, clock } = await aDevelopmentChain();
    await development.alter([{ kind: "balance", address: NOBODY, balanceWei: 5n }]);
    const block = blockOf(chain, 1n);
    const other = await anotherNode(clock);
    const asSent = decodeBlock(encodeBlock(block));
    if (!asSent.ok) throw new Error(asSent.error.message);
    expect(await other.importBlock(asSent.value)).toMatchObject({ error: { code: "timestampTooEarly" } });
    const dated = resealed({ ...block.header, timestamp: START });
    expect(await other.importBlock({ ...asSent.value, header: dated })).toMatchObject({
      error: { code: "wrongStateRoot" },
    });
    expect(other.head.header.number).toBe(0n);
  });
});

describe("an ordinary block of a development chain", () => {
  it("is accepted by another node when its time is that of a network, and else refused for its time alone", async () => {
    const { development, chain, clock, admission } = await aDevelopmentChain({ isInstant: true });
    await admission.submit(aTransaction().raw);
    await development.mine({ blocks: 1, timestamp: START + 60n });
    const other = await anotherNode(clock);
    expect(await other.importBlock(blockOf(chain, 1n))).toMatchObject({ ok: true });
    clock.advanceBy(1000);
    expect(await other.importBlock(blockOf(chain, 2n))).toMatchObject({ ok: true });
    expect(await other.importBlock(blockOf(chain, 3n))).toMatchObject({
      error: { code: "timestampInFuture" },
    });
  });
});

describe("a snapshot", () => {
  it("takes head, time and pool back, and the ones after it with it", async () => {
    const { development, chain, clock, pool, admission } = await aDevelopmentChain();
    await development.setInterval(undefined);
    await development.mine({ blocks: 2 });
    const waiting = aTransaction();
    await admission.submit(waiting.raw);
    await development.increaseTime(100n);
    const taken = await development.snapshot();
    const hash = chain.head.hash;
    await development.mine({ blocks: 3 });
    await development.snapshot();
    await development.increaseTime(10_000n);
    await admission.submit(aTransaction({ nonce: 1n }).raw);
    await development.alter([{ kind: "balance", address: NOBODY, balanceWei: 5n }]);
    clock.advanceBy(2000);
    expect(taken).toMatchObject({ ok: true, value: 1n });
    expect(await development.revert(1n)).toMatchObject({ ok: true, value: true });
    expect(chain.head.hash).toEqual(hash);
    expect(chain.stateAt(2n)?.account(NOBODY)).toBeUndefined();
    expect([...pool.entries()].map(({ transaction }) => transaction.hash)).toEqual([waiting.hash]);
    await development.mine({ blocks: 1 });
    expect(times(chain).at(-1)).toBe(START + 101n);
    for (const id of [1n, 2n, 3n])
      expect(await development.revert(id)).toMatchObject({ ok: true, value: false });
    expect(await development.snapshot()).toMatchObject({ ok: true, value: 3n });
  });

  itIfThorough("is refused when too many are kept", async () => {
    const { development } = await aDevelopmentChain();
    for (let count = 0; count < 4096; count++) await development.snapshot();
    expect(await development.snapshot()).toMatchObject({ error: { code: "tooManySnapshots" } });
  });

  it("is gone after a reset, which leaves an empty block after the genesis block, of the clock's time", async () => {
    const { development, chain, pool, admission } = await aDevelopmentChain();
    await development.mine({ blocks: 2 });
    await development.increaseTime(100n);
    await admission.submit(aTransaction().raw);
    await development.snapshot();
    expect(await development.reset()).toMatchObject({ ok: true });
    expect(times(chain)).toEqual([START]);
    expect(pool.statistics).toMatchObject({ pending: 0, queued: 0 });
    expect(await development.revert(1n)).toMatchObject({ ok: true, value: false });
    await development.mine({ blocks: 1 });
    expect(times(chain)).toEqual([START, START + 1n]);
  });
});

describe("a reorganisation", () => {
  it("removes the newest blocks; what waits stays, and time goes on from the newest that is left", async () => {
    const { development, chain, admission, pool } = await aDevelopmentChain();
    await development.setAutomatic(false);
    await development.mine({ blocks: 2, timestamp: START + 10n });
    await admission.submit(aTransaction().raw);
    await development.mine({ blocks: 1, timestamp: START + 5000n });
    expect(blockOf(chain, 3n).transactions).toHaveLength(1);
    const waiting = aTransaction({ nonce: 1n });
    await admission.submit(waiting.raw);
    expect(await development.reorganise({ depth: 1n, blocks: [] })).toMatchObject({ ok: true });
    expect(times(chain)).toEqual([START + 10n, START + 11n]);
    expect([...pool.entries()].map(({ transaction }) => transaction.hash)).toEqual([waiting.hash]);
    await development.mine({ blocks: 1 });
    expect(times(chain).at(-1)).toBe(START + 12n);
  });

  it("makes other blocks, of the given transactions alone", async () => {
    const { development, chain, admission, pool } = await aDevelopmentChain();
    await development.setAutomatic(false);
    await development.mine({ blocks: 3 });
    const waiting = aTransaction({ nonce: 5n });
    await admission.submit(waiting.raw);
    const impersonated = account(3).address;
    const sent = aTransaction({ changeSignature: () => impersonatedSignature(impersonated) });
    const signed = aTransaction();
    const blocks = [[{ raw: signed.raw, impersonated: undefined }], [], [{ raw: sent.raw, impersonated }]];
    expect(await development.reorganise({ depth: 2n, blocks })).toMatchObject({ ok: true });
    expect(chain.head.header.number).toBe(4n);
    const hashes = [2n, 3n, 4n].map((at) => blockOf(chain, at).transactions.map(({ hash }) => hash));
    expect(hashes).toEqual([[signed.hash], [], [sent.hash]]);
    expect([...pool.entries()].map(({ transaction }) => transaction.hash)).toEqual([waiting.hash]);
  });

  it("changes nothing when it is too deep, when there are too many blocks, or a transaction is wrong", async () => {
    const { development, chain } = await aDevelopmentChain();
    await development.mine({ blocks: 2 });
    const { hash } = chain.head;
    const wrong = { raw: Uint8Array.of(1), impersonated: undefined };
    const unsigned = { raw: aTransaction().raw, impersonated: NOBODY };
    for (const [order, code] of [
      [{ depth: 3n, blocks: [] }, "tooDeep"],
      [{ depth: 1n, blocks: Array(10_001).fill([]) }, "tooManyBlocks"],
      [{ depth: 1n, blocks: [[wrong]] }, "malformedTransaction"],
      [{ depth: 1n, blocks: [[unsigned]] }, "invalidSignature"],
    ] as const)
      expect(await development.reorganise(order)).toMatchObject({ error: { code } });
    expect(chain.head.hash).toEqual(hash);
  });
});

describe("a transaction of an impersonated sender", () => {
  const sender = account(3).address;
  const sent = aTransaction({ changeSignature: () => impersonatedSignature(sender) });

  it("is mined for its sender, and enters by no other way than this one", async () => {
    const { development, chain, admission, pool } = await aDevelopmentChain();
    expect(await admission.submit(sent.raw)).toMatchObject({ error: { code: "invalidSignature" } });
    expect(await development.sendAs(sent.raw, NOBODY)).toMatchObject({ error: { code: "invalidSignature" } });
    expect(await development.sendAs(aTransaction().raw, sender)).toMatchObject({
      error: { code: "invalidSignature" },
    });
    expect(pool.statistics.pending).toBe(0);
    await development.setAutomatic(false);
    expect(await development.sendAs(sent.raw, sender)).toMatchObject({ ok: true, value: sent.hash });
    await development.mine({ blocks: 1 });
    expect(blockOf(chain, 1n).transactions).toMatchObject([{ hash: sent.hash, sender }]);
    await development.setAutomatic(true);
    const next = aTransaction({ nonce: 1n, changeSignature: () => impersonatedSignature(sender) });
    expect(await development.sendAs(next.raw, sender)).toMatchObject({ ok: true });
    expect(blockOf(chain, 2n).transactions).toMatchObject([{ hash: next.hash, sender }]);
    expect(chain.stateAt(1n)?.account(sender)?.nonce).toBe(1n);
  });

  it("makes a block that another node refuses", async () => {
    const { development, chain, clock } = await aDevelopmentChain();
    await development.sendAs(sent.raw, sender);
    await development.mine({ blocks: 1 });
    const other = await anotherNode(clock);
    expect(await other.importBlock(blockOf(chain, 1n))).toMatchObject({ error: { code: "unknownSender" } });
  });
});

/** The header with the seal of the development network's validator. */
function resealed(header: Header): Header {
  const candidate = candidateOfBlock({ header, transactions: [] });
  if (!candidate.ok) throw new Error(candidate.error.message);
  const unsealed = createCandidate(header, { ...candidate.value.extra, seals: [] }, []);
  return sealedHeader(unsealed, [sign(unsealed.digest, DEV_VALIDATOR_KEY)]);
}
