import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createSimulationPool,
  DEFAULT_SIMULATION_SETTINGS,
  type SimulationPool,
} from "../../../src/calls/callPool.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { createDispatcher, type Dispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import type { Database } from "../../../src/storage/database.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { aChain } from "../../builders/aChain.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { IN_REAL_TIME } from "../../realTime.ts";
import { anHttpServer, ask, aWebSocketClient, aWebSocketServer } from "./servers.ts";

/** JUMPDEST PUSH0 JUMP, for ever. */
const ENDLESS = "0x00000000000000000000000000000000000100b5";
/** More than can be waited for here: each takes most of a tenth of a second until the gas cap. */
const CALLS = 300;
/** Of one batch, as many are under way at one time. */
const UNDER_WAY = 8;
const WAITING_LIMIT = 2 * UNDER_WAY;
/** At most, and those that it ends before one looks. */
const WITH_THE_THREAD = 5;

const folder = mkdtempSync(join(tmpdir(), "ibex-endless-"));
let database: Database;
let pool: SimulationPool;
let dispatcher: Dispatcher;

beforeAll(async () => {
  const path = join(folder, "chain");
  database = await openLevelDatabase({ path });
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { alloc: object };
  genesis.alloc = { [ENDLESS]: { balance: "0x0", code: "0x5b5f56" } };
  const { chain, spec } = await aChain({ genesis: JSON.stringify(genesis), database });
  pool = createSimulationPool(
    { ...DEFAULT_SIMULATION_SETTINGS, timeoutMs: 60_000, waitingLimit: WAITING_LIMIT, gasCap: 30_000_000n },
    { databasePath: path, spec, clock: systemClock, logger: silentLogger },
  );
  dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(["ETH"] as const) },
    { backend: anRpcBackend({ chain, spec, simulator: pool }), logger: silentLogger },
  );
});

afterAll(async () => {
  await pool.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const endlessCall = { jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ to: ENDLESS }, "latest"] };
const endlessBatch = JSON.stringify(Array(CALLS).fill(endlessCall));
const shortCall = JSON.stringify({ ...endlessCall, params: [{}, "latest"] });

const GREEDY = "127.0.0.2";
const MODEST = "127.0.0.3";

/**
 * Somebody who asks a batch of endless calls over each of so many connections, once one of them is being performed and
 * others wait; gives how it leaves.
 */
async function greedyClient(server: RpcServer, connections = 1): Promise<() => void> {
  const all = Array.from({ length: connections }, () => {
    const asking = request({
      host: "127.0.0.1",
      port: server.port,
      method: "POST",
      agent: false,
      localAddress: GREEDY,
    });
    asking.on("error", () => undefined);
    asking.end(endlessBatch);
    return asking;
  });
  // Some are with the thread already, and some turned away.
  const waiting = Math.min(connections * UNDER_WAY, WAITING_LIMIT) - WITH_THE_THREAD;
  await expect.poll(() => pool.load.active, { timeout: 50_000 }).toBe(1);
  await expect.poll(() => pool.load.waiting, { timeout: 50_000 }).toBeGreaterThanOrEqual(waiting);
  return () => {
    for (const asking of all) asking.destroy();
  };
}

/** How many jobs are begun while somebody at that address asks for a short call and is answered. */
async function askBetween(server: RpcServer, localAddress: string): Promise<number> {
  const waiting = pool.load.waiting;
  const answer = await ask(server, { body: shortCall, localAddress });
  expect(JSON.parse(answer.body)).toMatchObject({ result: "0x" });
  return waiting - pool.load.waiting;
}

async function expectPeace(): Promise<void> {
  await expect.poll(() => pool.load, { timeout: 50_000 }).toMatchObject({ active: 0, waiting: 0 });
}

describe("endless calls", { ...IN_REAL_TIME, timeout: 120_000 }, () => {
  it("of one batch leave its neighbours their turn, and are forgotten when their client has gone", async () => {
    const server = await anHttpServer(dispatcher);
    const leave = await greedyClient(server);
    expect(await askBetween(server, GREEDY)).toBeLessThan(5);
    leave();
    await expectPeace();
  });

  it("of one connection have one turn together, in however many messages they come", async () => {
    const server = await anHttpServer(dispatcher);
    const socket = await aWebSocketClient(await aWebSocketServer(dispatcher));
    for (let n = 0; n < 20; n++) socket.send(endlessCall);
    await expect.poll(() => pool.load.waiting, { timeout: 50_000 }).toBeGreaterThan(15);
    expect(await askBetween(server, "127.0.0.1")).toBeLessThan(5);
    socket.socket.terminate();
    await expectPeace();
  });

  it("of one machine have one turn together, over however many connections they come", async () => {
    const server = await anHttpServer(dispatcher);
    const leave = await greedyClient(server, 3);
    expect(await askBetween(server, MODEST)).toBeLessThan(3);
    leave();
    await expectPeace();
  });

  it("of one machine that fill the queue turn nobody else away, on another machine or the same", async () => {
    const server = await anHttpServer(dispatcher);
    const leave = await greedyClient(server, 4);
    expect(pool.load.waiting).toBeGreaterThanOrEqual(WAITING_LIMIT - 2 * WITH_THE_THREAD);
    await askBetween(server, MODEST);
    await askBetween(server, GREEDY);
    leave();
    await expectPeace();
  });
});
