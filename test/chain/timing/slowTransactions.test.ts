import { beforeAll, describe, expect, it } from "vitest";
import { SlowTransactions } from "../../../src/chain/timing/slowTransactions.ts";
import { MAX_SET_ASIDE } from "../../../src/chain/timing/stoppedTransactions.ts";
import { loadInterpreter } from "../../../src/execution/blockSession.ts";
import { type BuiltBlock, buildBlock } from "../../../src/execution/buildBlock.ts";
import { type Logger, silentLogger } from "../../../src/observability/logger.ts";
import { toDigits, toHex } from "../../../src/primitives/hex.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aPool } from "../../builders/aPool.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account, accountFromSeed } from "../../builders/testAccounts.ts";
import { anOverlay, contractAt, ETHER, slotOf, theRules } from "../../execution/context.ts";
import { itIfThorough } from "../../thorough.ts";

const ENDLESS = contractAt(1);
/** Writes a slot, then calls ENDLESS with all its gas. */
const NESTED = contractAt(2);
const COUNTING = contractAt(3);
const CODE = [
  [ENDLESS, { code: "0x5b600056" }],
  [NESTED, { code: `0x6001600055${"6000".repeat(5)}73${toDigits(ENDLESS)}5af100` }],
  // Counts down from the number in its call data, below some 1,000,000.
  [COUNTING, { code: "0x6000355b600190038060035700" }],
] as const;

const WINDOW_MS = 800;
const GAS = 10n ** 9n;
const SLOW_SENDERS = 20;
/** Time that each reading of the clock takes here, so that slow code is slow on every machine. */
const CLOCK_READ_MS = 0.1;

/** How far COUNTING counts per millisecond here. */
let countsPerMs = 4000;

beforeAll(async () => {
  await loadInterpreter();
  const { pool, build } = aProposer();
  pool.add(lasting(50), "remote");
  const { transactions, tookMs } = await build();
  expect(transactions).toHaveLength(1);
  countsPerMs *= 50 / tookMs;
});

/** A proposer with a pool that builds one block after another, each in its window. */
function aProposer({ isLoneValidator = false, cpuShare = 1 } = {}) {
  let nowMs = 0;
  const clock = { nowMs: () => (nowMs += CLOCK_READ_MS) };
  const warnings: { message: string; hash: string; sender: string; ranMs: number; tries: number }[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn({ hash, sender, ranMs, tries }, message) {
      const [hashHex, senderHex] = [toHex(hash as Uint8Array), toHex(sender as Uint8Array)];
      warnings.push({
        message,
        hash: hashHex,
        sender: senderHex,
        ranMs: Number(ranMs),
        tries: Number(tries),
      });
    },
  };
  const slow = new SlowTransactions({ nowMs: () => nowMs, cpuMs: () => nowMs * cpuShare, logger });
  const { pool, mine, events, head } = aPool({ limits: { maxTransactions: 5_000 } });
  head.headGasLimit = 10n ** 13n;
  let number = 99n;

  async function build(): Promise<BuiltBlock & { readonly tookMs: number }> {
    number++;
    const startMs = nowMs;
    const nonces = [...pool.entries()].map(({ transaction: { sender } }) => {
      const nonce = head.nonce(sender);
      return [sender, { nonce, balance: 10n * ETHER }] as const;
    });
    const built = await buildBlock(
      theRules("cancun", { number, gasLimit: 10n ** 13n }),
      pool.select(0n),
      anOverlay([...CODE, ...nonces]),
      {
        clock,
        deadlineMs: startMs + WINDOW_MS,
        minOccupancyRatio: 0.8,
        maxBytes: 1_000_000,
        timeLimits: slow.limitsFor({ number, windowMs: WINDOW_MS, isLoneValidator }),
      },
    );
    const tookMs = nowMs - startMs;
    for (const { hash, reason } of built.dropped) pool.drop(hash, reason);
    mine(...built.transactions);
    slow.onMined(built.transactions);
    nowMs = startMs + 1000;
    return { ...built, tookMs };
  }

  return { pool, events, warnings, slow, build };
}

function endlessBy(seed: number, changes: Parameters<typeof aTransaction>[0] = {}): SentTransaction {
  const { privateKey } = accountFromSeed(seed);
  return aTransaction({
    to: ENDLESS,
    value: 0n,
    gasLimit: GAS,
    gasPrice: 2_000_000_000n,
    privateKey,
    ...changes,
  });
}

/** A transaction that runs for this many milliseconds of the test's clock. */
function lasting(ms: number, changes: Parameters<typeof aTransaction>[0] = {}): SentTransaction {
  const data = new Uint8Array(32);
  new DataView(data.buffer).setUint32(28, Math.round(ms * countsPerMs));
  return aTransaction({ to: COUNTING, value: 0n, gasLimit: GAS, data, ...changes });
}

function payments(count: number): SentTransaction[] {
  return Array.from({ length: count }, (_, n) => aTransaction({ nonce: BigInt(n), gasLimit: 21_000n }));
}

const hashesOf = (transactions: readonly SentTransaction[]): string[] =>
  transactions.map(({ hash }) => toHex(hash));

describe("transactions that are too slow to build a block with", () => {
  it("leave the rest of the block to other transactions, whatever their order", async () => {
    for (const gasPrice of [2_000_000_000n, 1_000_000_000n, 500_000_000n]) {
      const { pool, build } = aProposer();
      for (const payment of payments(300)) pool.add(payment, "remote");
      const endless = Array.from({ length: SLOW_SENDERS }, (_, n) => endlessBy(n + 1, { gasPrice }));
      for (const transaction of endless) expect(pool.add(transaction, "remote").ok).toBe(true);
      const { transactions, tookMs } = await build();
      expect(transactions).toHaveLength(300);
      expect(tookMs).toBeLessThan(WINDOW_MS);
    }
  });

  it("are logged, retried one per block for a quarter of the window, and dropped with a reason in the end", async () => {
    const { pool, build, warnings, events } = aProposer();
    const endless = Array.from({ length: 12 }, (_, n) => endlessBy(n + 1));
    for (const transaction of endless) pool.add(transaction, "remote");
    const triesInBlock: number[] = [];
    for (let block = 0; block < 80; block++) {
      const before = warnings.length;
      const { transactions, tookMs } = await build();
      expect(transactions).toEqual([]);
      expect(tookMs).toBeLessThan(WINDOW_MS * 0.6);
      triesInBlock.push(warnings.slice(before).filter(({ ranMs }) => ranMs > WINDOW_MS / 8 + 20).length);
    }
    expect(Math.max(...triesInBlock)).toBe(1);
    expect(Math.max(...warnings.map(({ ranMs }) => ranMs))).toBeLessThan(WINDOW_MS / 4 + 20);
    for (const { hash, sender } of endless) {
      const logged = warnings.filter((warning) => warning.hash === toHex(hash));
      expect(logged.length).toBeGreaterThanOrEqual(4);
      expect(logged[0]).toMatchObject({
        sender: toHex(sender),
        message: expect.stringContaining("set aside"),
      });
      expect(logged.at(-1)).toMatchObject({ tries: 4, message: expect.stringContaining("dropped") });
      expect(events).toContainEqual(
        expect.stringMatching(new RegExp(`^dropped ${toHex(hash).slice(2)}: it was stopped after \\d+ ms`)),
      );
    }
    expect([...pool.entries()]).toEqual([]);
  });

  it("delay only later ones of their sender, and are mined where the retry gives them time enough", async () => {
    const { pool, build, warnings } = aProposer();
    const slowOne = lasting(160);
    const behind = aTransaction({ nonce: 1n, gasLimit: 21_000n });
    const other = aTransaction({ gasLimit: 21_000n, privateKey: account(2).privateKey });
    for (const transaction of [slowOne, behind, other]) pool.add(transaction, "remote");
    const blocks = [];
    for (let block = 0; block < 4; block++) blocks.push(hashesOf((await build()).transactions));
    expect(blocks[0]).toEqual(hashesOf([other]));
    expect(blocks.slice(1).flat()).toEqual(hashesOf([slowOne, behind]));
    expect(warnings).toHaveLength(1);
  });

  it("are undone completely, however deep their calls were", async () => {
    const { pool, build } = aProposer();
    const nested = endlessBy(1, { to: NESTED });
    const payment = aTransaction({ gasLimit: 21_000n });
    const call = lasting(1, { privateKey: account(3).privateKey });
    for (const transaction of [nested, payment, call]) pool.add(transaction, "remote");
    const { transactions, overlay } = await build();
    expect(hashesOf(transactions)).toEqual(hashesOf([payment, call]));
    expect(overlay.account(nested.sender)).toMatchObject({ nonce: 0n, balance: 10n * ETHER });
    expect(overlay.storage(NESTED, slotOf(0)).some((byte) => byte !== 0)).toBe(false);
  });

  it("of a sender with three dropped before are dropped at the first try", async () => {
    const { pool, build, warnings } = aProposer();
    for (let value = 0; value < 3; value++) {
      pool.add(endlessBy(1, { gasPrice: 10n ** 9n + BigInt(value) }), "remote");
      for (let block = 0; pool.statistics.pending > 0; block++) {
        expect(block).toBeLessThan(40);
        await build();
      }
    }
    const before = warnings.length;
    pool.add(endlessBy(1, { gasPrice: 10n ** 9n + 10n }), "remote");
    await build();
    expect(pool.statistics.pending).toBe(0);
    expect(warnings.slice(before)).toMatchObject([{ message: expect.stringContaining("dropped"), tries: 1 }]);
  });

  itIfThorough(
    "do not delay other senders for long, even if their senders replace them in each block",
    async () => {
      const { pool, build } = aProposer();
      const waited: number[] = [];
      const honest = Array.from({ length: 20 }, (_, n) =>
        lasting(5, {
          gasPrice: 1_000_000_000n,
          gasLimit: 10n ** 6n,
          privateKey: accountFromSeed(100 + n).privateKey,
        }),
      );
      let gasPrice = 2_000_000_000n;
      for (const transaction of honest) {
        for (let seed = 1; seed <= SLOW_SENDERS; seed++)
          expect(pool.add(endlessBy(seed, { gasPrice, gasLimit: 10n ** 7n }), "remote").ok).toBe(true);
        gasPrice += gasPrice / 8n;
        pool.add(transaction, "remote");
        const { transactions, tookMs } = await build();
        expect(tookMs).toBeLessThan(WINDOW_MS);
        waited.push(transactions.length);
      }
      // There are enough senders to use up the time for stopped new transactions within one or two blocks.
      expect(waited.slice(-15).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(15);
    },
  );

  it("get more tries where the machine is busy with other processes, but not for ever", async () => {
    const { pool, build, warnings } = aProposer({ cpuShare: 0.3 });
    pool.add(endlessBy(1), "remote");
    for (let block = 0; pool.statistics.pending > 0 && block < 400; block++) await build();
    expect(pool.statistics.pending).toBe(0);
    expect(warnings.at(-1)).toMatchObject({ message: expect.stringContaining("dropped"), tries: 16 });
  });

  it("that were dropped are not tried when they are sent again", async () => {
    const { pool, build, events } = aProposer();
    const endless = endlessBy(1);
    for (let times = 0; times < 2; times++) {
      pool.add(endless, "remote");
      for (let block = 0; pool.statistics.pending > 0 && block < 40; block++) await build();
    }
    pool.add(endless, "remote");
    const { tookMs } = await build();
    expect(tookMs).toBeLessThan(20);
    expect(events.filter((event) => event.startsWith("dropped"))).toHaveLength(3);
  });

  it("are bounded: one more than may be set aside is dropped at its first try", async () => {
    const { slow } = aProposer();
    const limits = slow.limitsFor({ number: 1n, windowMs: WINDOW_MS, isLoneValidator: false });
    const reasons = Array.from({ length: MAX_SET_ASIDE + 2 }, (_, n) =>
      limits.stopped(endlessBy(n + 1), { limitMs: 1, tookMs: 1 }),
    );
    expect(reasons.slice(0, MAX_SET_ASIDE).every((reason) => reason === undefined)).toBe(true);
    expect(reasons.at(-1)).toContain("are set aside already");
  });

  it("get the spare time of a lone validator, and no more", async () => {
    const lone = aProposer({ isLoneValidator: true });
    const many = aProposer();
    const slowOne = lasting(500);
    for (const { pool, build } of [lone, many]) {
      pool.add(slowOne, "local");
      for (let block = 0; block < 30; block++) expect((await build()).tookMs).toBeLessThan(WINDOW_MS);
    }
    expect(lone.events).toEqual([expect.stringContaining("added")]);
    expect(lone.pool.statistics.pending).toBe(0);
    expect(many.events).toContainEqual(expect.stringContaining("dropped"));
  });
});

it.each([
  [false, "are tried"],
  [true, "wait for the next block"],
])(
  "payments after too much lost time, where a contract is asked about each: %s, %s",
  (isContractAsked, outcome) => {
    const slow = new SlowTransactions({ nowMs: () => 0, isContractAsked, logger: silentLogger });
    const limits = slow.limitsFor({ number: 1n, windowMs: WINDOW_MS, isLoneValidator: false });
    for (let who = 1; who <= 12; who++) {
      const transaction = endlessBy(who);
      const limitMs = limits.limitMs(transaction, WINDOW_MS);
      if (typeof limitMs === "number") limits.stopped(transaction, { limitMs, tookMs: limitMs });
    }
    const [payment] = payments(1);
    if (payment === undefined) throw new Error("there is one");
    expect(limits.limitMs(payment, WINDOW_MS) === "notNow").toBe(outcome !== "are tried");
  },
);
