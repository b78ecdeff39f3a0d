import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createSimulationPool,
  DEFAULT_SIMULATION_SETTINGS,
  type SimulationPool,
} from "../../../src/chain/simulationPool.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { silentLogger } from "../../../src/logging/logger.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { createDispatcher, type Dispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { Door } from "../../../src/rpc/server/door.ts";
import type { Database } from "../../../src/storage/database.ts";
import { openLevelDatabase } from "../../../src/storage/levelDatabase.ts";
import { aChain } from "../../builders/aChain.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { anHttpDoor, ask, aWebSocketClient, aWebSocketDoor } from "./doors.ts";

/** JUMPDEST PUSH0 JUMP, for ever. */
const ENDLESS = "0x00000000000000000000000000000000000100b5";
/** More than can be waited for here: each takes some tenths of a second until the gas cap. */
const CALLS = 300;

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
    { ...DEFAULT_SIMULATION_SETTINGS, gasCap: 20_000_000n },
    { databasePath: path, spec, clock: systemClock },
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

/** A client that asks a batch of endless calls, once the first of them is being performed; gives how it leaves. */
async function greedyClient(door: Door): Promise<() => void> {
  const asking = request({ host: "127.0.0.1", port: door.port, method: "POST", agent: false });
  asking.on("error", () => undefined);
  asking.end(endlessBatch);
  await expect.poll(() => pool.load.active, { timeout: 10_000 }).toBe(1);
  return () => asking.destroy();
}

describe("endless calls", () => {
  it("of one batch leave its neighbours their turn, and are forgotten when their client has gone", async () => {
    const door = await anHttpDoor(dispatcher);
    const leave = await greedyClient(door);
    const answer = await ask(door, { body: shortCall });
    expect(JSON.parse(answer.body)).toMatchObject({ result: "0x" });
    expect(pool.load.waiting).toBeGreaterThan(200);
    leave();
    await expect.poll(() => pool.load, { timeout: 10_000 }).toMatchObject({ active: 0, waiting: 0 });
  });

  it("of one connection have one turn together, in however many messages they come", async () => {
    const door = await anHttpDoor(dispatcher);
    const socket = await aWebSocketClient(await aWebSocketDoor(dispatcher));
    for (let n = 0; n < 20; n++) socket.send(endlessCall);
    await expect.poll(() => pool.load.waiting, { timeout: 10_000 }).toBeGreaterThan(15);
    const answer = await ask(door, { body: shortCall });
    expect(JSON.parse(answer.body)).toMatchObject({ result: "0x" });
    expect(pool.load.waiting).toBeGreaterThan(15);
    socket.socket.terminate();
    await expect.poll(() => pool.load, { timeout: 10_000 }).toMatchObject({ active: 0, waiting: 0 });
  });
});
