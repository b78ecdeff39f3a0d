import { beforeAll, describe, expect, it } from "vitest";
import type { ForkName } from "../../src/chainspec/forks.ts";
import type { BlockContext } from "../../src/execution/blockContext.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { type BuildSettings, buildBlock, type TransactionSource } from "../../src/execution/buildBlock.ts";
import { executeBlock } from "../../src/execution/executeBlock.ts";
import { createYieldPolicy, NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { EMPTY_BYTES, toHex } from "../../src/primitives/hex.ts";
import type { Overlay } from "../../src/state/overlay.ts";
import { bloomOfLogs, EMPTY_BLOOM } from "../../src/types/bloom.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { account } from "../builders/testAccounts.ts";
import { anOverlay, BENEFICIARY, chainHashOf, contractAt, ETHER, slotOf, theRules, word } from "./context.ts";

const ENDLESS = contractAt(1);
const REVERTING = contractAt(2);
const LOGGING = contractAt(3);
/** Reverts with as many zeros as its input has bytes. */
const LONG_REVERTING = contractAt(5);
const CODE = [
  [ENDLESS, { code: "0x5b600056" }],
  [REVERTING, { code: "0x602a60005260206000fd" }],
  [LOGGING, { code: "0x602a60006000a1" }],
  [LONG_REVERTING, { code: "0x365ffd" }],
] as const;

/** Transfers with nonces 0, 1, 2… from one account. */
function payments(
  count: number,
  from = 0,
  changes: Parameters<typeof aTransaction>[0] = {},
): SentTransaction[] {
  return Array.from({ length: count }, (_, n) =>
    aTransaction({ nonce: BigInt(n), gasLimit: 21_000n, privateKey: account(from).privateKey, ...changes }),
  );
}

function balanceOf(overlay: Overlay, address = BENEFICIARY): bigint {
  return overlay.account(address)?.balance ?? 0n;
}

/** Loaded beforehand, as a node does at its start, so that loading does not count in time limits. */
beforeAll(loadInterpreter);

describe("executing a block", () => {
  const run = (
    transactions: readonly SentTransaction[],
    overlay = anOverlay(CODE),
    { fork = "cancun" as ForkName, context = {} as Partial<BlockContext>, rewardWei = 0n } = {},
  ) =>
    executeBlock(theRules(fork, context, rewardWei), transactions, overlay, {
      yieldPolicy: NEVER_YIELD,
      keepsRevertReasons: true,
    });

  it("sums up gas, gives each transaction its receipt, and pays fees and reward to the beneficiary", async () => {
    const overlay = anOverlay(CODE);
    const [first, second] = payments(2);
    const call = aTransaction({ nonce: 2n, to: LOGGING, value: 0n });
    if (first === undefined || second === undefined) throw new Error("two payments");
    const result = await run([first, second, call], overlay, { rewardWei: 5n });
    if (!result.ok) throw new Error(result.error.message);
    const { receipts, gasUsed, logsBloom } = result.value;
    const log = { address: LOGGING, topics: [word(42n)], data: EMPTY_BYTES };
    expect(gasUsed).toBe(42_000n + 21_000n + 9n + 375n + 375n);
    expect(receipts.map((receipt) => receipt.cumulativeGasUsed)).toEqual([21_000n, 42_000n, gasUsed]);
    expect(receipts.map((receipt) => receipt.outcome)).toEqual([{ status: 1 }, { status: 1 }, { status: 1 }]);
    expect(receipts.map((receipt) => receipt.logs)).toEqual([[], [], [log]]);
    expect(receipts[0]?.logsBloom).toEqual(EMPTY_BLOOM);
    expect(logsBloom).toEqual(bloomOfLogs(receipts[2]?.logs ?? []));
    expect(balanceOf(overlay)).toBe(gasUsed * 1_000_000_000n + 5n);
  });

  it("touches no account with a reward of zero", async () => {
    const overlay = anOverlay();
    const result = await run([], overlay);
    expect(result).toMatchObject({ ok: true, value: { gasUsed: 0n, receipts: [] } });
    expect(overlay.changes().accounts).toEqual([]);
  });

  it("burns the base fee and pays only the priority fee", async () => {
    const overlay = anOverlay();
    const transaction = aTransaction({
      type: 2,
      maxFeePerGas: 100n,
      maxPriorityFeePerGas: 3n,
      gasLimit: 50_000n,
      value: 1n,
    });
    await run([transaction], overlay, { context: { baseFeePerGas: 10n } });
    expect(balanceOf(overlay)).toBe(21_000n * 3n);
    expect(balanceOf(overlay, account(0).address)).toBe(10n * ETHER - 21_000n * 13n - 1n);
  });

  it("keeps the revert reason of a transaction, if enabled", async () => {
    const result = await run([aTransaction({ to: REVERTING, value: 0n })]);
    if (!result.ok) throw new Error(result.error.message);
    expect(result.value.receipts[0]).toMatchObject({
      outcome: { status: 0 },
      revertReason: word(42n),
      logs: [],
    });
  });

  it("keeps revert reasons of 16 KiB, and of 1 MiB in all: they cost next to no gas", async () => {
    const lengths = [16_385, ...Array<number>(64).fill(16_384), 1];
    const reverts = lengths.map((length, nonce) =>
      aTransaction({
        nonce: BigInt(nonce),
        to: LONG_REVERTING,
        value: 0n,
        data: new Uint8Array(length),
        gasLimit: 150_000n,
      }),
    );
    const result = await run(reverts);
    if (!result.ok) throw new Error(result.error.message);
    const { receipts } = result.value;
    for (const { outcome } of receipts) expect(outcome).toEqual({ status: 0 });
    const kept = lengths.map((length, index) => (index === 0 || index === 65 ? undefined : length));
    expect(receipts.map(({ revertReason }) => revertReason?.length)).toEqual(kept);
  });

  it("fails with the index of the first invalid transaction", async () => {
    const [first] = payments(1);
    const invalid = aTransaction({ nonce: 7n });
    if (first === undefined) throw new Error("a payment");
    const error = { code: "nonceTooHigh", fault: "peer", facts: { index: 1 } };
    expect(await run([first, invalid])).toMatchObject({ ok: false, error: error });
    const tooMuch = aTransaction({ nonce: 1n, gasLimit: 30_000n });
    expect(await run([first, tooMuch], anOverlay(), { context: { gasLimit: 50_000n } })).toMatchObject({
      ok: false,
      error: { code: "gasLimitAboveBlock", facts: { index: 1 } },
    });
  });

  it("stores the parent's hash in the history contract in each Prague block, if it is deployed", async () => {
    const history = addressFromHex("0x0000f90827f1c53a10cb7a02335b175320002935");
    const code =
      "0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500";
    const overlay = anOverlay([[history, { nonce: 1n, code }]]);
    const result = await run([], overlay, { fork: "prague", context: { number: 100n } });
    expect(result.ok).toBe(true);
    expect(overlay.storage(history, slotOf(99))).toEqual(chainHashOf(99n));
    expect(overlay.changes().accounts.map(({ address }) => toHex(address))).toEqual([toHex(history)]);
    expect(await run([], anOverlay(), { fork: "prague" })).toMatchObject({ ok: true });
    expect(await run([], anOverlay([[history, { code: "0xfe" }]]), { fork: "prague" })).toMatchObject({
      ok: false,
      error: { code: "systemCallFailed" },
    });
  });
});

describe("building a block", () => {
  const settings: BuildSettings = {
    clock: createHandClock(0),
    deadlineMs: 1000,
    minOccupancyRatio: 0.8,
    maxBytes: 1_000_000,
  };

  /** Supplies the transactions in order, as a pool would; records the skipped senders. */
  function sourceOf(
    transactions: readonly SentTransaction[],
  ): TransactionSource & { readonly skipped: string[] } {
    const remaining = [...transactions];
    const skipped: string[] = [];
    let last: SentTransaction | undefined;
    return {
      skipped,
      next() {
        do last = remaining.shift();
        while (last !== undefined && skipped.includes(toHex(last.sender)));
        return last;
      },
      skipSender: () => void skipped.push(toHex(last?.sender ?? EMPTY_BYTES)),
    };
  }

  it("includes all transactions, and executing the built block has the same result", async () => {
    const transactions = [
      ...payments(3),
      ...payments(2, 1),
      aTransaction({ nonce: 3n, to: REVERTING, value: 0n }),
    ];
    const rules = theRules("cancun", {}, 7n);
    const built = await buildBlock(rules, sourceOf(transactions), anOverlay(CODE), settings);
    expect(built.transactions).toEqual(transactions);
    expect(built.dropped).toEqual([]);
    const overlay = anOverlay(CODE);
    const replayed = await executeBlock(rules, built.transactions, overlay, { yieldPolicy: NEVER_YIELD });
    if (!replayed.ok) throw new Error(replayed.error.message);
    const { gasUsed, receipts, logsBloom, load } = built;
    expect(replayed.value).toEqual({ gasUsed, receipts, logsBloom, load });
    expect(built.overlay.changes()).toEqual(overlay.changes());
  });

  it("skips a sender whose next transaction needs too much gas, unless the block is sufficiently full", async () => {
    const large = aTransaction({ gasLimit: 90_000n, privateKey: account(2).privateKey });
    const behind = aTransaction({ nonce: 1n, gasLimit: 21_000n, privateKey: account(2).privateKey });
    const [a, b, c] = payments(3);
    if (a === undefined || b === undefined || c === undefined) throw new Error("three payments");
    const transactions = [a, large, behind, b, c];
    const largeBlock = await buildBlock(
      theRules("cancun", { gasLimit: 100_000n }),
      sourceOf(transactions),
      anOverlay(),
      settings,
    );
    expect(largeBlock.transactions).toEqual([a, b, c]);
    // 21,000 of 26,000 gas are more than 80 %.
    const smallBlock = await buildBlock(
      theRules("cancun", { gasLimit: 26_000n }),
      sourceOf(transactions),
      anOverlay(),
      settings,
    );
    expect(smallBlock.transactions).toEqual([a]);
    // 20,000 gas are left: no transaction fits any more.
    const fullBlock = await buildBlock(
      theRules("cancun", { gasLimit: 41_000n }),
      sourceOf(transactions),
      anOverlay(),
      {
        ...settings,
        minOccupancyRatio: 1,
      },
    );
    expect(fullBlock.transactions).toEqual([a]);
  });

  it("skips a sender whose next transaction has too many bytes, unless the block is sufficiently full", async () => {
    const bulky = (from: number) =>
      aTransaction({
        data: new Uint8Array(5_000).fill(7),
        gasLimit: 150_000n,
        privateKey: account(from).privateKey,
      });
    const [a, b] = payments(2);
    if (a === undefined || b === undefined) throw new Error("two payments");
    const buildWith = async (transactions: readonly SentTransaction[], maxBytes: number) =>
      (await buildBlock(theRules("cancun"), sourceOf(transactions), anOverlay(), { ...settings, maxBytes }))
        .transactions;
    const [large, other] = [bulky(2), bulky(3)];
    expect(await buildWith([large, other, a, b], large.raw.length + 1_000)).toEqual([large]);
    expect(await buildWith([large, other, a, b], large.raw.length * 1.5)).toEqual([large, a, b]);
    expect(await buildWith([a, large, b], 1_024)).toEqual([a, b]);
    // It would never be mined otherwise.
    expect(await buildWith([large, a], 1_024)).toEqual([large]);
  });

  it("drops transactions that can never be included, but not those that may fit later", async () => {
    const poor = aTransaction({ value: 11n * ETHER });
    const early = aTransaction({ nonce: 5n, privateKey: account(1).privateKey });
    const cheap = aTransaction({ gasPrice: 1n, privateKey: account(2).privateKey });
    const used = aTransaction({ nonce: 0n, privateKey: account(3).privateKey });
    const next = aTransaction({ nonce: 1n, privateKey: account(3).privateKey });
    const overlay = anOverlay([[account(3).address, { balance: ETHER, nonce: 1n }]]);
    const source = sourceOf([poor, early, cheap, used, next]);
    const built = await buildBlock(theRules("cancun", { baseFeePerGas: 2n }), source, overlay, settings);
    expect(built.transactions).toEqual([next]);
    expect(built.dropped.map(({ hash }) => toHex(hash))).toEqual([toHex(poor.hash), toHex(used.hash)]);
    expect(source.skipped).toEqual([0, 1, 2].map((n) => toHex(account(n).address)));
  });

  it("stops a contract that runs past the deadline, undoes it, and yields to the event loop meanwhile", async () => {
    const [payment] = payments(1);
    if (payment === undefined) throw new Error("a payment");
    const endless = aTransaction({
      to: ENDLESS,
      value: 0n,
      gasLimit: 10n ** 12n,
      gasPrice: 0n,
      privateKey: account(3).privateKey,
    });
    const late = aTransaction({ privateKey: account(2).privateKey });
    // Each look at the clock takes a millisecond.
    let nowMs = 1_000_000;
    const clock = { nowMs: () => ++nowMs };
    const deadlineMs = nowMs + 400;
    let slices = 0;
    let hasEnded = false;
    const count = (): void => {
      slices++;
      if (!hasEnded) setImmediate(count);
    };
    setImmediate(count);
    const built = await buildBlock(
      theRules("cancun", { gasLimit: 10n ** 13n }),
      sourceOf([payment, endless, late]),
      anOverlay(CODE),
      {
        ...settings,
        clock,
        deadlineMs,
      },
    );
    hasEnded = true;
    expect(built.transactions).toEqual([payment]);
    expect(built.overlay.account(account(3).address)).toMatchObject({ nonce: 0n, balance: 10n * ETHER });
    expect(nowMs - deadlineMs).toBeLessThan(10);
    expect(slices).toBeGreaterThan(3);
  });

  it("starts no transaction after the deadline", async () => {
    const clock = createHandClock(5000);
    const built = await buildBlock(theRules("cancun"), sourceOf(payments(3)), anOverlay(), {
      ...settings,
      clock,
    });
    expect(built).toMatchObject({ transactions: [], gasUsed: 0n, dropped: [] });
  });
});

describe("the yield policy", () => {
  it("is due every ten milliseconds, and throws once the deadline has passed", async () => {
    const clock = createHandClock(0);
    const yieldPolicy = createYieldPolicy(clock, { deadlineMs: 25 });
    expect(yieldPolicy.isDue()).toBe(false);
    clock.advanceTo(10);
    expect(yieldPolicy.isDue()).toBe(true);
    await yieldPolicy.yield();
    expect(yieldPolicy.isDue()).toBe(false);
    clock.advanceTo(25);
    expect(yieldPolicy.isDue()).toBe(true);
    await expect(yieldPolicy.yield()).rejects.toThrow("time");
  });
});
