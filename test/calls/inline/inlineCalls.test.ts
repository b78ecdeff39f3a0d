import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CallPool, createCallPool, DEFAULT_CALL_POOL_SETTINGS } from "../../../src/calls/callPool.ts";
import { SLICE_MS } from "../../../src/calls/inline/callSlice.ts";
import { type CalledChain, InlineCalls } from "../../../src/calls/inline/inlineCalls.ts";
import { CALL_SLICE_MS } from "../../../src/calls/inline/sliceCosts.ts";
import type { ChainSpec } from "../../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../../src/execution/blockSession.ts";
import type { CallRequest, SimulationJob, Simulator } from "../../../src/execution/simulation/callRequest.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { asHash } from "../../../src/primitives/hash.ts";
import { hexToBytes } from "../../../src/primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import type { Database } from "../../../src/storage/database.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain } from "../../builders/aChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { casesOf } from "../../thorough.ts";

/** Returns its argument plus the number in slot 0. */
const ADDER = contract(1);
/** Stores its argument in slot 1, logs it, and returns what was there. */
const STORER = contract(2);
/** Reverts with its argument as data. */
const REVERTER = contract(3);
/** Calls the address in its argument with 32 bytes of zeros and most of its gas, and returns all that comes back. */
const CALLER = contract(4);

/** Code that runs until its gas is spent, each in another way. */
const ENDLESS = {
  "empty loop": "5b5f56",
  "powers without a jump": `7f${"ff".repeat(32)}${"80800a50".repeat(6000)}`,
  "memory of 60 MB": "5f6303a0000052",
  "hashes of a megabyte": "5b621000005f20505f56",
  "slots never read before": "5f5b805450600101600156",
  "balances never read before": "5f5b803150600101600156",
  creations: "5b5f5f5ff0505f56",
  "calls within calls": "5f5f5f5f5f305af1",
  "copies of code": "5b6160005f5f303c5f56",
} as const;

/** Those of which one step may exceed the whole time limit, so that they are aborted before it. */
const ABORTED_BEFORE_STEP: ReadonlySet<string> = new Set([
  "memory of 60 MB",
  "hashes of a megabyte",
  "creations",
]);

function contract(n: number): string {
  return `0x${(0xc0de00 + n).toString(16).padStart(40, "0")}`;
}

const endlessAt = new Map(Object.keys(ENDLESS).map((name, index) => [name, contract(16 + index)]));

const folder = mkdtempSync(join(tmpdir(), "ibex-inline-"));
const path = join(folder, "chain");
let database: Database;
let spec: ChainSpec;
let chain: CalledChain;
let pool: CallPool;

beforeAll(async () => {
  database = await openLevelDatabase({ path });
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { alloc: object };
  const codes = {
    [ADDER]: "5f355f54015f5260205ff3",
    [STORER]: "6001545f525f355f52365fa060205ff3",
    [REVERTER]: "365f5f37365ffd",
    [CALLER]: "5f5f60205f5f5f355af13d5f5f3e3d5ff3",
    ...Object.fromEntries(Object.entries(ENDLESS).map(([name, code]) => [endlessAt.get(name), code])),
  };
  const alloc = Object.entries(codes).map(
    ([address, code]) =>
      [address, { balance: "0x5", code: `0x${code}`, storage: { "0x00": "0x2a", "0x01": "0x07" } }] as const,
  );
  genesis.alloc = { ...genesis.alloc, ...Object.fromEntries(alloc) };
  ({ spec, chain } = await aChain({ genesis: JSON.stringify(genesis), database }));
  pool = createCallPool(
    { ...DEFAULT_CALL_POOL_SETTINGS, timeoutMs: TEST_HANG_MS },
    { databasePath: path, spec, clock: systemClock, logger: silentLogger },
  );
  await loadInterpreter();
});

afterAll(async () => {
  await pool.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Clock readings within a slice; and more than the readings around it. */
const READINGS = 40;
const OTHER_READINGS = 20;

/** Inline calls with a clock that only advances when it is read: `readings` of them are one millisecond. */
function someInlineCalls({ readings = 1500 }: { readonly readings?: number } = {}) {
  let nowMs = 0;
  let pooledCalls = 0;
  const countingPool: Simulator = {
    run: (job, requester) => {
      pooledCalls++;
      return pool.run(job, requester);
    },
  };
  const tick = (): number => {
    nowMs += 1 / readings;
    return nowMs;
  };
  const calls = new InlineCalls({
    spec,
    gasCap: 0n,
    chain,
    pool: countingPool,
    nowMs: tick,
  });
  return {
    run: (job: SimulationJob) => calls.run(job, aCaller),
    get pooledCalls() {
      return pooledCalls;
    },
  };
}

function aCall(to: string, changes: Partial<CallRequest> = {}): SimulationJob {
  return {
    kind: "call",
    call: { to: addressFromHex(to), data: bigintToFixedBytes(1n, 32), ...changes },
    blockNumber: 0n,
  };
}

const known = fc.constantFrom(
  ...[ADDER, STORER, REVERTER, CALLER, ...endlessAt.values(), contract(99)],
  ...Array.from({ length: 10 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, "0")}`),
);
const anArgument = fc.oneof(
  known.map((address) => hexToBytes(address.slice(2).padStart(64, "0"))),
  fc.uint8Array({ maxLength: 300 }),
);
const someCode = fc
  .array(
    fc
      .constantFrom(...[0x01, 0x02, 0x0a, 0x15, 0x20, 0x30, 0x31, 0x33, 0x34, 0x35, 0x36, 0x37, 0x3b, 0x3d])
      .map((instruction) => Uint8Array.of(0x60, 0x20, 0x5f, instruction)),
    { maxLength: 40 },
  )
  .map((pieces) => Uint8Array.from(Buffer.concat([...pieces, hexToBytes("5f5260205ff3")])));
const anOverride = fc.record(
  {
    balance: fc.bigInt(0n, 2n ** 80n),
    nonce: fc.bigInt(0n, 9n),
    code: someCode,
    storage: fc.record({
      replacesAll: fc.boolean(),
      slots: fc.array(
        fc.record({
          slot: fc.constantFrom(0n, 1n, 2n).map((n) => asHash(bigintToFixedBytes(n, 32))),
          value: fc.bigInt(0n, 2n ** 90n).map((n) => (n === 0n ? new Uint8Array(0) : bigintToBytes(n))),
        }),
        { maxLength: 3 },
      ),
    }),
  },
  { requiredKeys: [] },
);
const aJob: fc.Arbitrary<SimulationJob> = fc.record(
  {
    kind: fc.constantFrom("call", "estimateGas", "createAccessList"),
    blockNumber: fc.constant(0n),
    call: fc.record(
      {
        to: known.map(addressFromHex),
        from: fc.constantFrom(account(0).address, addressFromHex(contract(50)), addressFromHex(ADDER)),
        data: anArgument,
        // Low, so that endless calls end soon.
        gasLimit: fc.bigInt(20_000n, 400_000n),
        gasPrice: fc.constantFrom(0n, 1n, 10n ** 9n),
        value: fc.constantFrom(0n, 1n, 10n ** 30n),
        strict: fc.boolean(),
      },
      { requiredKeys: ["to", "gasLimit"] },
    ),
    overrides: fc.record(
      {
        accounts: fc.array(
          fc
            .tuple(known, anOverride)
            .map(([address, more]) => ({ address: addressFromHex(address), ...more })),
          { maxLength: 2 },
        ),
        block: fc.record(
          { number: fc.bigInt(0n, 500n), gasLimit: fc.constant(400_000n), baseFeePerGas: fc.bigInt(0n, 10n) },
          { requiredKeys: ["gasLimit"] },
        ),
      },
      { requiredKeys: ["block"] },
    ),
  },
  { requiredKeys: ["kind", "blockNumber", "call", "overrides"] },
);

describe("inline calls", () => {
  it("give the same results as workers, for any call", async () => {
    let [total, pooled] = [0, 0];
    await fc.assert(
      fc.asyncProperty(aJob, async (job) => {
        const calls = someInlineCalls();
        const [inline, pooledResult] = await Promise.all([calls.run(job), pool.run(job, aCaller)]);
        expect(inline).toEqual(pooledResult);
        total++;
        pooled += calls.pooledCalls;
      }),
      { numRuns: casesOf(1000) },
    );
    // Both inline calls and those passed to the pool were compared.
    expect(pooled / total).toBeGreaterThan(0.02);
    expect(pooled / total).toBeLessThan(0.7);
  });

  it("pass long calls to the worker pool, the second time without trying", async () => {
    const calls = someInlineCalls();
    const job = aCall(endlessAt.get("empty loop") ?? "", { gasLimit: 30_000_000n });
    const first = await calls.run(job);
    expect(first).toMatchObject({ kind: "halted", reason: "INSUFFICIENT_GAS" });
    expect(await calls.run(job)).toEqual(first);
    expect(calls.pooledCalls).toBe(2);
  });

  it("run short calls inline, also next to long ones", async () => {
    const calls = someInlineCalls();
    const long = aCall(endlessAt.get("empty loop") ?? "", { gasLimit: 30_000_000n });
    const results = await Promise.all([aCall(ADDER), long, aCall(ADDER)].map(calls.run));
    expect(results.map(({ kind }) => kind)).toEqual(["returned", "halted", "returned"]);
    expect(calls.pooledCalls).toBe(1);
  });

  it("pass calls on blocks that are not there to the worker pool", async () => {
    const calls = someInlineCalls();
    expect(await calls.run({ ...aCall(ADDER), blockNumber: 7n })).toEqual({ kind: "stateUnavailable" });
    expect(calls.pooledCalls).toBe(1);
  });

  it("yield the event loop when calls have used up their slice", async () => {
    const calls = someInlineCalls({ readings: 20 });
    let cycles = 0;
    let isDone = false;
    const count = (): void => {
      cycles++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await calls.run(aCall(ADDER));
    const cyclesOfOne = cycles;
    const many = Array.from({ length: 100 }, () => calls.run(aCall(ADDER)));
    await Promise.all(many);
    isDone = true;
    expect(calls.pooledCalls).toBe(0);
    // Each call takes at least a third of a millisecond on this clock.
    expect(cycles - cyclesOfOne).toBeGreaterThanOrEqual(Math.floor((100 * 0.3) / SLICE_MS) - 1);
  });

  it.each(Object.keys(ENDLESS))(
    "abort at the end of their slice, or before a step that may exceed it: %s",
    async (name) => {
      let readings = 0;
      let nowMs = 0;
      let readingsBefore = 0;
      // Only readings advance the clock: code that never reads it would not end with this much gas.
      const tick = (): number => {
        nowMs += CALL_SLICE_MS / READINGS;
        readings++;
        return nowMs;
      };
      const calls = new InlineCalls({
        spec,
        gasCap: 0n,
        chain,
        pool: {
          run: async () => {
            readingsBefore = readings;
            return { kind: "timedOut", limitMs: 0 };
          },
        },
        nowMs: tick,
      });
      const job = aCall(endlessAt.get(name) ?? "", { gasLimit: 2n ** 62n });
      expect(await calls.run(job, aCaller)).toEqual({ kind: "timedOut", limitMs: 0 });
      const expected = ABORTED_BEFORE_STEP.has(name) ? 0 : READINGS;
      expect(readingsBefore).toBeGreaterThan(expected);
      expect(readingsBefore).toBeLessThan(expected + OTHER_READINGS);
    },
  );
});
