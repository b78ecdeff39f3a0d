import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  createTracePool,
  DEFAULT_TRACE_POOL_SETTINGS,
  type TracePool,
  type TracePoolSettings,
} from "../../src/calls/tracePool.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { type Clock, systemClock } from "../../src/primitives/clock.ts";
import { joinPieces, roughLengthOf } from "../../src/primitives/jsonPieces.ts";
import { JsonPieces } from "../../src/rpc/method.ts";
import { traceAnswer } from "../../src/rpc/results/traceAnswer.ts";
import type { Database } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import type { DebugStyle, TraceJob, TraceResult } from "../../src/tracers/traceJob.ts";
import { aCaller } from "../builders/aCaller.ts";
import { aChain } from "../builders/aChain.ts";
import { createHandClock } from "../builders/handClock.ts";
import { advanceUntil } from "../builders/handTimeouts.ts";
import { TEST_HANG_MS } from "../hang.ts";
import { itIfThorough } from "../thorough.ts";
import { PATIENT_SLICES } from "./patientSlices.ts";

/** Returns slot 0. */
const READER = "0x00000000000000000000000000000000000add00";
/** JUMPDEST PUSH0 JUMP, for ever. */
const ENDLESS = "0x00000000000000000000000000000000000100b5";

const STRUCT_LOGS: DebugStyle = {
  kind: "structLogs",
  options: { disableMemory: false, disableStack: false, disableStorage: false },
};
const FLAT_CALL_TRACER: DebugStyle = {
  kind: "flatCallTracer",
  config: { convertParityErrors: false, includePrecompiles: false },
};
const CALL_TRACER: DebugStyle = { kind: "callTracer", config: { onlyTopCall: false, withLog: false } };

/** Calls an account without code, for ever. */
const CALLER = "0x0000000000000000000000000000000000ca11e4";
const PARITY = { trace: false, vmTrace: false, stateDiff: false };

const folder = mkdtempSync(join(tmpdir(), "ibex-trace-"));
const path = join(folder, "chain");
let database: Database;
let spec: ChainSpec;
let pool: TracePool;

beforeAll(async () => {
  database = await openLevelDatabase({ path });
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { alloc: object };
  genesis.alloc = {
    [READER]: { balance: "0x0", code: "0x5f545f5260205ff3", storage: { "0x00": "0x2a" } },
    [ENDLESS]: { balance: "0x0", code: "0x5b5f56" },
    [CALLER]: { balance: "0x0", code: "0x5b5f5f5f5f5f61dead5af1505f56" },
  };
  ({ spec } = await aChain({ genesis: JSON.stringify(genesis), database }));
  // A worker takes most of a second to start, so all tests share one.
  pool = aPool({ limitBytes: 4 * 1024 * 1024 });
});

afterAll(async () => {
  await pool.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

function aPool(settings: Partial<TracePoolSettings>, clock: Clock = systemClock): TracePool {
  return createTracePool(
    { ...DEFAULT_TRACE_POOL_SETTINGS, timeoutMs: TEST_HANG_MS, slices: PATIENT_SLICES, ...settings },
    { databasePath: path, spec, clock, logger: silentLogger },
  );
}

function traceCall(
  to: string,
  style: DebugStyle,
  gasLimit = 100_000n,
  tracePool: TracePool = pool,
): Promise<TraceResult> {
  const call = { to: addressFromHex(to), gasLimit };
  return tracePool.run({ kind: "debugCall", blockNumber: 0n, call, style }, aCaller);
}

function jsonOf(result: TraceResult): unknown {
  if (result.kind !== "traced") return result;
  return JSON.parse(joinPieces(result.pieces));
}

describe("the trace pool", () => {
  it("shows each instruction with the stack before and the memory after it", async () => {
    const word = (value: number): string => value.toString(16).padStart(64, "0");
    const trace = jsonOf(await traceCall(READER, STRUCT_LOGS)) as { structLogs: { op: string }[] };
    expect(trace).toMatchObject({ gas: 23_115, failed: false, returnValue: word(42) });
    expect(trace.structLogs.map(({ op }) => op).join(" ")).toBe(
      "PUSH0 SLOAD PUSH0 MSTORE PUSH1 PUSH0 RETURN",
    );
    expect(trace.structLogs[3]).toEqual({
      pc: 3,
      op: "MSTORE",
      gas: 76_896,
      gasCost: 6,
      depth: 1,
      stack: [word(42), word(0)],
      memory: [word(42)],
      storage: {},
      reason: null,
    });
  });

  it("returns the call tree for callTracer", async () => {
    expect(jsonOf(await traceCall(READER, CALL_TRACER))).toMatchObject({
      type: "CALL",
      to: READER,
      gas: "0x186a0",
      gasUsed: "0x5a4b",
      output: `0x${"2a".padStart(64, "0")}`,
    });
  });

  itIfThorough("terminates the worker of an endless call at the time limit, and runs the next", async () => {
    const clock = createHandClock(0);
    const shortLimit = aPool({ timeoutMs: 1000 }, clock);
    onTestFinished(() => shortLimit.close());
    const endless = traceCall(ENDLESS, CALL_TRACER, 2n ** 62n, shortLimit);
    const next = () => traceCall(READER, CALL_TRACER, 100_000n, shortLimit);
    expect(jsonOf(await next())).toMatchObject({ type: "CALL" });
    await advanceUntil(clock, endless);
    expect(await endless).toEqual({ kind: "timedOut", limitMs: 1000 });
    expect(jsonOf(await next())).toMatchObject({ type: "CALL" });
    // A long trace needs the very thread that the endless one had.
    const long = await traceCall(ENDLESS, CALL_TRACER, 20_000_000n, shortLimit);
    expect(jsonOf(long)).toMatchObject({ error: "out of gas" });
  });

  it("refuses a trace that exceeds the size limit", async () => {
    expect(await traceCall(ENDLESS, STRUCT_LOGS, 2n ** 62n)).toEqual({ kind: "tooLarge" });
    expect(jsonOf(await traceCall(READER, CALL_TRACER))).toMatchObject({ type: "CALL" });
  });

  it("hands over a long trace in pieces, which are joined on no thread", async () => {
    const result = await traceCall(ENDLESS, STRUCT_LOGS);
    if (result.kind !== "traced") throw new Error(result.kind);
    const { pieces } = result;
    expect(roughLengthOf(pieces)).toBeGreaterThan(2 * 1024 * 1024);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(128 * 1024);
    expect(jsonOf(result)).toMatchObject({ gas: 100_000, failed: true });
    const answer = traceAnswer(result);
    expect(answer instanceof JsonPieces && answer.pieces).toBe(pieces);
  });

  it("reports that a block is not available", async () => {
    expect(await pool.run({ kind: "block", blockNumber: 7n }, aCaller)).toEqual({
      kind: "stateUnavailable",
    });
  });

  it("explains in Besu's words why a call cannot start", async () => {
    expect(await traceCall(READER, STRUCT_LOGS, 20_000n)).toEqual({
      kind: "refused",
      detail: "intrinsic gas cost 21000 exceeds gas limit 20000",
    });
  });

  itIfThorough.each<[what: string, job: TraceJob]>([
    ["instructions", { kind: "call", blockNumber: 0n, call: endless(ENDLESS, { ...PARITY, vmTrace: true }) }],
    [
      "calls in a flat trace",
      { kind: "call", blockNumber: 0n, call: endless(CALLER, { ...PARITY, trace: true }) },
    ],
    [
      "calls in all traces",
      { kind: "call", blockNumber: 0n, call: endless(CALLER, { ...PARITY, trace: true, vmTrace: true }) },
    ],
    [
      "calls in a tree",
      { kind: "debugCall", blockNumber: 0n, call: endless(CALLER, PARITY).call, style: CALL_TRACER },
    ],
    [
      "calls in a flat list",
      { kind: "debugCall", blockNumber: 0n, call: endless(CALLER, PARITY).call, style: FLAT_CALL_TRACER },
    ],
  ])("has enough memory for as many %s as a result may hold, and refuses more", async (_, job) => {
    const large = aPool({});
    onTestFinished(() => large.close());
    expect(await large.run(job, aCaller)).toEqual({ kind: "tooLarge" });
  });
});

function endless(to: string, types: typeof PARITY) {
  return { call: { to: addressFromHex(to), gasLimit: 2n ** 62n }, types };
}
