import { beforeAll, describe, expect, it } from "vitest";
import { BlockSession, loadInterpreter } from "../../src/execution/blockSession.ts";
import { type BuildSettings, buildBlock } from "../../src/execution/buildBlock.ts";
import { executeBlock } from "../../src/execution/executeBlock.ts";
import { executeTransaction } from "../../src/execution/executeTransaction.ts";
import { eip2565Price, modexp } from "../../src/execution/precompiles/modexp.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { concatBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { atOnce } from "../../src/primitives/steps.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { account } from "../builders/testAccounts.ts";
import { someOf } from "../thorough.ts";
import { anOverlay, theRules } from "./context.ts";

/** As on networks with free gas: 2^53 - 1. */
const GAS_LIMIT = 0x1fffffffffffffn;

beforeAll(loadInterpreter);

/** A free creation with 10^14 gas. */
function creation(init: string, changes: Parameters<typeof aTransaction>[0] = {}): SentTransaction {
  const data = hexToBytes(init);
  return aTransaction({ to: undefined, value: 0n, data, gasPrice: 0n, gasLimit: 10n ** 14n, ...changes });
}

/** MSTORE at 0xffef0000, where Besu's memory has no bytes. */
const BEYOND = "0x600163ffef00005200";

describe("with gas without measure", () => {
  it("a contract may be larger than 2^32 gas pay for, where the network allows such", async () => {
    const size = 21_474_837;
    const rules = theRules("london", { gasLimit: GAS_LIMIT });
    const config = { ...rules.config, contractSizeLimitBytes: 2 ** 31 - 1 };
    const overlay = anOverlay();
    overlay.beginTransaction();
    const session = new BlockSession({ ...rules, config, overlay, yieldPolicy: NEVER_YIELD });
    // PUSH4 of the size, PUSH1 0, RETURN: code of zeros.
    const init = `0x63${size.toString(16).padStart(8, "0")}6000f3`;
    const dataGas = hexToBytes(init).reduce((gas, byte) => gas + (byte === 0 ? 4n : 16n), 0n);
    const executed = await executeTransaction(session, creation(init));
    if (!executed.ok) throw new Error(executed.error.message);
    const words = BigInt(Math.ceil(size / 32));
    const memory = 3n * words + (words * words) / 512n;
    const { outcome, gasUsed } = executed.value;
    expect(outcome).toEqual({ kind: "succeeded" });
    expect(gasUsed - memory - 200n * BigInt(size)).toBe(53_000n + 6n + dataGas);
  });

  it("a transaction that addresses memory which Besu lacks is invalid, and changes nothing", async () => {
    const rules = theRules("london", { gasLimit: GAS_LIMIT });
    const overlay = anOverlay();
    const session = new BlockSession({ ...rules, overlay, yieldPolicy: NEVER_YIELD });
    const before = overlay.changes();
    overlay.beginTransaction();
    const executed = await executeTransaction(session, creation(BEYOND));
    expect(executed).toMatchObject({ ok: false, error: { code: "memoryBeyondLimit", fault: "peer" } });
    expect(overlay.changes()).toEqual(before);
    // The session goes on.
    overlay.beginTransaction();
    const next = await executeTransaction(session, creation("0x60016000f3"));
    expect(next).toMatchObject({ ok: true, value: { outcome: { kind: "succeeded" } } });
    const inBlock = await executeBlock(rules, [creation(BEYOND)], anOverlay(), { yieldPolicy: NEVER_YIELD });
    expect(inBlock).toMatchObject({ ok: false, error: { code: "memoryBeyondLimit" } });
  });

  it("such a transaction leaves the pool, and the block is made without it", async () => {
    const beyond = creation(BEYOND);
    const after = creation("0x60016000f3", { privateKey: account(1).privateKey });
    const waiting = [beyond, after];
    const source = { next: () => waiting.shift(), skipSender: () => undefined };
    const clock = createHandClock(1_000);
    const settings: BuildSettings = {
      clock,
      deadlineMs: clock.nowMs() + 1000,
      minOccupancyRatio: 0.8,
      maxBytes: 100_000,
    };
    const rules = theRules("london", { gasLimit: GAS_LIMIT });
    const built = await buildBlock(rules, source, anOverlay(), settings);
    expect(built.transactions).toEqual([after]);
    expect(built.dropped.map(({ hash }) => toHex(hash))).toEqual([toHex(beyond.hash)]);
    const overlay = anOverlay();
    await executeBlock(rules, built.transactions, overlay, { yieldPolicy: NEVER_YIELD });
    expect(built.overlay.changes()).toEqual(overlay.changes());
  });

  it.each(
    someOf<[string, number, number]>([
      ["a modulus of zeros", 0, 0],
      ["a modulus of one", 1, 0],
      ["another modulus", 7, 1],
    ]),
  )("numbers above 64 MiB to the power of nothing cost what they cost: %s", (_, last, expected) => {
    const size = 64 * 1024 * 1024 + 1;
    const modulus = new Uint8Array(size);
    modulus[size - 1] = last;
    const head = [0n, 0n, BigInt(size)].map((length) => bigintToFixedBytes(length, 32));
    const run = modexp(eip2565Price)({
      data: concatBytes(...head, modulus),
      gasLimit: 10n ** 14n,
      memoryBudget: undefined,
    });
    const { gasUsed, output, failure } = "next" in run ? atOnce(run) : run;
    const words = BigInt(Math.ceil(size / 8));
    expect([gasUsed, output.length, output[size - 1], failure]).toEqual([
      (words * words) / 3n,
      size,
      expected,
      undefined,
    ]);
  });
});
