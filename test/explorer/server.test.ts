import { describe, expect, it, onTestFinished } from "vitest";
import type { Simulator } from "../../src/execution/simulation/callRequest.ts";
import { ALL_BURST, HOST_BURST, TRACE_BYTES, UNREAD_BYTES } from "../../src/explorer/limits.ts";
import { PAGE_FILES } from "../../src/explorer/pageFiles.ts";
import { type ExplorerSettings, openExplorerServer } from "../../src/explorer/server.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { type Clock, durationClock, systemClock } from "../../src/primitives/clock.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { MessageReader } from "../../src/rpc/server/messageReader.ts";
import type { RpcServer } from "../../src/rpc/server/server.ts";
import { createSubscriptionMethods } from "../../src/rpc/subscriptions/subscriptions.ts";
import type { Tracer } from "../../src/tracers/traceJob.ts";
import { aChainSpec, anRpcBackend, poolOf } from "../builders/anRpcBackend.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { chainOf } from "../builders/recordedChain.ts";
import { ask, aWebSocketClient, type HttpRequest } from "../rpc/server/servers.ts";

const SETTINGS: ExplorerSettings = {
  host: "127.0.0.1",
  port: 0,
  maxConnections: 20,
  maxConnectionsPerAddress: 15,
  proxyAddresses: [],
  visitorProxies: [],
  coinSymbol: "ETH",
  verifier: undefined,
  isAnyPortFine: false,
  faucet: undefined,
  hostAllowlist: ["localhost", "127.0.0.1"],
};

const TRACED = aTransaction();

/** Gas of the calls that were simulated. */
const simulated: (bigint | undefined)[] = [];

/** Fills no budget again. What waits on it does so for as long as on any other. */
const STOPPED: Clock = {
  nowMs: () => 0,
  at: (delayMs, action) => durationClock.at(durationClock.nowMs() + delayMs, action),
};

async function anExplorer({
  tracer,
  clock,
  ...settings
}: Partial<ExplorerSettings> & {
  readonly tracer?: Tracer;
  readonly clock?: Clock;
} = {}): Promise<RpcServer> {
  const chain = chainOf([aStoredBlock({ number: 0 }), aStoredBlock({ number: 1, transactions: [TRACED] })]);
  const simulator: Simulator = {
    run(job) {
      simulated.push(job.call.gasLimit);
      return Promise.resolve({ kind: "busy" });
    },
  };
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const backend = anRpcBackend({ chain, spec, simulator, ...(tracer && { tracer }) });
  const subscriptions = createSubscriptionMethods({
    chain: backend.chain,
    pool: poolOf([]),
    onSyncChanged: () => () => undefined,
    logger: silentLogger,
  });
  const opened = await openExplorerServer(
    { ...SETTINGS, ...settings },
    {
      methods: [...METHODS, ...subscriptions],
      backend,
      reader: new MessageReader(systemClock),
      logger: silentLogger,
      give: () => Promise.reject(new Error("there is no faucet in this test")),
      ...(clock && { clock }),
    },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(() => opened.value.close());
  return opened.value;
}

function get(server: RpcServer, path: string, headers: HttpRequest["headers"] = {}) {
  return ask(server, { method: "GET", path, headers: { host: "localhost", ...headers } });
}

function post(server: RpcServer, method: string, params: readonly unknown[] = [], headers = {}) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return ask(server, { headers: { host: "localhost", ...headers }, body });
}

/** Units of what it answers until it refuses. */
async function costOfFlood(server: RpcServer, headers = {}): Promise<number> {
  const calls = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, method: "eth_blockNumber" }));
  for (let cost = 0; ; ) {
    const { body } = await ask(server, {
      headers: { host: "localhost", ...headers },
      body: JSON.stringify(calls),
    });
    const answered = body.split('"result"').length - 1;
    cost += answered;
    if (answered < calls.length) return cost;
  }
}

describe("the explorer's port", () => {
  it("answers the page under every path that is no file's", async () => {
    const server = await anExplorer();
    const { status, headers, body } = await get(server, "/");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["content-security-policy"]).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["cache-control"]).toBe("no-cache");
    for (const path of ["/block/12", "/tx/0x00", "/%3Cscript%3E", "/a/../b?x=1"])
      expect((await get(server, path)).body).toBe(body);
    expect((await get(server, "/api/faucet")).status).toBe(204);
    expect((await get(server, "/assets/none.js")).status).toBe(404);
    const unchanged = await get(server, "/", { "if-none-match": String(headers["etag"]) });
    expect(unchanged).toMatchObject({ status: 304, body: "" });
  });

  it("does not offer GraphQL", async () => {
    const server = await anExplorer();
    const asked = await ask(server, { path: "/graphql", body: "{chainID}" });
    expect(asked.status).toBe(405);
    expect(asked.body).not.toContain("chainID");
    expect((await get(server, "/graphql?query=%7BchainID%7D")).body).toBe((await get(server, "/")).body);
  });

  it("has files that stay in a cache, compressed for those who take it", async () => {
    const server = await anExplorer();
    const script = PAGE_FILES.find(({ path }) => /^\/assets\/main-.*\.js$/.test(path));
    const { headers } = await get(server, script?.path ?? "");
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(headers["content-encoding"]).toBeUndefined();
    expect(Number(headers["content-length"])).toBe(Buffer.byteLength(script?.text ?? ""));
    const response = await fetch(`http://127.0.0.1:${server.port}${script?.path}`, {
      headers: { "accept-encoding": "gzip" },
    });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(await response.text()).toBe(script?.text);
  });

  it("takes requests of its own page and of programs, and of no other page", async () => {
    const server = await anExplorer();
    const chainId = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';
    expect((await post(server, "eth_chainId")).body).toBe(chainId);
    expect((await post(server, "eth_chainId", [], { origin: "http://localhost" })).body).toBe(chainId);
    const proxied = { host: "127.0.0.1:443", origin: "https://127.0.0.1:443" };
    expect((await post(server, "eth_chainId", [], proxied)).body).toBe(chainId);
    for (const origin of ["http://evil.example", "null", "http://localhost:81"])
      expect((await post(server, "eth_chainId", [], { origin })).status, origin).toBe(403);
    expect((await post(server, "eth_chainId", [], { "sec-fetch-site": "cross-site" })).status).toBe(403);
    const refused = await get(server, "/", { host: "evil.example" });
    expect(refused.status).toBe(403);
    expect(refused.body).toContain("--host-allowlist");
  });

  it("offers WebSockets to the same pages, with new heads and nothing else to subscribe to", async () => {
    const server = await anExplorer();
    const client = await aWebSocketClient(server, { origin: `http://127.0.0.1:${server.port}` });
    client.send({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
    expect(await client.nextJson()).toMatchObject({ result: "0x1" });
    client.send({ jsonrpc: "2.0", id: 2, method: "eth_subscribe", params: ["newHeads"] });
    expect(await client.nextJson()).toMatchObject({ id: 2, result: expect.stringMatching(/^0x/) });
    client.send({ jsonrpc: "2.0", id: 3, method: "eth_subscribe", params: ["logs", {}] });
    expect(await client.nextJson()).toMatchObject({ error: { code: -32604 } });
    await expect(aWebSocketClient(server, { origin: "http://evil.example" })).rejects.toThrow("403");
  });

  it("offers a fixed list of methods, none of which changes the node or the chain", async () => {
    const server = await anExplorer();
    for (const method of [
      "eth_sendRawTransaction",
      "admin_peers",
      "admin_changeLogLevel",
      "miner_stop",
      "debug_setHead",
      "debug_metrics",
      "debug_traceBlockByNumber",
      "ibft_proposeValidatorVote",
      "perm_addAccountsToAllowlist",
      "trace_filter",
      "txpool_content",
    ])
      expect((await post(server, method)).body, method).toContain("-32604");
    expect((await post(server, "ibft_getRounds", ["latest", "0x1"])).body).not.toContain("-32604");
  });

  it("offers nothing of the development network, which has methods of the same names", async () => {
    const server = await anExplorer();
    expect((await post(server, "web3_clientVersion")).body).not.toContain("anvil-compatible");
    for (const group of ["evm", "hardhat", "anvil"])
      expect((await post(server, "rpc_modules")).body).not.toContain(group);
  });

  it("bounds the gas of calls, and traces by short tracers alone", async () => {
    const server = await anExplorer();
    for (const gas of [undefined, "0x5208", "0xffffffffffff", 7])
      await post(server, "eth_call", [
        { to: `0x${"11".repeat(20)}`, ...(gas !== undefined && { gas }) },
        "latest",
      ]);
    expect(simulated).toEqual([50_000_000n, 21_000n, 50_000_000n, 50_000_000n]);
    const hash = `0x${"22".repeat(32)}`;
    for (const options of [[], [{}], [{ tracer: "4byteTracer" }], [{ tracer: ["callTracer"] }]])
      expect((await post(server, "debug_traceTransaction", [hash, ...options])).body).toContain(
        "does not offer this",
      );
    expect(
      (await post(server, "debug_traceTransaction", [hash, { tracer: "callTracer" }])).body,
    ).not.toContain("offer");
  });

  it("refuses a trace that is a large part of what readers may leave unread", async () => {
    const json = new Uint8Array(TRACE_BYTES + 2).fill(0x20);
    json.set([0x22, 0x22]);
    const traceOf = async (length: number): Promise<string> => {
      const run = () => Promise.resolve({ kind: "traced", pieces: [json.subarray(0, length)] } as const);
      const server = await anExplorer({ tracer: { run } });
      const params = [toHex(TRACED.hash), { tracer: "callTracer" }];
      return (await post(server, "debug_traceTransaction", params)).body;
    };
    expect(TRACE_BYTES).toBeLessThanOrEqual(UNREAD_BYTES / 4);
    expect(await traceOf(TRACE_BYTES)).toContain('"result":""');
    expect(await traceOf(TRACE_BYTES + 1)).toContain("longer than the 16 MB that the explorer answers");
  });

  it("has a budget for each remote host, and one for all", async () => {
    const server = await anExplorer({ clock: STOPPED });
    expect(await costOfFlood(server)).toBe(HOST_BURST);
    expect((await post(server, "eth_blockNumber")).body).toContain(
      '"code":-32005,"message":"Too many requests to the explorer. Try again later."',
    );
    const other = await ask(server, {
      headers: { host: "localhost" },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}',
      localAddress: "127.0.0.2",
    });
    expect(other.body).toContain('"result":"0x1"');
  });

  it("believes no X-Forwarded-For of a program of this machine that is not named as a proxy", async () => {
    const server = await anExplorer({ clock: STOPPED, proxyAddresses: [] });
    expect(await costOfFlood(server, { "x-forwarded-for": "198.51.100.1" })).toBe(HOST_BURST);
    const answer = await post(server, "eth_blockNumber", [], { "x-forwarded-for": "198.51.100.2" });
    expect(answer.body).toContain("-32005");
  });

  it("has one for each visitor of a proxy that names them, over HTTP and WebSocket", async () => {
    const server = await anExplorer({
      clock: STOPPED,
      proxyAddresses: ["localhost"],
      visitorProxies: ["localhost"],
    });
    const greedy = { "x-forwarded-for": "203.0.113.5, 198.51.100.1" };
    const modest = { "x-forwarded-for": "198.51.100.1, 203.0.113.5" };
    expect(await costOfFlood(server, greedy)).toBe(HOST_BURST);
    expect((await post(server, "eth_blockNumber", [], modest)).body).toContain('"result":"0x1"');
    for (const [headers, answer] of [
      [greedy, { error: { code: -32005 } }],
      [modest, { result: "0x1" }],
    ] as const) {
      const client = await aWebSocketClient(server, { headers });
      client.send({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
      expect(await client.nextJson()).toMatchObject(answer);
    }
    // Those whom it does not name have what all have together, of which two reads are spent.
    expect(await costOfFlood(server)).toBe(ALL_BURST - HOST_BURST - 2);
  });

  it("refuses large requests, large batches and other methods of HTTP", async () => {
    const server = await anExplorer();
    expect((await ask(server, { headers: { host: "localhost" }, body: " ".repeat(200_000) })).status).toBe(
      413,
    );
    const batch = JSON.stringify(Array.from({ length: 101 }, () => 1));
    expect((await ask(server, { headers: { host: "localhost" }, body: batch })).body).toContain(
      "max batch size",
    );
    expect((await ask(server, { method: "PUT", headers: { host: "localhost" } })).status).toBe(405);
    expect((await ask(server, { path: "/other", headers: { host: "localhost" } })).status).toBe(405);
  });

  it("has a limit of connections for each address", async () => {
    const server = await anExplorer({ maxConnectionsPerAddress: 2 });
    await aWebSocketClient(server);
    await aWebSocketClient(server);
    await expect(aWebSocketClient(server)).rejects.toThrow();
    expect(server.connectionCount).toBe(2);
  });
});
