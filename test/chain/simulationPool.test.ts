import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  createSimulationPool,
  DEFAULT_SIMULATION_SETTINGS,
  type SimulationPool,
  type SimulationSettings,
} from "../../src/chain/simulationPool.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import type { CallRequest, SimulationResult } from "../../src/execution/simulation.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import type { Database } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/levelDatabase.ts";
import { aChain } from "../builders/aChain.ts";

/** Returns its argument plus the number in slot 0. */
const ADDER = "0x00000000000000000000000000000000000add00";
/** JUMPDEST PUSH0 JUMP, for ever. */
const ENDLESS = "0x00000000000000000000000000000000000100b5";

const POINT_EVALUATION = addressFromHex("0x000000000000000000000000000000000000000a");

const folder = mkdtempSync(join(tmpdir(), "ibex-simulation-"));
const path = join(folder, "chain");
let database: Database;
let spec: ChainSpec;
let pool: SimulationPool;

beforeAll(async () => {
  database = await openLevelDatabase({ path });
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { alloc: object };
  genesis.alloc = {
    [ADDER]: { balance: "0x0", code: "0x5f355f54015f5260205ff3", storage: { "0x00": "0x2a" } },
    [ENDLESS]: { balance: "0x0", code: "0x5b5f56" },
  };
  ({ spec } = await aChain({ genesis: JSON.stringify(genesis), database }));
});

afterEach(() => pool.close());

afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

function openPool(settings: Partial<SimulationSettings> = {}): void {
  pool = createSimulationPool(
    { ...DEFAULT_SIMULATION_SETTINGS, ...settings },
    { databasePath: path, spec, clock: systemClock },
  );
}

function call(to: string, argument: bigint, changes: Partial<CallRequest> = {}): Promise<SimulationResult> {
  const data = bigintToFixedBytes(argument, 32);
  return pool.run({ kind: "call", call: { to: addressFromHex(to), data, ...changes }, blockNumber: 0n });
}

function sumOf(result: SimulationResult): bigint | string {
  return result.kind === "returned" ? BigInt(toHex(result.data)) : result.kind;
}

describe("simulated calls on threads", () => {
  it("answers each job with its own result, however many are asked at once", async () => {
    openPool({ threads: 2 });
    const sums = await Promise.all(Array.from({ length: 200 }, (_, n) => call(ADDER, BigInt(n)).then(sumOf)));
    expect(sums).toEqual(Array.from({ length: 200 }, (_, n) => BigInt(n + 42)));
  });

  it("gives no caller another's answer when a contract has to wait for code that is loaded at its first use", async () => {
    openPool();
    await call(ADDER, 0n);
    // The point evaluation precompile, with a claim that fits its hash and has no proof.
    const commitment = new Uint8Array(48);
    const versionedHash = createHash("sha256").update(commitment).digest();
    versionedHash[0] = 1;
    const claim = Buffer.concat([versionedHash, new Uint8Array(64), commitment, new Uint8Array(48)]);
    const [evaluated, ...sums] = await Promise.all([
      pool.run({ kind: "call", call: { to: POINT_EVALUATION, data: claim }, blockNumber: 0n }),
      call(ADDER, 1n),
      call(ADDER, 2n),
    ]);
    expect(evaluated?.kind).toBe("halted");
    expect(sums.map(sumOf)).toEqual([43n, 44n]);
  });

  it("estimates gas and lists accesses on the same threads", async () => {
    openPool();
    const request = { to: addressFromHex(ADDER), data: hexToBytes("0x") };
    const estimate = await pool.run({ kind: "estimateGas", call: request, blockNumber: 0n });
    expect(estimate).toMatchObject({ kind: "returned", gas: 23_123n });
    const listed = await pool.run({ kind: "createAccessList", call: request, blockNumber: 0n });
    expect(listed).toMatchObject({
      kind: "returned",
      accessList: [{ address: addressFromHex(ADDER), storageKeys: [new Uint8Array(32)] }],
    });
  });

  it("kills the thread of an endless call at the time limit, and goes on with the others", async () => {
    openPool({ timeoutMs: 1_000 });
    await call(ADDER, 0n);
    const endless = call(ENDLESS, 0n, { gasLimit: 2n ** 62n });
    const behind = [1n, 2n, 3n].map((n) => call(ADDER, n));
    expect(await endless).toEqual({ kind: "timedOut", limitMs: 1_000 });
    expect((await Promise.all(behind)).map(sumOf)).toEqual([43n, 44n, 45n]);
  });

  it("says that a state is not there", async () => {
    openPool();
    const job = { kind: "call", call: {}, blockNumber: 7n } as const;
    expect(await pool.run(job)).toEqual({ kind: "stateUnavailable" });
  });

  it("puts the operator's cap in the place of every gas limit", async () => {
    openPool({ gasCap: 21_000n });
    const plenty = await call(ADDER, 0n, { gasLimit: 1_000_000n });
    expect(plenty).toMatchObject({ kind: "refused", code: "intrinsicGasAboveLimit" });
  });

  it("refuses a job when too many are waiting", async () => {
    openPool({ waitingLimit: 1, timeoutMs: 300 });
    const jobs = Array.from({ length: 10 }, (_, n) =>
      call(n === 0 ? ENDLESS : ADDER, BigInt(n), { gasLimit: 2n ** 62n }),
    );
    await expect(Promise.all(jobs)).rejects.toThrow("too many calls are waiting");
    expect((await Promise.allSettled(jobs)).filter(({ status }) => status === "rejected")).toHaveLength(1);
  });

  it("refuses what is at hand when it is closed, and starts no thread again", async () => {
    openPool();
    const refused = expect(call(ENDLESS, 0n)).rejects.toThrow("closed");
    await pool.close();
    await refused;
    await expect(call(ADDER, 0n)).rejects.toThrow("closed");
  });

  it("gives up when threads cannot even start", async () => {
    pool = createSimulationPool(DEFAULT_SIMULATION_SETTINGS, {
      databasePath: join(folder, "nowhere"),
      spec,
      clock: systemClock,
    });
    await expect(call(ADDER, 0n)).rejects.toThrow("failed to open");
  });
});
