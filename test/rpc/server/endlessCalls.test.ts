import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CallPool, createCallPool, DEFAULT_CALL_POOL_SETTINGS } from "../../../src/calls/callPool.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import type { Simulator } from "../../../src/execution/simulation/callRequest.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { createDispatcher, type Dispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import type { Database } from "../../../src/storage/database.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { aChain } from "../../builders/aChain.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { PATIENT_SLICES } from "../../calls/patientSlices.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { anHttpServer, ask, aWebSocketClient, aWebSocketServer } from "./servers.ts";

/** JUMPDEST PUSH0 JUMP, for ever. */
const ENDLESS = "0x00000000000000000000000000000000000100b5";
/** Too many to wait for: each takes most of a tenth of a second until the gas cap. */
const CALLS = 300;
/** Requests of one batch that are in flight at one time. */
const IN_FLIGHT = 8;
const WAITING_LIMIT = 2 * IN_FLIGHT;
/** Most calls that the thread has, or has finished before the check. */
const ON_THE_THREAD = 5;

const folder = mkdtempSync(join(tmpdir(), "ibex-endless-"));
let database: Database;
let pool: CallPool;
let dispatcher: Dispatcher;

beforeAll(async () => {
  const path = join(folder, "chain");
  database = await openLevelDatabase({ path });
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { alloc: object };
  genesis.alloc = { [ENDLESS]: { balance: "0x0", code: "0x5b5f56" } };
  const { chain, spec } = await aChain({ genesis: JSON.stringify(genesis), database });
  pool = createCallPool(
    {
      ...DEFAULT_CALL_POOL_SETTINGS,
      timeoutMs: TEST_HANG_MS,
      slices: PATIENT_SLICES,
      waitingLimit: WAITING_LIMIT,
      gasCap: 500_000_000n,
    },
    { databasePath: path, spec, clock: systemClock, logger: silentLogger },
  );
  dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(["ETH"] as const) },
    { backend: anRpcBackend({ chain, spec, simulator: { run: runAndWatch } }), logger: silentLogger },
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
 * A client that sends a batch of endless calls over each connection. Resolves when one call runs and others wait, to a
 * function that disconnects the client.
 */
async function greedyClient(server: RpcServer, connections = 1): Promise<() => void> {
  const all = Array.from({ length: connections }, () => {
    const outgoing = request({
      host: "127.0.0.1",
      port: server.port,
      method: "POST",
      agent: false,
      localAddress: GREEDY,
    });
    outgoing.on("error", () => undefined);
    outgoing.end(endlessBatch);
    return outgoing;
  });
  // Some calls are on the thread already, and some were refused.
  const waiting = Math.min(connections * IN_FLIGHT, WAITING_LIMIT) - ON_THE_THREAD;
  await expect.poll(() => pool.load.active).toBe(1);
  await expect.poll(() => pool.load.waiting).toBeGreaterThanOrEqual(waiting);
  return () => {
    for (const outgoing of all) outgoing.destroy();
  };
}

/** How many jobs started while the last short call waited for its answer. */
let startedMeanwhile = Promise.resolve(0);

/** From its arrival to its result: on a busy machine this process may take much longer to send the one and to read the other. */
const runAndWatch: Simulator["run"] = (job, requester) => {
  const result = pool.run(job, requester);
  if (job.call.to === undefined) {
    const { waiting } = pool.load;
    startedMeanwhile = result.then(() => waiting - pool.load.waiting);
  }
  return result;
};

/** How many jobs start while a short call of a client at that address waits. */
async function askBetween(server: RpcServer, localAddress: string): Promise<number> {
  const answer = await ask(server, { body: shortCall, localAddress });
  expect(JSON.parse(answer.body)).toMatchObject({ result: "0x" });
  return startedMeanwhile;
}

async function expectIdle(): Promise<void> {
  await expect.poll(() => pool.load).toMatchObject({ active: 0, waiting: 0 });
}

describe("endless calls", () => {
  itIfThorough(
    "of one batch do not block other clients, and are dropped when their client disconnects",
    async () => {
      const server = await anHttpServer(dispatcher);
      const disconnect = await greedyClient(server);
      expect(await askBetween(server, GREEDY)).toBeLessThan(5);
      disconnect();
      await expectIdle();
    },
  );

  itIfThorough("of one connection share one turn, in however many messages they arrive", async () => {
    const server = await anHttpServer(dispatcher);
    const socket = await aWebSocketClient(await aWebSocketServer(dispatcher));
    for (let n = 0; n < 20; n++) socket.send(endlessCall);
    await expect.poll(() => pool.load.waiting).toBeGreaterThan(15);
    expect(await askBetween(server, "127.0.0.1")).toBeLessThan(5);
    socket.socket.terminate();
    await expectIdle();
  });

  it("of one remote host share one turn, over however many connections they arrive", async () => {
    const server = await anHttpServer(dispatcher);
    const disconnect = await greedyClient(server, 3);
    expect(await askBetween(server, MODEST)).toBeLessThan(3);
    disconnect();
    await expectIdle();
  });

  it("of one remote host that fill the queue keep no other client out, on another host or the same", async () => {
    const server = await anHttpServer(dispatcher);
    const disconnect = await greedyClient(server, 4);
    expect(pool.load.waiting).toBeGreaterThanOrEqual(WAITING_LIMIT - 2 * ON_THE_THREAD);
    await askBetween(server, MODEST);
    await askBetween(server, GREEDY);
    disconnect();
    await expectIdle();
  });
});
