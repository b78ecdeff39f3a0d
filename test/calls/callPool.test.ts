import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type CallPool,
  type CallPoolSettings,
  createCallPool,
  DEFAULT_CALL_POOL_SETTINGS,
} from "../../src/calls/callPool.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import {
  type CallRequest,
  packTouched,
  type SimulationResult,
} from "../../src/execution/simulation/callRequest.ts";
import { type LogFields, type Logger, silentLogger } from "../../src/observability/logger.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { type Clock, clockOf, systemClock } from "../../src/primitives/clock.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import type { Requester } from "../../src/primitives/requester.ts";
import type { Database } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { aCaller } from "../builders/aCaller.ts";
import { aChain } from "../builders/aChain.ts";
import { createHandClock } from "../builders/handClock.ts";
import { advanceUntil } from "../builders/handTimeouts.ts";
import { HANG_MS, TEST_HANG_MS } from "../hang.ts";
import { itIfThorough } from "../thorough.ts";
import { PATIENT_SLICES } from "./patientSlices.ts";

/** Returns its argument plus the number in slot 0. */
const ADDER = "0x00000000000000000000000000000000000add00";
/** JUMPDEST PUSH0 JUMP, for ever. */
const ENDLESS = "0x00000000000000000000000000000000000100b5";
/** Logs with four topics, for ever. */
const FLOOD = "0x0000000000000000000000000000000000f100d5";

const POINT_EVALUATION = addressFromHex("0x000000000000000000000000000000000000000a");

const folder = mkdtempSync(join(tmpdir(), "ibex-simulation-"));
const path = join(folder, "chain");
let database: Database;
let spec: ChainSpec;
let pool: CallPool;

beforeAll(async () => {
  database = await openLevelDatabase({ path });
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { alloc: object };
  genesis.alloc = {
    [ADDER]: { balance: "0x0", code: "0x5f355f54015f5260205ff3", storage: { "0x00": "0x2a" } },
    [ENDLESS]: { balance: "0x0", code: "0x5b5f56" },
    [FLOOD]: { balance: "0x0", code: "0x5f5b8080808060205fa4600101600156" },
  };
  ({ spec } = await aChain({ genesis: JSON.stringify(genesis), database }));
});

afterEach(() => pool.close());

afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

function openPool(
  settings: Partial<CallPoolSettings> = {},
  logger: Logger = silentLogger,
  clock: Clock = systemClock,
): void {
  pool = createCallPool(
    { ...DEFAULT_CALL_POOL_SETTINGS, timeoutMs: TEST_HANG_MS, slices: PATIENT_SLICES, ...settings },
    { databasePath: path, spec, clock, logger },
  );
}

type Changes = Partial<CallRequest> & { readonly requester?: Requester };

function call(
  to: string,
  argument: bigint,
  { requester = aCaller, ...changes }: Changes = {},
): Promise<SimulationResult> {
  const data = bigintToFixedBytes(argument, 32);
  return pool.run(
    { kind: "call", call: { to: addressFromHex(to), data, ...changes }, blockNumber: 0n },
    requester,
  );
}

/** Calls that take until their time limit, or until `gasLimit` is burnt. */
function endlessCalls(
  count: number,
  requester: Requester,
  gasLimit = 2n ** 62n,
): { readonly endedCount: number; readonly results: readonly Promise<SimulationResult>[] } {
  let endedCount = 0;
  const results = Array.from({ length: count }, (_, n) => call(ENDLESS, BigInt(n), { requester, gasLimit }));
  for (const result of results)
    result.then(
      () => endedCount++,
      () => undefined,
    );
  return {
    results,
    get endedCount() {
      return endedCount;
    },
  };
}

/** A requester with a client of its own, until it leaves. */
function aClient(): Requester & { leave(): void } {
  let isGone = false;
  return {
    remoteHost: "somewhere",
    client: {},
    isAbandoned: () => isGone,
    leave: () => {
      isGone = true;
    },
  };
}

/** A little longer than until the next check of a running job (CHECK_MS of jobThread.ts). */
const PAST_CHECK_MS = 1_100;
/** Longer than any time limit of these pools. */
const HOUR_MS = 3_600_000;

/** Blocks this thread, which supervises the workers. */
function blockThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function sumOf(result: SimulationResult): bigint | string {
  return result.kind === "returned" ? BigInt(toHex(result.data)) : result.kind;
}

describe("the call pool", () => {
  it("answers each job with its own result, however many are sent at once", async () => {
    openPool({ threads: 2 });
    const sums = await Promise.all(Array.from({ length: 200 }, (_, n) => call(ADDER, BigInt(n)).then(sumOf)));
    expect(sums).toEqual(Array.from({ length: 200 }, (_, n) => BigInt(n + 42)));
  });

  itIfThorough(
    "gives each caller its own result when a contract waits for code that is loaded at its first use",
    async () => {
      openPool();
      await call(ADDER, 0n);
      // The point evaluation precompile, with a claim that fits its hash and has no proof.
      const commitment = new Uint8Array(48);
      const versionedHash = createHash("sha256").update(commitment).digest();
      versionedHash[0] = 1;
      const claim = Buffer.concat([versionedHash, new Uint8Array(64), commitment, new Uint8Array(48)]);
      const [evaluated, ...sums] = await Promise.all([
        pool.run({ kind: "call", call: { to: POINT_EVALUATION, data: claim }, blockNumber: 0n }, aCaller),
        call(ADDER, 1n),
        call(ADDER, 2n),
      ]);
      expect(evaluated?.kind).toBe("halted");
      expect(sums.map(sumOf)).toEqual([43n, 44n]);
    },
  );

  it("has no threads until some time after its beginning, or until it gets a job", async () => {
    const clock = createHandClock(0);
    openPool({}, silentLogger, clock);
    pool.begin();
    clock.advanceBy(4_999);
    expect(pool.load.threads).toBe(0);
    clock.advanceBy(1);
    expect(pool.load.threads).toBe(DEFAULT_CALL_POOL_SETTINGS.threads);
  });

  it("estimates gas and creates access lists on the same threads", async () => {
    openPool();
    const request = { to: addressFromHex(ADDER), data: hexToBytes("0x") };
    const estimate = await pool.run({ kind: "estimateGas", call: request, blockNumber: 0n }, aCaller);
    expect(estimate).toMatchObject({ kind: "returned", gas: 23_123n });
    const listed = await pool.run({ kind: "createAccessList", call: request, blockNumber: 0n }, aCaller);
    expect(listed).toMatchObject({
      kind: "returned",
      accessList: packTouched([{ address: addressFromHex(ADDER), slots: new Uint8Array(32) }]),
    });
  });

  it("terminates the worker of an endless call at the time limit, and runs the other calls", async () => {
    const clock = createHandClock(0);
    openPool({ timeoutMs: 3_000 }, silentLogger, clock);
    await call(ADDER, 0n);
    const endless = call(ENDLESS, 0n, { gasLimit: 2n ** 62n });
    const sums = async (): Promise<unknown> =>
      (await Promise.all([1n, 2n, 3n].map((n) => call(ADDER, n)))).map(sumOf);
    expect(await sums()).toEqual([43n, 44n, 45n]);
    await advanceUntil(clock, endless);
    expect(await endless).toEqual({ kind: "timedOut", limitMs: 3_000 });
    expect(await sums()).toEqual([43n, 44n, 45n]);
    // A long call needs the very thread that the endless one had.
    expect(await call(ENDLESS, 0n, { gasLimit: 400_000_000n })).toMatchObject({ kind: "halted" });
  });

  itIfThorough(
    "answers a call that fills the heap of its worker as too large, logs a warning, and runs the other calls",
    async () => {
      const warnings: LogFields[] = [];
      const logger: Logger = { ...silentLogger, warn: (fields) => warnings.push(fields) };
      openPool({ heapMb: 48 }, logger);
      await call(ADDER, 0n);
      const flood = call(FLOOD, 0n, { gasLimit: 2n ** 62n });
      const behind = [1n, 2n, 3n].map((n) => call(ADDER, n));
      expect(await flood).toEqual({ kind: "tooLarge" });
      expect(warnings).toEqual([{ remoteHost: aCaller.remoteHost, thread: "callWorker" }]);
      expect((await Promise.all(behind)).map(sumOf)).toEqual([43n, 44n, 45n]);
    },
  );

  itIfThorough(
    "does not count the time for which the main thread was blocked, so answered jobs are not terminated",
    async () => {
      let blockedMs = 0;
      const clock = clockOf(() => performance.now() + blockedMs);
      openPool({}, silentLogger, clock);
      await call(ADDER, 0n);
      // In the next event-loop cycle, timers come before results.
      await yieldToEventLoop();
      const short = [1n, 2n, 3n].map((n) => call(ADDER, n));
      blockedMs = HOUR_MS;
      blockThread(PAST_CHECK_MS);
      expect((await Promise.all(short)).map(sumOf)).toEqual([43n, 44n, 45n]);
      expect(pool.load.threads).toBe(1);
    },
  );

  it("does not count the time in which a new worker loads the interpreter", async () => {
    const clock = createHandClock(0);
    openPool({ timeoutMs: 1000 }, silentLogger, clock);
    const sum = call(ADDER, 1n);
    // The worker says that it is ready in a later cycle of the event loop.
    clock.advanceBy(2000);
    expect(sumOf(await sum)).toBe(43n);
  });

  it("reports that a state is not available", async () => {
    openPool();
    const job = { kind: "call", call: {}, blockNumber: 7n } as const;
    expect(await pool.run(job, aCaller)).toEqual({ kind: "stateUnavailable" });
  });

  it("applies the gas cap to every gas limit", async () => {
    openPool({ gasCap: 21_000n });
    const plenty = await call(ADDER, 0n, { gasLimit: 1_000_000n });
    expect(plenty).toMatchObject({ kind: "refused", code: "intrinsicGasAboveLimit" });
  });

  itIfThorough("drops the newest job of the client with the most jobs when the queue is full", async () => {
    openPool({ waitingLimit: 2 });
    const [greedy, modest] = [aClient(), aClient()];
    const jobs = [greedy, greedy, modest, greedy].map((requester, n) =>
      call(ADDER, BigInt(n), { requester }),
    );
    expect((await Promise.all(jobs)).map(sumOf)).toEqual([42n, "busy", 44n, "busy"]);
  });

  it("answers the short call of one client of ten before any endless call that the others sent first", async () => {
    openPool();
    await call(ADDER, 0n);
    const endless = Array.from({ length: 9 }, () => endlessCalls(100, aClient()));
    expect(sumOf(await call(ADDER, 1n, { requester: aClient() }))).toBe(43n);
    expect(endless.map(({ endedCount }) => endedCount)).toEqual(Array.from({ length: 9 }, () => 0));
  });

  itIfThorough("goes on to answer short calls of others while endless ones are under way", async () => {
    openPool();
    await call(ADDER, 0n);
    const endless = endlessCalls(3, aClient());
    for (let n = 0n; n < 10n; n++) {
      await expect(call(ADDER, n, { requester: aClient() }).then(sumOf)).resolves.toBe(n + 42n);
      await yieldToEventLoop();
    }
    expect(endless.endedCount).toBe(0);
    expect(pool.load).toMatchObject({ threads: 2 });
  });

  itIfThorough("begins a call that used up its first slice anew, and answers it", async () => {
    openPool({ slices: { ...PATIENT_SLICES, shortMs: 1, longMs: 5 } });
    await call(ADDER, 0n);
    const long = await call(ENDLESS, 0n, { gasLimit: 200_000_000n });
    expect(long).toMatchObject({ kind: "halted", gas: 200_000_000n });
    expect(pool.load.threads).toBe(2);
  });

  itIfThorough(
    "begins a call that used up a short slice because others waited anew with a long one, on the same thread",
    async () => {
      openPool({ slices: { ...PATIENT_SLICES, shortMs: 5, longMs: HANG_MS } });
      await call(ADDER, 0n);
      const long = await Promise.all(endlessCalls(3, aClient(), 50_000_000n).results);
      expect(long.map(({ kind }) => kind)).toEqual(["halted", "halted", "halted"]);
      expect(pool.load.threads).toBe(1);
    },
  );

  itIfThorough("estimates gas in the middle of endless calls of others", async () => {
    openPool();
    const request = { to: addressFromHex(ADDER), data: hexToBytes("0x") };
    const endless = [1, 2, 3].map(() => endlessCalls(5, aClient()));
    const estimate = await pool.run({ kind: "estimateGas", call: request, blockNumber: 0n }, aClient());
    expect(estimate).toMatchObject({ kind: "returned", gas: 23_123n });
    expect(endless.map(({ endedCount }) => endedCount)).toEqual([0, 0, 0]);
  });

  it("keeps the order of a caller's jobs, although jobs sent in advance are withdrawn", async () => {
    openPool({ slices: { ...PATIENT_SLICES, shortMs: HANG_MS, longMs: HANG_MS } });
    const clients = [aClient(), aClient()];
    for (let n = 0n; n < 20n; n++) await call(ADDER, n);
    const ended: number[][] = [[], []];
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const changes = { requester: clients[n % 2] ?? aCaller, gasLimit: 1_000_000n };
        await call(n % 7 === 3 ? ENDLESS : ADDER, BigInt(n), changes);
        ended[n % 2]?.push(n);
      }),
    );
    expect(ended).toEqual([0, 1].map((first) => Array.from({ length: 20 }, (_, n) => 2 * n + first)));
  });

  it("starts no job of a caller who is gone, and stops its running one", async () => {
    openPool();
    const [leaving, staying] = [aClient(), aClient()];
    await call(ADDER, 0n, { requester: leaving });
    const endless = endlessCalls(1, leaving);
    const others = [1n, 2n, 3n].map((n) => call(ADDER, n, { requester: leaving }));
    const sum = call(ADDER, 4n, { requester: staying });
    leaving.leave();
    expect(sumOf(await sum)).toBe(46n);
    expect(endless.endedCount).toBe(1);
    expect((await Promise.all(others)).map(sumOf)).toEqual(["timedOut", "timedOut", "timedOut"]);
  });

  itIfThorough("makes room for others by dropping the jobs of a caller who is gone", async () => {
    openPool({ waitingLimit: 3 });
    const [busy, leaving] = [aClient(), aClient()];
    // A long call: after it no job is sent to the worker in advance, so the calls below wait.
    await call(ENDLESS, 0n, { gasLimit: 100_000_000n });
    const endless = endlessCalls(1, busy);
    const dropped = [1n, 2n, 3n].map((n) => call(ADDER, n, { requester: leaving }));
    leaving.leave();
    expect((await Promise.all(dropped)).map(sumOf)).toEqual(["timedOut", "timedOut", "timedOut"]);
    expect(endless.endedCount).toBe(0);
  });

  it("rejects all jobs when it is closed, and starts no thread again", async () => {
    openPool();
    const refused = expect(call(ENDLESS, 0n)).rejects.toThrow("closed");
    await pool.close();
    await refused;
    await expect(call(ADDER, 0n)).rejects.toThrow("closed");
  });

  itIfThorough("rejects all jobs when workers cannot start", async () => {
    pool = createCallPool(DEFAULT_CALL_POOL_SETTINGS, {
      databasePath: join(folder, "nowhere"),
      spec,
      clock: systemClock,
      logger: silentLogger,
    });
    await expect(call(ADDER, 0n)).rejects.toThrow("failed to open");
  });

  itIfThorough("refuses jobs while its workers cannot start, and runs them once they can", async () => {
    const later = join(folder, "later");
    pool = createCallPool(DEFAULT_CALL_POOL_SETTINGS, {
      databasePath: later,
      spec,
      clock: systemClock,
      logger: silentLogger,
    });
    await expect(call(ADDER, 0n)).rejects.toThrow("failed to open");
    await expect(call(ADDER, 0n)).rejects.toThrow("failed to open");
    const copy = await openLevelDatabase({ path: later });
    onTestFinished(() => copy.close());
    const result = (): Promise<string> => call(ADDER, 0n).then(({ kind }) => kind, String);
    await expect.poll(result).toBe("stateUnavailable");
  });
});
