import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startNode } from "../../../src/node/node.ts";
import type { RunningNode } from "../../../src/node/runningNode.ts";
import { BlockControls } from "../../../src/node/settings/blockControls.ts";
import { type Logger, type RootLogger, silentLogger } from "../../../src/observability/logger.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { temporaryFolder } from "../../cluster/harness/nodeProcess.ts";
import { itIfThorough } from "../../thorough.ts";
import { settingsOf } from "../settingsOf.ts";

/** Sends requests over HTTP, and returns the result or the error. */
function requesterAt(port: number | undefined): (method: string, ...params: unknown[]) => Promise<unknown> {
  return async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body });
    const { result, error } = (await answer.json()) as Record<string, unknown>;
    return error ?? result;
  };
}

const OWN_COINBASE = `0x${"0a".repeat(20)}`;

const warnings: string[] = [];
const collecting: Logger = {
  ...silentLogger,
  warn: (_, message) => void warnings.push(message),
  child: () => collecting,
};
const logger: RootLogger = { ...silentLogger, ...collecting };

/** One node for all tests, since what takes time is its start. */
const folder = temporaryFolder();
let node: RunningNode;
let ask: ReturnType<typeof requesterAt>;

async function start(): Promise<void> {
  const options = {
    "data-path": folder,
    "rpc-http-port": "0",
    "rpc-ws-port": "0",
    "explorer-enabled": "false",
    "miner-coinbase": OWN_COINBASE,
  };
  const started = await startNode(settingsOf(folder, options), logger);
  if (!started.ok) throw new Error(started.error.message);
  node = started.value;
  ask = requesterAt(node.endpoints.http?.port);
}

beforeAll(start);
afterAll(() => node.stop());

describe("a validator's operator", () => {
  it("stops block production, changes extra data and gas limit, and starts it again", async () => {
    await expect.poll(() => ask("eth_blockNumber")).not.toBe("0x0");
    expect(await ask("miner_stop")).toBe(true);
    await expect.poll(() => ask("eth_mining")).toBe(false);
    const stoppedAt = Number(await ask("eth_blockNumber"));
    expect(await ask("miner_setExtraData", "0x68656c6c6f")).toBe(true);
    expect(await ask("miner_changeTargetGasLimit", 5000)).toBe("Success");
    expect(await ask("miner_start")).toBe(true);
    const next = `0x${(stoppedAt + 1).toString(16)}`;
    const block = () => ask("eth_getBlockByNumber", next, false) as Promise<Record<string, string> | null>;
    await expect.poll(block).not.toBeNull();
    const [before, after] = [
      await ask("eth_getBlockByNumber", `0x${stoppedAt.toString(16)}`, false),
      await block(),
    ];
    expect(after?.["extraData"]).toContain(`${"00".repeat(27)}68656c6c6f`);
    expect(BigInt(after?.["gasLimit"] ?? 0)).toBeLessThan(
      BigInt((before as Record<string, string>)["gasLimit"] ?? 0),
    );
  });
});

describe("the only validator of a network", () => {
  it("refuses to rewind, stopped or not, because no node could make those blocks again", async () => {
    await ask("miner_stop");
    for (const [method, ...params] of [
      ["debug_setHead", "0x0"],
      ["debug_replayBlock", "latest"],
    ] as const) {
      const error = await ask(method, ...params);
      expect([method, JSON.stringify(error)].join()).toMatch(/39001|only validator/);
    }
    // This keeps the head, so stopping is enough.
    await expect.poll(() => ask("debug_resyncWorldState")).toBe("Success");
  });
});

describe("miner_setCoinbase", () => {
  itIfThorough(
    "changes the answer of eth_coinbase until the restart, and warns once that it does not change who is paid",
    async () => {
      const [first, second] = [`0x${"0b".repeat(20)}`, `0x${"0c".repeat(20)}`];
      expect(await ask("eth_coinbase")).toBe(OWN_COINBASE);
      expect(await ask("miner_setCoinbase", first)).toBe(true);
      expect(await ask("eth_coinbase")).toBe(first);
      expect(await ask("miner_setEtherbase", second)).toBe(true);
      expect(await ask("eth_coinbase")).toBe(second);
      for (const params of [[], ["not-a-value"], [{}]])
        expect(await ask("miner_setCoinbase", ...params)).toMatchObject({ code: -32602 });
      expect(await ask("eth_coinbase")).toBe(second);
      const matching = warnings.filter((line) => line.includes("miner_setCoinbase"));
      expect(matching).toEqual([expect.stringContaining("genesis")]);
      await node.stop();
      await start();
      expect(await ask("eth_coinbase")).toBe(OWN_COINBASE);
    },
  );
});

describe("settings for blocks that are configured again", () => {
  const own = { address: addressFromHex(OWN_COINBASE) };
  const read = (options: Readonly<Record<string, string>> = {}) => settingsOf(folder, options);
  const before = read();
  const aPool = () => ({
    blockFloors: before.pool.blockFloors,
    changeBlockFloors(floors: typeof before.pool.blockFloors) {
      this.blockFloors = floors;
    },
  });

  it("take effect for the next block, and are told with what was before", () => {
    const controls = new BlockControls(before, own);
    const pool = aPool();
    const now = read({ "miner-extra-data": "0x6868", "target-gas-limit": "5000", "min-gas-price": "7" });
    const { minGasPriceWei } = before.pool.blockFloors;
    const was = before.blockProduction.targetGasLimit ?? "none";
    const changes = controls.configure(now, pool);
    expect(changes).toContain(`min-gas-price=7 (was ${minGasPriceWei})`);
    expect(changes).toContain(`target-gas-limit=5000 (was ${was})`);
    expect(changes.join()).toContain("miner-extra-data=0x6868 (was 0x");
    expect(controls.production.targetGasLimit).toBe(5000n);
    expect(controls.candidates.vanity).toEqual(now.blockProduction.vanity);
    expect(pool.blockFloors).toEqual(now.pool.blockFloors);
  });

  it("are as configured again when JSON-RPC had changed them", () => {
    const controls = new BlockControls(before, own);
    const resumed = { reasons: [], resume: () => undefined, pause: () => undefined };
    controls.mining(resumed, silentLogger).targetGasLimit = 1n;
    const was = before.blockProduction.targetGasLimit;
    expect(controls.configure(before, aPool())).toEqual([`target-gas-limit=${was ?? "none"} (was 1)`]);
    expect(controls.production.targetGasLimit).toBe(was);
  });
});
